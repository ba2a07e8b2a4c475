/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a sandbox. */
#include "engine/handout.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "adder.h"
#include "common/error.h"
#include "engine/budget.h"
#include "engine/ferry.h"
#include "engine/proxy.h"
#include "sandbox/mitigations.h"

/* RLIMIT_CPU comes in whole seconds, and late: the daemon's own count, in milliseconds, shall be first. */
#define CPU_GRACE_S 2

/* A control group counts what it refuses; RLIMIT_NPROC does not, so that it shall not be the first. */
#define PIDS_GRACE 1

/* With less, one may not be ready in time, which would be taken for the engine's fault, and end the waiting
 * of all others. */
#define CONTAINER_PERCENT 25

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
    return value < limit_table[LIMIT_CPU].maximum ? value / 1000 + CPU_GRACE_S : RLIM_INFINITY;
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

/* Lowers the limits of BOX, from outside, to LIMITS. */
static gboolean
set_limits (struct box *box, const struct limits *limits, GError **error)
{
  /* Where a sandbox holds these itself, it was made with them; and a container with all of its limits. */
  if (box->contained)
    return TRUE;
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

void
handout_init (struct handout *handout)
{
  *handout = (struct handout){
      .missing = g_ptr_array_new (), .files = workspace_files_new (), .given = inputs_new ()};
}

void
handout_clear (struct handout *handout)
{
  g_clear_pointer (&handout->missing, g_ptr_array_unref);
  g_clear_pointer (&handout->files, g_hash_table_unref);
  g_clear_pointer (&handout->given, g_array_unref);
  g_clear_pointer (&handout->fallback, g_free);
  g_clear_pointer (&handout->info, zygote_info_unref);
}

gint64
handout_deadline_us (const struct run_request *request)
{
  return g_get_monotonic_time () + (gint64)request->limits.value[LIMIT_WALL] * 1000;
}

/* ---- what this host gives ---- */

/* The level that is insisted on. */
static guint
wanted_level (const struct handout *handout, const struct engine *engine, const struct run_request *request)
{
  return MAX (request->min_isolation, host_least_level (engine->host, handout->isolation));
}

/* In place of a container there may be less of a quota than its profile says: it is told. */
static gboolean
lacks_quota (const struct handout *handout, const struct host *host, const struct run_request *request)
{
  return request->limits.value[LIMIT_CPU_PERCENT] > 0 && !host->cgroups &&
         handout->isolation != ISOLATION_CONTAINER;
}

/* Nothing stands in for a control group here. */
static gboolean
check_quota (const struct handout *handout, const struct host *host, const struct run_request *request,
             GError **error)
{
  gboolean asked = request->limits_set & 1u << LIMIT_CPU_PERCENT;
  if (!lacks_quota (handout, host, request) || (handout->fallback && !asked))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "cpu_percent needs control groups, which this host does not give: %s", host->cgroup_reason);
  return FALSE;
}

/* Those that are asked for, and that the host lacks. */
static void
add_mitigations (struct handout *handout, const struct host *host, const struct box *box)
{
  uint32_t lacking =
      (box->shape.mitigations | host->mitigations) & ~(box->ready.mechanisms >> WIRE_MITIGATIONS);
  for (int i = 0; i < MITIGATIONS; i++)
    if (lacking & UINT32_C (1) << i)
      g_ptr_array_add (handout->missing, (gpointer)(guintptr)mitigation_names[i]);
}

/* A sandbox that is not what the profile or the configuration insists on must not see the code. */
static gboolean
check_isolation (struct handout *handout, const struct engine *engine, const struct box *box, guint wanted,
                 GError **error)
{
  /* That one mechanism is not there because the profile says so keeps nothing from running, and is told. */
  guint32 given_up = box->shape.network == NETWORK_FULL ? WIRE_NET_NAMESPACE : 0;
  const char *reason = engine->host->cgroup_reason;
  handout->has_isolation = TRUE;
  handout->info = zygote_info_ref (box->info);
  handout->isolation_level =
      host_isolation (box->ready.mechanisms, handout->isolation, box->cgroup != NULL, handout->missing);
  if (host_isolation (box->ready.mechanisms | given_up, handout->isolation, box->cgroup != NULL, NULL) >=
      wanted) {
    add_mitigations (handout, engine->host, box);
    return TRUE;
  }
  handout->refused = TRUE;
  g_ptr_array_add (handout->missing, NULL);
  g_autofree char *missing = g_strjoinv (", ", (GStrv)handout->missing->pdata);
  g_ptr_array_set_size (handout->missing, (int)handout->missing->len - 1);
  gboolean shared_kernel = wanted == HOST_LEVELS && !(box->ready.mechanisms & WIRE_OWN_KERNEL);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "isolation level %u is asked for, this host gives %u: %s%s%s missing%s%s", wanted,
               handout->isolation_level, missing, shared_kernel && missing[0] ? " and " : "",
               shared_kernel ? "a kernel of its own (gVisor, by [container] runtime)" : "",
               reason ? "; control groups: " : "", reason ? reason : "");
  return FALSE;
}

/* ---- taking ---- */

/* What REQUEST asks for that no container has: each is another process's or host's. NULL: nothing. */
static const char *
beyond_containers (const struct host *host, const struct run_request *request, gboolean session)
{
  guint64 percent = request->limits.value[LIMIT_CPU_PERCENT];
  const struct {
    gboolean wanted;
    const char *what;
  } rows[] = {
      {session, "a session lives in a sandbox of the host's"},
      {request_is_shell (request), "command lines run in a sandbox of the host's"},
      {request->workdir.fd >= 0 && workdir_is_overlay (request->workdir.mode),
       "changes to a work directory are kept apart (overlay, review) by a sandbox of the host's alone"},
      {network_rules_shape (request->network) != NETWORK_NONE, "a container has no network"},
      {g_strcmp0 (request->environment, host->config->environment) != 0,
       "a container has the packages of its image, and no other environment"},
      {request->limits.value[LIMIT_MEMORY] < BUDGET_CONTAINER_BYTES,
       "a container with its packages needs 128 MiB of memory"},
      {percent > 0 && percent < CONTAINER_PERCENT,
       "a container with its packages needs a quarter of a processor (cpu_percent)"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].wanted)
      return rows[i].what;
  return NULL;
}

static void
set_fallback (struct handout *handout, const char *why)
{
  handout->fallback = g_strdup_printf ("not in a container, but in a sandbox of the host's: %s", why);
}

/* Which kind there shall be. */
static gboolean
choose_isolation (struct handout *handout, const struct host *host, const struct run_request *request,
                  gboolean session, GError **error)
{
  gboolean contained = request->isolation == ISOLATION_CONTAINER && !handout->fallback;
  const char *why = contained ? beyond_containers (host, request, session) : NULL;
  if (why && !request->falls_back) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "the run is to be in a container, which cannot be: %s", why);
    return FALSE;
  }
  if (why)
    set_fallback (handout, why);
  handout->isolation = request->isolation;
  if (handout->fallback)
    handout->isolation = ISOLATION_AUTO;
  return TRUE;
}

/* Whether ERROR tells of the caller, or of how much runs already, and would elsewhere too. */
static gboolean
is_own_fault (const GError *error)
{
  static const AdderError faults[] = {ADDER_ERROR_INVALID, ADDER_ERROR_BUSY, ADDER_ERROR_CANCELLED,
                                      ADDER_ERROR_REFUSED};
  for (gsize i = 0; i < G_N_ELEMENTS (faults); i++)
    if (g_error_matches (error, ADDER_ERROR, (int)faults[i]))
      return TRUE;
  return FALSE;
}

gboolean
handout_fall_back (struct handout *handout, const struct run_request *request, GError **error)
{
  if (handout->isolation != ISOLATION_CONTAINER || !request->falls_back || is_own_fault (*error))
    return FALSE;
  handout_clear (handout);
  handout_init (handout);
  set_fallback (handout, (*error)->message);
  g_clear_error (error);
  return TRUE;
}

struct shape
handout_shape (const struct handout *handout, const struct engine *engine, const struct run_request *request,
               gboolean session)
{
  struct shape shape = {
      .limits = request->limits,
      .session = session,
      .network = network_rules_shape (request->network),
      .mitigations = request->mitigations & ~engine->host->mitigations,
  };
  if (lacks_quota (handout, engine->host, request))
    shape.limits.value[LIMIT_CPU_PERCENT] = 0;
  shape_init_lent (&shape);
  return shape;
}

/* The proxy stands in a namespace of the sandbox's own: elsewhere nothing would lead to it alone. */
static gboolean
check_network (const struct handout *handout, const struct host *host, const struct run_request *request,
               GError **error)
{
  enum isolation isolation = handout->isolation == ISOLATION_AUTO ? host->isolation : handout->isolation;
  if (network_rules_shape (request->network) != NETWORK_ALLOW || isolation == ISOLATION_NAMESPACES)
    return TRUE;
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
      "the profile %s lets code reach chosen hosts ([network] mode = allow), for which a sandbox needs a "
      "network namespace of its own: isolation \"namespaces\" (level 2), and not \"%s\"",
      request->network->profile, isolation_names[isolation]);
  return FALSE;
}

struct pool *
handout_pool (struct handout *handout, struct engine *engine, const struct run_request *request,
              gboolean session, GError **error)
{
  struct host *host = engine->host;
  if (!choose_isolation (handout, host, request, session, error) ||
      !host_check (host, handout->isolation, wanted_level (handout, engine, request), error) ||
      !check_network (handout, host, request, error) || !check_quota (handout, host, request, error) ||
      !pools_check_memory (engine->pools, &request->limits, error)) {
    handout->refused = TRUE;
    return NULL;
  }
  return pools_get (engine->pools, request->environment, handout->isolation,
                    network_rules_shape (request->network), error);
}

/* Files on their way into a session, which are kept for its replays. */
struct giving {
  struct handout *handout;
  const struct run_request *request;
  enum input_place place;
};

/* What cannot be kept is known by its name: its replay says so. */
static void
give (gpointer data, G_GNUC_UNUSED const char *place, const char *name, int fd)
{
  const struct giving *giving = data;
  const struct request_keeper *keeper = &giving->request->keeper;
  struct input given = {.name = g_strdup (name), .fd = -1, .place = giving->place};
  keeper->give (keeper->data, giving->request, &given, fd);
  inputs_replace (giving->handout->given, &given);
}

/* A file that is known in this workspace from now on. */
static gboolean
put_file (struct handout *handout, struct box *box, const struct host *host, const struct input *file,
          const struct workspace_taker *taker, struct interrupt *interrupt, gint64 deadline_us,
          GError **error)
{
  const char *place = input_place_name (file->place);
  struct workspace_file *put;
  if (file->lent)
    put = workspace_file_lent (box->workspace_fd, place, file->name, error);
  else if (file->linked && handout->lent[file->place])
    put = workspace_file_below (place, file->name, file->bytes);
  else
    put = workspace_put (box->workspace_fd, &host->owner, place, file->name, file->fd,
                         file->key ? NULL : taker, interrupt, deadline_us, error);
  if (!put) {
    inputs_explain (file, error);
    return FALSE;
  }
  put->sha256 = g_strdup (file->sha256);
  put->by_content = file->sha256 != NULL;
  workspace_files_add (handout->files, put);
  if (taker && file->key) {
    struct input given = input_describe (file);
    inputs_replace (handout->given, &given);
  }
  return TRUE;
}

gboolean
handout_put_files (struct handout *handout, struct box *box, const struct host *host,
                   const struct run_request *request, struct interrupt *interrupt, GError **error)
{
  gint64 deadline_us = handout_deadline_us (request);
  /* The sandbox made a link there, which is not the code's. */
  if (box->shape.own_path && g_str_has_prefix (box->shape.own_path, "/tmp/"))
    workspace_files_add (handout->files,
                         workspace_file_below ("tmp", box->shape.own_path + strlen ("/tmp/"), 0));
  for (guint i = 0; i < request->files->len; i++) {
    const struct input *file = &g_array_index (request->files, struct input, i);
    struct giving giving = {handout, request, file->place};
    const struct workspace_taker taker = {give, &giving};
    const struct workspace_folder folder = {box->workspace_fd, &host->owner, input_place_name (file->place),
                                            request->keeper.give ? &taker : NULL};
    struct stat st;
    gboolean ok = fstat (file->fd, &st) == 0 && S_ISDIR (st.st_mode)
                      ? workspace_put_folder (&folder, file->name, file->fd, handout->files,
                                              &handout->left_out, interrupt, deadline_us, error)
                      : put_file (handout, box, host, file, folder.taker, interrupt, deadline_us, error);
    if (!ok)
      return FALSE;
  }
  if (box->apart)
    return ferry_put (box, handout->files, &request->limits, deadline_us, error);
  /* From here on the difference is the run's. */
  if (request->files->len > 0 && !box->place)
    workspace_measure (box->workspace_fd, &box->workspace_mark);
  return TRUE;
}

void
handout_warn (struct handout *handout, GPtrArray *warnings)
{
  if (handout->left_out > 0)
    g_ptr_array_add (warnings, g_strdup_printf ("%u of what is in the folders that were put in did not come "
                                                "along: only regular files do, no links or devices",
                                                handout->left_out));
  handout->left_out = 0;
  if (handout->fallback)
    g_ptr_array_add (warnings, g_strdup (handout->fallback));
  g_clear_pointer (&handout->fallback, g_free);
}

/* From now on the sandbox is answered. */
static gboolean
open_gate (struct box *box, struct engine *engine, const struct run_request *request,
           const struct limits *limits, GError **error)
{
  if (box->shape.network != NETWORK_ALLOW)
    return TRUE;
  box->gate = proxy_open (engine->proxy, box->listener_fd, request->network, limits, error);
  return box->gate != NULL;
}

struct box *
handout_take (struct handout *handout, struct engine *engine, struct pool *pool,
              const struct run_request *request, const struct shape *shape, struct interrupt *interrupt,
              GError **error)
{
  /* Rules give code modules that it does not name. */
  g_autofree char *with_rules =
      request->guard ? g_strconcat (request->code, "\n", request->guard, NULL) : NULL;
  const char *code = shape->session ? NULL : with_rules ? with_rules : request->code;
  g_autoptr (GError) problem = NULL;
  struct box *box = pool_take (pool, request->owner, shape, code, interrupt, &problem);
  /* Where none can be had; of the host's sandboxes that is known before. */
  handout->refused = handout->isolation == ISOLATION_CONTAINER &&
                     g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  if (box &&
      (!check_isolation (handout, engine, box, wanted_level (handout, engine, request), error) ||
       !set_limits (box, &shape->limits, error) || !open_gate (box, engine, request, &shape->limits, error) ||
       !handout_put_files (handout, box, engine->host, request, interrupt, error)))
    pool_discard (g_steal_pointer (&box));
  return box;
}
