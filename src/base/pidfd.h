/* SPDX-License-Identifier: Apache-2.0 */
/* <sys/pidfd.h>, which glibc has from 2.36 on, or all that is used of it. */
#pragma once

#if __has_include(<sys/pidfd.h>)
#include <sys/pidfd.h>
#else

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define P_PIDFD ((idtype_t)3)

static inline int
pidfd_open (pid_t pid, unsigned int flags)
{
  return (int)syscall (SYS_pidfd_open, pid, flags);
}

static inline int
pidfd_send_signal (int pidfd, int signal, siginfo_t *info, unsigned int flags)
{
  return (int)syscall (SYS_pidfd_send_signal, pidfd, signal, info, flags);
}

static inline int
pidfd_getfd (int pidfd, int fd, unsigned int flags)
{
  return (int)syscall (SYS_pidfd_getfd, pidfd, fd, flags);
}

#endif
