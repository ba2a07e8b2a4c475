/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and files of one run. */
#include "engine/handout.h"

#include <errno.h>
#include <sys/resource.h>

#include "common/error.h"

/* RLIMIT_CPU comes in whole seconds, and late: the daemon's own count, in milliseconds, shall be first. */
#define CPU_GRACE_S 2

/* A control group counts what it refuses; RLIMIT_NPROC does not, so that it shall not be the first. */
#define PIDS_GRACE 1

struct row {
  __rlimit_resource_t resource;
  const char *name;
  enum limit limit;
};

static const struct row rlimits[] = {
    {RLIMIT_CPU, "RLIMIT_CPU", LIMIT_CPU},
    {RLIMIT_FSIZE, "RLIMIT_FSIZE", LIMIT_FILE_SIZE},
    {RLIMIT_NOFILE, "RLIMIT_NOFILE", LIMIT_OPEN_FILES},
    {RLIMIT_NPROC, "RLIMIT_NPROC", LIMIT_PIDS},
};

/* Both limits at once: the sandbox was parked with the most that may be asked for, and what is lowered stays
 * low. The worker is alive and unreaped as far as is known; were it dead, its number would not be another's
 * before the system wraps around. */
static gboolean
lower (const struct box *box, __rlimit_resource_t resource, const char *name, guint64 value, GError **error)
{
  struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
  if (prlimit (box->worker_pid, resource, &limit, NULL) == 0)
    return TRUE;
  if (errno == EPERM) {
    /* The host's own hard limit was lower still when the sandbox was parked. */
    struct rlimit now;
    if (prlimit (box->worker_pid, resource, NULL, &now) == 0 && now.rlim_max <= value)
      return TRUE;
    errno = EPERM;
  }
  return error_from_errno (error, errno, "cannot set %s of a sandbox", name);
}

static guint64
rlimit_value (const struct row *row, const struct limits *limits, gboolean grouped)
{
  guint64 value = limits->value[row->limit];
  switch (row->limit) {
  case LIMIT_CPU:
    return value / 1000 + CPU_GRACE_S;
  case LIMIT_PIDS:
    return grouped ? value + PIDS_GRACE : value;
  default:
    return value;
  }
}

/* The cgroup's limits were set ahead to what most runs have. */
static gboolean
set_cgroup_limits (struct box *box, const struct limits *limits, GError **error)
{
  const struct cgroup_limits wanted = {
      .memory_bytes = limits->value[LIMIT_MEMORY],
      .pids = limits->value[LIMIT_PIDS],
      .cpu_percent = (uint32_t)limits->value[LIMIT_CPU_PERCENT],
  };
  if (wanted.memory_bytes == box->cgroup_limits.memory_bytes && wanted.pids == box->cgroup_limits.pids)
    return TRUE;
  struct fault fault;
  if (cgroup_set_limits (box->cgroup, &wanted, &fault) < 0)
    return error_from_fault (&fault, error);
  box->cgroup_limits = wanted;
  return TRUE;
}

gboolean
handout_set_limits (struct box *box, const struct limits *limits, GError **error)
{
  /* Where a sandbox holds these itself, it was made with them. */
  for (gsize i = 0; i < G_N_ELEMENTS (rlimits) && !box->place; i++)
    if (!lower (box, rlimits[i].resource, rlimits[i].name,
                rlimit_value (&rlimits[i], limits, box->cgroup != NULL), error))
      return FALSE;
  if (box->cgroup)
    return set_cgroup_limits (box, limits, error);
  if (box->place)
    return TRUE;
  return lower (box, RLIMIT_DATA, "RLIMIT_DATA", box->ready.data_bytes + limits->value[LIMIT_MEMORY], error);
}

gboolean
handout_put_files (struct box *box, const struct host *host, const struct run_request *request,
                   GPtrArray *inputs, struct interrupt *interrupt, gint64 deadline_us, GError **error)
{
  for (guint i = 0; i < request->files->len; i++) {
    const struct request_file *file = &g_array_index (request->files, struct request_file, i);
    struct workspace_input *input =
        workspace_put (box->workspace_fd, &host->owner, file->name, file->fd, interrupt, deadline_us, error);
    if (!input)
      return FALSE;
    g_ptr_array_add (inputs, input);
  }
  /* From here on the difference is the run's. */
  if (request->files->len > 0 && !box->place)
    workspace_measure (box->workspace_fd, &box->workspace_mark);
  return TRUE;
}
