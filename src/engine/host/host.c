/* SPDX-License-Identifier: Apache-2.0 */
/* The host, as an engine sees it. */
#include "engine/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/log.h"
#include "common/paths.h"
#include "sandbox/mitigations.h"
#include "sandbox/seccomp_build.h"

/* ---- isolation ---- */

/* What a worker verified of itself, how its absence is reported, and the highest level without it. The
 * absence of one that only adds to another mechanism's protection is reported but does not lower the
 * level. */
static const struct {
  uint32_t mechanism;
  const char *name;
  guint level_without;
} mechanisms[] = {
    {WIRE_USER_NAMESPACE, "user_namespace", 1},
    {WIRE_PID_NAMESPACE, "pid_namespace", 1},
    {WIRE_MOUNT_NAMESPACE, "mount_namespace", 1},
    {WIRE_NET_NAMESPACE, "net_namespace", 1},
    {WIRE_IPC_NAMESPACE, "ipc_namespace", 1},
    {WIRE_UTS_NAMESPACE, "uts_namespace", HOST_LEVELS},
    {WIRE_CGROUP_NAMESPACE, "cgroup_namespace", HOST_LEVELS},
    {WIRE_FRESH_PROC, "proc", HOST_LEVELS},
    {WIRE_CAPABILITIES, "capabilities", 1},
    {WIRE_LANDLOCK, "landlock", HOST_LEVELS},
    {WIRE_SECCOMP, "seccomp", 0},
    {WIRE_NO_NEW_PRIVS, "no_new_privs", 1},
};

guint
host_isolation (uint32_t reached, enum isolation isolation, gboolean grouped, GPtrArray *missing)
{
  guint level = !grouped ? 2 : reached & WIRE_OWN_KERNEL ? 4 : 3;
  /* Namespaces made by a user other than the host's, who then gave up all rights there, count as a user
   * namespace. */
  uint32_t given = isolation == ISOLATION_CONTAINER ? WIRE_USER_NAMESPACE : 0;
  if (!grouped && missing)
    g_ptr_array_add (missing, (gpointer)(guintptr) "cgroup");
  for (gsize i = 0; i < G_N_ELEMENTS (mechanisms); i++) {
    if (reached & mechanisms[i].mechanism)
      continue;
    if (!(given & mechanisms[i].mechanism))
      level = MIN (level, mechanisms[i].level_without);
    if (missing)
      g_ptr_array_add (missing, (gpointer)(guintptr)mechanisms[i].name);
  }
  /* Without a file tree of its own, only landlock separates a sandbox from the host's files. */
  return level == 1 && !(reached & WIRE_LANDLOCK) ? 0 : level;
}

/* The highest level of each kind. */
static guint
level_of (const struct host *host, enum isolation isolation)
{
  switch (isolation) {
  case ISOLATION_NAMESPACES:
    return !host->probe.sealable ? 1 : host->cgroups ? 3 : 2;
  case ISOLATION_PROCESS:
    return 1;
  default:
    return 0;
  }
}

/* Why the host is at LEVEL, if WANTED is required: the fact to show. */
static enum probe_fact
obstacle (const struct host *host, guint level, guint wanted)
{
  if (level == 2)
    return PROBE_CGROUP;
  if (!host->probe.basic_calls)
    return PROBE_KERNEL;
  if (!host->probe.seccomp)
    return PROBE_SECCOMP;
  if (wanted == 1)
    return PROBE_LANDLOCK;
  if (!host->probe.line[PROBE_KERNEL].good)
    return PROBE_KERNEL;
  return host->probe.namespaces ? PROBE_PROC : PROBE_USER_NAMESPACES;
}

guint
host_least_level (const struct host *host, enum isolation isolation)
{
  /* The default requirement of each kind. */
  static const guint standard[ISOLATIONS] = {
      [ISOLATION_AUTO] = 2,       [ISOLATION_NONE] = 0,      [ISOLATION_PROCESS] = 1,
      [ISOLATION_NAMESPACES] = 2, [ISOLATION_CONTAINER] = 2,
  };
  const struct config *config = host->config;
  if (isolation == ISOLATION_AUTO)
    isolation = (enum isolation)isolation_find (config->isolation);
  return g_str_equal (config->min_isolation, "auto")
             ? standard[isolation]
             : (guint)g_ascii_strtoull (config->min_isolation, NULL, 10);
}

gboolean
host_check (const struct host *host, enum isolation isolation, guint wanted, GError **error)
{
  if (isolation == ISOLATION_AUTO)
    isolation = host->isolation;
  /* Its real level shows only once there is one. */
  if (isolation == ISOLATION_CONTAINER)
    return TRUE;
  guint level = level_of (host, isolation);
  if (wanted == HOST_LEVELS) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "isolation level %u is required (min_isolation), which only a container whose runtime has "
                 "its own kernel provides: backend = container, and gVisor as [container] runtime",
                 wanted);
    return FALSE;
  }
  if (isolation > host->isolation) {
    const struct probe_line *line =
        &host->probe.line[obstacle (host, level_of (host, host->isolation), level)];
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "isolation \"%s\" was requested, this host provides \"%s\": %s: %s%s%s",
                 isolation_names[isolation], isolation_names[host->isolation], line->name, line->text,
                 line->remedy[0] ? "; to get it: " : "", line->remedy);
    return FALSE;
  }
  if (level >= wanted)
    return TRUE;
  if (isolation < host->isolation || isolation_find (host->config->isolation) == (int)isolation) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "isolation level %u is required (min_isolation), and isolation \"%s\" provides %u", wanted,
                 isolation_names[isolation], level);
    return FALSE;
  }
  const struct probe_line *line = &host->probe.line[obstacle (host, level, wanted)];
  const char *why = level == 2 && host->cgroup_reason ? host->cgroup_reason : line->text;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "isolation level %u is required (min_isolation), this host provides %u: %s: %s%s%s%s", wanted,
               level, line->name, why, line->remedy[0] ? "; to get it: " : "", line->remedy,
               level == 1 ? "; or allow level 1 with [sandbox] min_isolation = 1" : "");
  return FALSE;
}

/* ---- control groups ---- */

static const struct {
  const char *name;
  enum cgroup_mode mode;
} cgroup_modes[] = {
    {"v1", CGROUP_V1},
    {"v2", CGROUP_V2},
    {"none", CGROUP_NONE},
};

/* Opens a node of control groups as configured. "auto" takes what works, or does without. */
static gboolean
open_cgroups (struct host *host, unsigned flags, GError **error)
{
  enum cgroup_mode mode = host->probe.cgroup_mode;
  gboolean insisted = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (cgroup_modes); i++)
    if (g_str_equal (host->config->cgroup, cgroup_modes[i].name)) {
      mode = cgroup_modes[i].mode;
      insisted = TRUE;
    }
  if (mode == CGROUP_NONE) {
    const struct probe_line *line = &host->probe.line[PROBE_CGROUP];
    host->cgroup_reason = g_strdup (insisted ? "switched off by [sandbox] cgroup = none" : line->text);
    return TRUE;
  }
  struct fault fault = {0};
  if (cgroup_node_open (mode, NULL, flags, &host->cgroups, &fault) == 0)
    return TRUE;
  if (insisted)
    return error_from_fault (&fault, error);
  host->cgroup_reason = g_strdup_printf ("%s: %s", fault.step, g_strerror (fault.err));
  log_warning ("no control groups: %s", host->cgroup_reason);
  return TRUE;
}

/* ---- the whole ---- */

static guint
count_cpus (void)
{
  cpu_set_t set;
  if (sched_getaffinity (0, sizeof set, &set) == 0)
    return MAX (1u, (guint)CPU_COUNT (&set));
  return g_get_num_processors ();
}

/* The maximum cost of a sandbox with its share of a zygote; beyond that, what a program has open anyway. */
#define DESCRIPTORS_OF_A_SANDBOX 18
#define DESCRIPTORS_BESIDE       200

guint64
host_descriptors (const struct config *config)
{
  return (config->max_running + 2 * config->parked) * DESCRIPTORS_OF_A_SANDBOX + DESCRIPTORS_BESIDE;
}

static void
host_check_descriptors (const struct config *config)
{
  struct rlimit limit;
  guint64 wanted = host_descriptors (config);
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted)
    log_warning ("%" G_GUINT64_FORMAT " descriptors may be open; max_running = %" G_GUINT64_FORMAT
                 " can need %" G_GUINT64_FORMAT " (ulimit -n)",
                 (guint64)limit.rlim_cur, config->max_running, wanted);
}

static gboolean
open_runner (struct host *host, GError **error)
{
  host->libexec = paths_libexec_dir (error);
  if (!host->libexec)
    return FALSE;
  host->launcher = g_build_filename (host->libexec, "adder-zygote", NULL);
  host->container_launcher = g_build_filename (host->libexec, "adder-container", NULL);
  g_autofree char *init = g_build_filename (host->libexec, "adder-init", NULL);
  host->init_fd = open (init, O_RDONLY | O_CLOEXEC);
  if (host->init_fd < 0)
    return error_from_errno (error, errno, "cannot open %s", init);
  return TRUE;
}

/* The id outside of this process's user namespace for ID, by MAP; -1 when unmapped. */
static gint64
id_outside (const char *map, guint64 id)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents (map, &text, NULL, NULL))
    return (gint64)id;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++) {
    unsigned first, outside, count;
    if (sscanf (*line, "%u %u %u", &first, &outside, &count) == 3 && id >= first && id - first < count)
      return (gint64)(outside + (id - first));
  }
  return -1;
}

/* Root of a user namespace made by an ordinary user may not, and has no other ids to give away: in effect it
 * is an ordinary user. */
static gboolean
may_drop_groups (void)
{
  g_autofree char *text = NULL;
  return !g_file_get_contents ("/proc/self/setgroups", &text, NULL, NULL) || !g_str_has_prefix (text, "deny");
}

/* Code never runs as root of the host, in whatever namespace. */
static gboolean
check_owner (const struct host *host, GError **error)
{
  if (host->owner.assume || geteuid () != 0 || id_outside ("/proc/self/uid_map", 0) != 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "root here is root outside of this user namespace, and [sandbox] root_uid = %" G_GUINT64_FORMAT
               " is not mapped: map it, or run as an ordinary user",
               host->config->root_uid);
  return FALSE;
}

/* The best that works, within the configuration. Running unconfined is never chosen automatically. */
static enum isolation
host_choose_isolation (const struct host *host)
{
  int most = isolation_find (host->config->isolation);
  if (most <= ISOLATION_AUTO)
    most = ISOLATION_NAMESPACES;
  if (host->probe.namespaces && most >= (int)ISOLATION_NAMESPACES)
    return ISOLATION_NAMESPACES;
  if (host->probe.level >= 1 && most >= (int)ISOLATION_PROCESS)
    return ISOLATION_PROCESS;
  return ISOLATION_NONE;
}

/* The control groups are known by now: the filter refuses what they do not count. */
static gboolean
build_filter (struct host *host, enum isolation isolation, enum network network, gboolean host_sockets,
              GError **error)
{
  int *filter_fd = &host->filter_fd[isolation][network][host_sockets];
  gboolean contained = isolation == ISOLATION_CONTAINER;
  const struct seccomp_host seccomp = {
      .landlock_abi = host->probe.landlock_abi,
      .memory_counted = host->cgroups != NULL || contained,
      .shared = isolation != ISOLATION_NAMESPACES && !contained,
      .contained = contained,
      .network = network,
      .host_sockets = host_sockets,
  };
  struct fault fault;
  return *filter_fd >= 0 || seccomp_build (&seccomp, filter_fd, &fault) == 0 ||
         error_from_fault (&fault, error);
}

gboolean
host_prepare (struct host *host, enum isolation isolation, enum network network, gboolean host_sockets,
              GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&host->lock);
  if (!build_filter (host, isolation, network, host_sockets, error))
    return FALSE;
  if (isolation != ISOLATION_NAMESPACES && !host->scratch)
    host->scratch = scratch_new (&host->owner, error);
  return isolation == ISOLATION_NAMESPACES || host->scratch != NULL;
}

int
host_open_filter (struct host *host, enum isolation isolation, enum network network, gboolean host_sockets,
                  GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&host->lock);
  if (!build_filter (host, isolation, network, host_sockets, error))
    return -1;
  int fd = fcntl (host->filter_fd[isolation][network][host_sockets], F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    error_from_errno (error, errno, "cannot hand over the seccomp program");
  return fd;
}

gboolean
host_check_mitigation (const char *word, GError **error)
{
  if (mitigation_find (word) >= 0)
    return TRUE;
  g_autofree char *known = g_strjoinv (", ", (GStrv)(guintptr)mitigation_names);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not one of: %s", word, known);
  return FALSE;
}

static gboolean
read_mitigations (const struct config *config, uint32_t *mitigations, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (config->mitigations, " \t,;", -1);
  for (char **word = words; *word; word++) {
    if (**word == '\0' || strcmp (*word, "none") == 0)
      continue;
    if (!host_check_mitigation (*word, error)) {
      g_prefix_error (error, "[sandbox] mitigations: ");
      return FALSE;
    }
    *mitigations |= UINT32_C (1) << mitigation_find (*word);
  }
  return TRUE;
}

gboolean
host_check_config (const struct config *config, GError **error)
{
  uint32_t mitigations = 0;
  return read_mitigations (config, &mitigations, error);
}

/* ---- the process ---- */

/* Larger blocks go back to the system when freed. By default the C library keeps pieces of the last size, up
 * to 32 MiB of them in each of its arenas: large messages from sandboxes could make a daemon hold a
 * gigabyte. */
#define MAPPED_BYTES (256 << 10)

static gint own_flags; /* of cgroup_node_open; 0: the process is somebody else's */

void
host_own_process (gboolean parent_too)
{
  struct rlimit descriptors;
  g_atomic_int_set (&own_flags, CGROUP_MOVE_SELF | (parent_too ? CGROUP_MOVE_PARENT : 0));
  if (getrlimit (RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    (void)setrlimit (RLIMIT_NOFILE, &descriptors);
  }
  mallopt (M_MMAP_THRESHOLD, MAPPED_BYTES);
}

gboolean
host_owns_process (void)
{
  return g_atomic_int_get (&own_flags) != 0;
}

/* ---- the whole ---- */

struct host *
host_new (struct config *config, GError **error)
{
  struct host *host = g_new0 (struct host, 1);
  unsigned flags = (unsigned)g_atomic_int_get (&own_flags);
  host->config = config;
  host->init_fd = -1;
  g_mutex_init (&host->lock);
  memset (host->filter_fd, -1, sizeof host->filter_fd);
  host->cpus = count_cpus ();
  host_check_descriptors (config);
  probe_host (&host->probe, flags);
  host->owner.assume = geteuid () == 0 && id_outside ("/proc/self/uid_map", config->root_uid) >= 0 &&
                       id_outside ("/proc/self/gid_map", config->root_gid) >= 0 && may_drop_groups ();
  host->owner.uid = host->owner.assume ? (uid_t)config->root_uid : geteuid ();
  host->owner.gid = host->owner.assume ? (gid_t)config->root_gid : getegid ();
  host->isolation = host_choose_isolation (host);
  if (!read_mitigations (config, &host->mitigations, error) || !check_owner (host, error) ||
      !open_runner (host, error) || !open_cgroups (host, flags, error)) {
    host_free (host);
    return NULL;
  }
  return host;
}

void
host_free (struct host *host)
{
  if (!host)
    return;
  cgroup_node_close (host->cgroups);
  for (gsize i = 0; i < sizeof host->filter_fd / sizeof (int); i++)
    fd_close (&host->filter_fd[0][0][0] + i);
  scratch_close (host->scratch);
  g_mutex_clear (&host->lock);
  fd_close (&host->init_fd);
  g_free (host->cgroup_reason);
  g_free (host->libexec);
  g_free (host->launcher);
  g_free (host->container_launcher);
  config_free (host->config);
  g_free (host);
}
