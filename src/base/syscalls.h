/* SPDX-License-Identifier: Apache-2.0 */
/* Thin shims for system calls, and constants of newer kernels, that the C library (glibc 2.35 is the oldest
 * we build with) does not give. All return what the kernel returns in the C library's manner: -1 and errno.
 */
#pragma once

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22 /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020 /* Linux 6.3 */
#endif

/* Landlock beyond ABI 1. The structure grows at its end; its size says how much of it the caller knows. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13) /* ABI 2 */
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14) /* ABI 3 */
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15) /* ABI 5 */
#endif
#define SYSCALLS_LANDLOCK_NET_BIND_TCP    (1ULL << 0) /* ABI 4 */
#define SYSCALLS_LANDLOCK_NET_CONNECT_TCP (1ULL << 1)
#define SYSCALLS_LANDLOCK_SCOPE_ABSTRACT  (1ULL << 0) /* ABI 6 */
#define SYSCALLS_LANDLOCK_SCOPE_SIGNAL    (1ULL << 1)
struct syscalls_landlock_ruleset {
  uint64_t handled_access_fs;
  uint64_t handled_access_net; /* ABI 4 */
  uint64_t scoped;             /* ABI 6 */
};

/* The sender's pidfd with each message (Linux 6.5), and what a pidfd tells of its process (6.13; the
 * end: 6.15).
 */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04
#endif
#define SYSCALLS_PIDFD_INFO_EXIT (1ULL << 3)
struct syscalls_pidfd_info {
  uint64_t mask, cgroupid;
  uint32_t pid, tgid, ppid;
  uint32_t ids[8];
  int32_t exit_code;
};
#define SYSCALLS_PIDFD_GET_INFO _IOWR (0xFF, 11, struct syscalls_pidfd_info)

static inline int
sys_openat2 (int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
  struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
  return (int)syscall (SYS_openat2, directory, path, &how, sizeof how);
}

/* As fork, with FLAGS (no signal at the end unless they name one) and CLONE_PIDFD. Not clone3: service
 * managers and containers that allow some namespaces refuse it whole, because its flags lie where no filter
 * can look. */
static inline pid_t
sys_clone (unsigned long flags, int *ret_pidfd)
{
  return (pid_t)syscall (SYS_clone, flags | CLONE_PIDFD, NULL, ret_pidfd, NULL, NULL);
}

/* The end of such a child, which has copies of locks that other threads held: _exit() of a sanitizer takes
 * one of its own, and waits for ever. */
_Noreturn static inline void
sys_exit (int code)
{
  for (;;)
    syscall (SYS_exit_group, code);
}

static inline int
sys_pivot_root (const char *new_root, const char *put_old)
{
  return (int)syscall (SYS_pivot_root, new_root, put_old);
}

static inline int
sys_capset (struct __user_cap_header_struct *header, const struct __user_cap_data_struct *data)
{
  return (int)syscall (SYS_capset, header, data);
}

static inline int
sys_capget (struct __user_cap_header_struct *header, struct __user_cap_data_struct *data)
{
  return (int)syscall (SYS_capget, header, data);
}

static inline int
sys_landlock_create_ruleset (const struct syscalls_landlock_ruleset *ruleset, size_t size, uint32_t flags)
{
  return (int)syscall (SYS_landlock_create_ruleset, ruleset, size, flags);
}

static inline int
sys_landlock_add_rule (int ruleset, enum landlock_rule_type type, const void *rule, uint32_t flags)
{
  return (int)syscall (SYS_landlock_add_rule, ruleset, type, rule, flags);
}

static inline int
sys_landlock_restrict_self (int ruleset, uint32_t flags)
{
  return (int)syscall (SYS_landlock_restrict_self, ruleset, flags);
}

static inline int
sys_seccomp (unsigned int operation, unsigned int flags, void *arguments)
{
  return (int)syscall (SYS_seccomp, operation, flags, arguments);
}
