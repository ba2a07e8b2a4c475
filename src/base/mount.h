/* SPDX-License-Identifier: Apache-2.0 */
/* <sys/mount.h>, and the calls that glibc has there from 2.36 on: our own, so that a program that was built
 * with a newer glibc runs with an older one too. */
#pragma once

#include <stddef.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef FSOPEN_CLOEXEC
#include <linux/mount.h>
#endif

static inline int
sys_fsopen (const char *type, unsigned int flags)
{
  return (int)syscall (SYS_fsopen, type, flags);
}

static inline int
sys_fsconfig (int context, unsigned int command, const char *key, const void *value, int number)
{
  return (int)syscall (SYS_fsconfig, context, command, key, value, number);
}

static inline int
sys_fsmount (int context, unsigned int flags, unsigned int attributes)
{
  return (int)syscall (SYS_fsmount, context, flags, attributes);
}

static inline int
sys_open_tree (int directory, const char *path, unsigned int flags)
{
  return (int)syscall (SYS_open_tree, directory, path, flags);
}

static inline int
sys_move_mount (int from, const char *from_path, int to, const char *to_path, unsigned int flags)
{
  return (int)syscall (SYS_move_mount, from, from_path, to, to_path, flags);
}

static inline int
sys_mount_setattr (int directory, const char *path, unsigned int flags, struct mount_attr *attributes,
                   size_t size)
{
  return (int)syscall (SYS_mount_setattr, directory, path, flags, attributes, size);
}
