/* SPDX-License-Identifier: Apache-2.0 */
/* Why a test of the probe failed, from the kernel's files. ROOT is prepended to each path and is "" for the
 * host itself: tests lay out other kernels' files in a directory. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sandbox/probe.h"

/* Opens PATH, which begins with a slash, for reading; the caller's. NULL: it cannot be opened. */
FILE *probe_reason_open_below (const char *root, const char *path);

/* A refused user namespace. */
struct probe_refusal {
  int err;
  bool at_clone; /* it was refused, rather than the rights in it */
  bool filtered; /* this process is under a seccomp filter, which can only be a container's */
};
enum probe_userns probe_explain_userns (const char *root, const struct probe_refusal *refusal);

/* How high user.max_user_namespaces is; -1 when it cannot be read. */
long probe_max_user_namespaces (const char *root);

/* Which kinds of control groups with controllers are mounted: 0, PROBE_TREE_V1, PROBE_TREE_V2 or both. */
enum { PROBE_TREE_V1 = 1 << 0, PROBE_TREE_V2 = 1 << 1 };
unsigned probe_cgroup_trees (const char *root);
