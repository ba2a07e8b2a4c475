/* SPDX-License-Identifier: Apache-2.0 */
/* No control groups: everything works and nothing is known. Limits are then those of rlimits.h and of the
 * daemon's watchdog. */
#include "sandbox/cgroup_backend.h"

static int
cgroup_none_open_parents (const char *root, int *ret_parents, struct fault *fault)
{
  (void)root;
  (void)ret_parents;
  (void)fault;
  return 0;
}

static int
cgroup_none_check_parents (const int *parents, unsigned flags, struct fault *fault)
{
  (void)parents;
  (void)flags;
  (void)fault;
  return 0;
}

static int
cgroup_none_set_limits (const int *trees, const struct cgroup_limits *limits, struct fault *fault)
{
  (void)trees;
  (void)limits;
  (void)fault;
  return 0;
}

static int
cgroup_none_read_usage (const int *trees, int files[CGROUP_FILES], struct cgroup_usage *ret_usage,
                        struct fault *fault)
{
  (void)trees;
  (void)files;
  (void)ret_usage;
  (void)fault;
  return 0;
}

static int
cgroup_none_read_memory (const int *trees, uint64_t *ret_bytes)
{
  (void)trees;
  *ret_bytes = 0;
  return 0;
}

static int
kill_none (const int *trees, struct fault *fault)
{
  (void)trees;
  (void)fault;
  return 0;
}

static void
cgroup_none_wait_empty (const int *trees, int timeout_ms)
{
  (void)trees;
  (void)timeout_ms;
}

/* With no tree there is no node to prepare and none to want. */
const struct cgroup_backend cgroup_backend_none = {
    .mode = CGROUP_NONE,
    .trees = 0,
    .open_parents = cgroup_none_open_parents,
    .check_parents = cgroup_none_check_parents,
    .set_limits = cgroup_none_set_limits,
    .read_usage = cgroup_none_read_usage,
    .read_memory = cgroup_none_read_memory,
    .kill = kill_none,
    .wait_empty = cgroup_none_wait_empty,
};
