/* SPDX-License-Identifier: Apache-2.0 */
/* Making one sandbox: its init, its workspace, and the fork of the zygote that becomes its worker. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "runner/wire.h"
#include "sandbox/filter.h"
#include "sandbox/isolation.h"
#include "sandbox/namespaces.h"

/* What a zygote found out and keeps before it serves; the same for all of its sandboxes. */
struct zygote {
  enum isolation isolation;
  const char *const *readable; /* see confine.h */
  const char *const
      *runnable;        /* the same; where there are any, nothing that a sandbox writes can be executed */
  int init_program_fd;  /* the static adder-init */
  int pid_namespace_fd; /* its own */
  struct filter_program program;
  struct namespaces_seen namespaces;
  struct namespaces_seen outside; /* of a zygote in a container: its launcher's */
  uint32_t mechanisms;            /* those that sandboxes share with it, verified */
  int landlock_abi;

  /* What Python wants around a fork. The hook for the child is left to it: it comes when the child is
   * confined. */
  void (*before_fork) (void);
  void (*after_fork) (void);
};

/* A sandbox as its zygote sees it. */
struct spawned {
  pid_t worker, init;     /* in the zygote's pid namespace; without namespaces there is no init */
  int worker_fd, init_fd; /* pidfds; -1 in a kernel of its own */
  int workspace_fd;
  int directory_fd; /* -1: none is bind-mounted into a container */
};

/* A sandbox as it sees itself. */
struct sandbox_self {
  uint32_t flags;       /* of struct wire_spawn */
  uint32_t ready_flags; /* of struct wire_ready */
  uint32_t mechanisms;
  int32_t landlock_abi;
};

enum spawn_side { SPAWN_ZYGOTE, SPAWN_SANDBOX };

/* Makes a sandbox as WANTED. FDS are those of enum wire_spawn_fd (-1: not there) and stay the caller's.
 * Returns SPAWN_ZYGOTE with *RET_SPAWNED, whose descriptors are the caller's and whose processes it must
 * reap; or, in the new process, SPAWN_SANDBOX with *RET_SANDBOX, confined; or a negative errno with FAULT,
 * and nothing is left. A child that cannot be confined says so on its socket and does not return. */
int spawn (const struct zygote *zygote, const struct wire_spawn *wanted, const int *fds,
           struct spawned *ret_spawned, struct sandbox_self *ret_sandbox, struct fault *fault);
