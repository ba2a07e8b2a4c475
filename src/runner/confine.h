/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a forked child from a copy of its zygote to a confined sandbox. The pieces are in sandbox/;
 * their order, which is most of the matter, is here, as a table for each kind of isolation. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "runner/wire.h"
#include "sandbox/filter.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/namespaces.h"

struct confinement {
  enum isolation isolation;
  const char *const *readable; /* paths, NULL-terminated: what landlock lets be read where there is no tree */
  const char *const *runnable; /* the same: all that can be executed; NULL: whatever can be read */
  const struct limits *limits;
  const struct filter_program *program;
  const struct namespaces_seen *zygote; /* the namespaces that the child must have left */
  int landlock_abi;                     /* 0: the host has none */
  bool session;         /* with places of its own (sandbox/places.h), where the host has them */
  bool online;          /* TCP is not for landlock to refuse */
  bool network;         /* with a namespace of its own that has a proxy; its socket is sent as LISTENER */
  uint32_t mitigations; /* sandbox/mitigations.h */
  int init_fd;          /* pidfd of the sandbox's init */
  int socket_fd, stdout_fd, stderr_fd, workspace_fd;
  const int *bind_fd; /* with OVERLAY and FILES, see struct mounts_given */
  const char (*files)[WIRE_FILE_PATH_BYTES];
  const char *own_path; /* likewise */
  bool overlay, read_only;
};

/* Confines the calling process, for good. On success its descriptors are 0 (/dev/null), 1, 2 and
 * WIRE_SOCKET_FD, those of its places (*RET_FLAGS: enum wire_ready_flag) and no others, and *RET_MECHANISMS
 * has the bits of enum wire_mechanism that it verified, save those that its zygote verifies. Returns 0, or a
 * negative errno with FAULT; the process is then of no use, and *RET_SOCKET_FD is where to say so. */
int confine (const struct confinement *confinement, uint32_t *ret_mechanisms, uint32_t *ret_flags,
             int *ret_socket_fd, struct fault *fault);
