/* SPDX-License-Identifier: Apache-2.0 */
#include "containers/spec.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "common/json.h"
#include "containers/find.h"
#include "containers/labels.h"
#include "containers/origin.h"
#include "containers/syscalls.h"
#include "runner/wire.h"
#include "sandbox/limits.h"
#include "sandbox/variables.h"

/* In microseconds: how often a share of a processor is reckoned, and one percent of that. */
#define CPU_PERIOD  100000
#define CPU_PERCENT 1000

/* Tried with version 20221219: 65 were too few for a zygote that loads pandas, beside which there was
 * nothing. */
#define GVISOR_PIDS      128
#define GVISOR_PIDS_EACH 4

/* As adder-zygote's: when memory runs out on the host, these go before what the user runs. */
#define OOM_SCORE 300

static const char *const container_variables[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "HOME=/tmp",
    "TMPDIR=/tmp",
    "MPLCONFIGDIR=/usr/share/adder/cache",
};

/* What tells of the host, and is of no use in here. An engine has a list of its own, in place of which this
 * one stands. */
static const char *const masked[] = {
    "/proc/acpi",
    "/proc/asound",
    "/proc/bus",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/diskstats",
    "/proc/driver",
    "/proc/fs",
    "/proc/interrupts",
    "/proc/iomem",
    "/proc/ioports",
    "/proc/irq",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/latency_stats",
    "/proc/locks",
    "/proc/modules",
    "/proc/partitions",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/sysvipc",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/tty",
    "/sys",
    NULL,
};

/* Engines have their own, which may be more than they can give. */
static const struct {
  const char *name;
  int resource;
  rlim_t most;
} ulimits[] = {
    /* A program of the host's that takes cores does not mind 0 (sandbox/rlimits.c). */
    {"core", RLIMIT_CORE, 1},
    {"memlock", RLIMIT_MEMLOCK, 0},
    {"msgqueue", RLIMIT_MSGQUEUE, 0},
    {"nofile", RLIMIT_NOFILE, 4096},
    /* Counted for a user, who has all of them; how many one may have is for its group to say. */
    {"nproc", RLIMIT_NPROC, 16384},
};

static json_t *
spec_list_of (const char *const *texts, gsize count)
{
  json_t *list = json_array ();
  for (gsize i = 0; i < count; i++)
    json_array_append_new (list, json_string (texts[i]));
  return list;
}

/* ---- the program ---- */

static json_t *
program_of (const struct container_order *order, const struct container_image *image)
{
  const char *const words[] = {"/usr/bin/python3",
                               "-I",
                               "-B",
                               "/usr/lib/adder/zygote.py",
                               "--join",
                               WIRE_JOIN_PATH,
                               "--environment",
                               order->environment,
                               "--modules",
                               image->modules,
                               "--isolation",
                               "container"};
  return spec_list_of (words, G_N_ELEMENTS (words));
}

static json_t *
environment_variables (void)
{
  json_t *list = spec_list_of (container_variables, G_N_ELEMENTS (container_variables));
  const char *const *const tables[] = {variables_common, variables_interpreter};
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    for (const char *const *variable = tables[i]; *variable; variable++)
      json_array_append_new (list, json_string (*variable));
  if (disable_layers_variable ())
    json_array_append_new (list, json_string (disable_layers_variable ()));
  return list;
}

static json_t *
labels (void)
{
  g_autofree char *daemon = container_origin_daemon ();
  g_autofree char *owner = container_origin_owner ();
  g_autofree char *host = container_origin_host ();
  return json_pack ("{s:s, s:s, s:s}", LABEL_DAEMON, daemon, LABEL_OWNER, owner, LABEL_HOST, host);
}

/* ---- its bounds ---- */

static json_t *
ulimit_list (void)
{
  json_t *list = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (ulimits); i++) {
    struct rlimit own = {RLIM_INFINITY, RLIM_INFINITY};
    (void)getrlimit ((__rlimit_resource_t)ulimits[i].resource, &own);
    /* More than one's own is not a rootless engine's to give. */
    json_int_t most = (json_int_t)MIN (own.rlim_max, ulimits[i].most);
    json_array_append_new (
        list, json_pack ("{s:s, s:I, s:I}", "Name", ulimits[i].name, "Soft", most, "Hard", most));
  }
  return list;
}

/* The host counts the threads of gVisor's kernel: its own, and for each of the code's one that sees to it and
 * what it is to the host. A kernel that is refused one ends, and the container with it. */
static guint64
pids_of (const struct container_order *order)
{
  gboolean gvisor = order->runtime && g_str_has_prefix (order->runtime, CONTAINER_GVISOR);
  return gvisor ? GVISOR_PIDS + GVISOR_PIDS_EACH * order->pids : order->pids;
}

static void
set_bounds (json_t *host, const struct container_order *order)
{
  guint64 percent = order->cpu_percent ? order->cpu_percent : 100;
  const struct {
    const char *name;
    guint64 value;
  } bounds[] = {
      {"Memory", order->memory_bytes}, {"MemorySwap", order->memory_bytes}, {"PidsLimit", pids_of (order)},
      {"CpuPeriod", CPU_PERIOD},       {"CpuQuota", percent * CPU_PERCENT}, {"ShmSize", order->shm_bytes},
      {"OomScoreAdj", OOM_SCORE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bounds); i++)
    json_object_set_new (host, bounds[i].name, json_integer ((json_int_t)bounds[i].value));
  json_object_set_new (host, "Ulimits", ulimit_list ());
}

/* Podman takes no ids for a tmpfs and no number of files. It can give it to the container's user, and shall
 * not copy into it what the image has there, which is a tmpfs of its own. */
static json_t *
tmpfs (const struct container_client *client, const struct container_order *order)
{
  g_autofree char *rest = container_client_is_podman (client)
                              ? g_strdup ("U,notmpcopyup")
                              : g_strdup_printf ("nr_inodes=%" G_GUINT64_FORMAT ",uid=%u,gid=%u",
                                                 order->workspace_files, order->uid, order->gid);
  g_autofree char *options = g_strdup_printf ("rw,exec,nosuid,nodev,size=%" G_GUINT64_FORMAT ",mode=0755,%s",
                                              order->workspace_bytes, rest);
  return json_pack ("{s:s}", WIRE_WORKSPACE_PATH, options);
}

/* Podman reads the filter from a file, and takes what is masked here and not beside. */
static json_t *
confinement (const struct container_client *client, const char *join)
{
  json_t *list = json_pack ("[s]", "no-new-privileges");
  g_autofree char *filter = container_client_is_podman (client)
                                ? g_build_filename (join, CONTAINER_FILTER, NULL)
                                : container_syscalls ();
  json_array_append_new (list, json_sprintf ("seccomp=%s", filter));
  if (!container_client_is_podman (client))
    return list;
  g_autofree char *paths = g_strjoinv (":", (char **)(guintptr)masked);
  json_array_append_new (list, json_sprintf ("mask=%s", paths));
  return list;
}

/* Without what is mounted below it, and what is mounted there later. */
static json_t *
work_directory_mount (const struct container_order *order)
{
  return json_pack ("{s:s, s:s, s:s, s:b, s:{s:b, s:s}}", "Type", "bind", "Source", order->directory,
                    "Target", WIRE_WORK_PATH, "ReadOnly", strcmp (order->bind, CONTAINER_BIND_WRITE) != 0,
                    "BindOptions", "NonRecursive", 1, "Propagation", "rprivate");
}

/* Of what an engine would put there it keeps its hands off. */
static json_t *
mounts (const struct container_order *order, const char *join)
{
  g_autofree char *inside = g_path_get_dirname (WIRE_JOIN_PATH);
  const struct {
    const char *file, *target;
  } bound[] = {{".", inside}, {CONTAINER_HOSTS, "/etc/hosts"}, {CONTAINER_SERVERS, "/etc/resolv.conf"}};
  json_t *list = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (bound); i++) {
    g_autofree char *source = g_canonicalize_filename (bound[i].file, join);
    json_array_append_new (list, json_pack ("{s:s, s:s, s:s, s:b}", "Type", "bind", "Source", source,
                                            "Target", bound[i].target, "ReadOnly", 1));
  }
  if (order->directory)
    json_array_append_new (list, work_directory_mount (order));
  return list;
}

static json_t *
spec_host_of (const struct container_client *client, const struct container_order *order, const char *join)
{
  json_t *host = json_pack ("{s:b, s:s, s:s, s:s, s:[s], s:b, s:b, s:b, s:{s:s}, s:{s:s}}", "ReadonlyRootfs",
                            1, "NetworkMode", "none", "IpcMode", "private", "CgroupnsMode", "private",
                            "CapDrop", "ALL", "AutoRemove", 1, "Init", 0, "Privileged", 0, "LogConfig",
                            "Type", "none", "RestartPolicy", "Name", "no");
  json_object_set_new (host, "SecurityOpt", confinement (client, join));
  json_object_set_new (host, "MaskedPaths", spec_list_of (masked, G_N_ELEMENTS (masked) - 1));
  json_object_set_new (host, "Tmpfs", tmpfs (client, order));
  json_object_set_new (host, "Mounts", mounts (order, join));
  if (order->runtime && !container_client_is_podman (client))
    json_object_set_new (host, "Runtime", json_string (order->runtime));
  /* The user's own number in the container as outside. */
  if (container_is_rootless (container_client_socket (client)))
    json_object_set_new (host, "UsernsMode", json_string ("keep-id"));
  set_bounds (host, order);
  return host;
}

json_t *
container_spec (const struct container_client *client, const struct container_order *order,
                const struct container_image *image, const char *join)
{
  g_autofree char *user = g_strdup_printf ("%u:%u", order->uid, order->gid);
  json_t *body = json_pack ("{s:s, s:s, s:s, s:s, s:[], s:b, s:b, s:b, s:i}", "Image", image->digest,
                            "Hostname", "adder", "WorkingDir", "/", "User", user, "Cmd", "NetworkDisabled", 1,
                            "Tty", 0, "OpenStdin", 0, "StopTimeout", 0);
  json_object_set_new (body, "Entrypoint", program_of (order, image));
  json_object_set_new (body, "Env", environment_variables ());
  json_object_set_new (body, "Labels", labels ());
  json_object_set_new (body, "HostConfig", spec_host_of (client, order, join));
  return body;
}
