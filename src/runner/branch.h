/* SPDX-License-Identifier: Apache-2.0 */
/* A branch of a session: the fork of its process that goes its own way. */
#pragma once

#include <stdint.h>

/* What Python wants around a fork. */
struct branch_hooks {
  void (*before) (void);
  void (*in_parent) (void);
  void (*in_child) (void);
};

/* Forks the calling process. Returns 1 in the parent; 0 in the branch, whose parent is the sandbox's init,
 * and whose descriptors are those of enum wire_branch_fd in FDS; or a negative errno. FDS are closed by the
 * branch, and are the caller's in the parent. */
int branch_fork (const int *fds, const struct branch_hooks *hooks);
