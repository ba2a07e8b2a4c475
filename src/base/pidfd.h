/* SPDX-License-Identifier: Apache-2.0 */
/* What glibc has in <sys/pidfd.h> from 2.36 on. Our own, so that a program that was built with a newer glibc
 * runs with an older one too. */
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD ((idtype_t)3)
#endif

static inline int
sys_pidfd_open (pid_t pid, unsigned int flags)
{
  return (int)syscall (SYS_pidfd_open, pid, flags);
}

static inline int
sys_pidfd_send_signal (int pidfd, int signal, siginfo_t *info, unsigned int flags)
{
  return (int)syscall (SYS_pidfd_send_signal, pidfd, signal, info, flags);
}

static inline int
sys_pidfd_getfd (int pidfd, int fd, unsigned int flags)
{
  return (int)syscall (SYS_pidfd_getfd, pidfd, fd, flags);
}
