/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/doctor_surroundings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster/bus.h"
#include "common/json.h"
#include "common/module.h"
#include "common/paths.h"
#include "sandbox/mitigations.h"
#include "sandbox/mountinfo.h"
#include "sandbox/probe_container.h"

static void
doctor_surroundings_add (json_t *list, const char *name, const char *state, gboolean good, const char *text,
                         const char *remedy)
{
  json_array_append_new (list,
                         json_pack ("{s:s, s:s, s:b, s:s, s:o}", "name", name, "state", state, "good", good,
                                    "text", text, "remedy", json_text_or_null (good ? NULL : remedy)));
}

/* What else is said of a container's settings begins with whose it is. */
static void
look_at_container (json_t *list, const struct probe *probe)
{
  if (probe->engine == PROBE_ENGINE_NONE)
    return;
  const char *name = probe_engine_names[probe->engine];
  g_autofree char *state = g_ascii_strdown (name, -1);
  g_autofree char *text =
      g_strdup_printf ("this runs in a container of %s; its options decide the level", name);
  doctor_surroundings_add (list, "container", state, TRUE, text, NULL);
}

/* paths_runtime_dir makes sure of the directory itself. */
static void
doctor_surroundings_look_at_runtime (json_t *list)
{
  struct stat st;
  g_autofree char *path = paths_runtime_dir (NULL);
  g_autofree char *above = path ? g_path_get_dirname (path) : NULL;
  if (!above || stat (above, &st) < 0)
    return;
  gboolean good = !(st.st_mode & S_IWOTH);
  g_autofree char *text =
      good ? g_strdup_printf ("%s", path)
           : g_strdup_printf ("%s is in a directory that everybody may write to: another user can take its "
                              "name first, and prevent Adder from starting",
                              path);
  doctor_surroundings_add (
      list, "runtime", good ? "own" : "exposed", good, text,
      "set XDG_RUNTIME_DIR or ADDER_RUNTIME_DIR to a directory of your own; it costs nothing");
}

static void
look_at_mounts (json_t *list)
{
  FILE *file = fopen ("/proc/self/mountinfo", "re");
  struct mountinfo mount;
  gboolean known = FALSE, shared = FALSE;
  while (file && mountinfo_next (file, &mount))
    if (strcmp (mount.point, "/") == 0) {
      known = TRUE;
      shared = mount.shared;
    }
  if (file)
    fclose (file);
  if (!known)
    return;
  doctor_surroundings_add (
      list, "mounts", shared ? "shared" : "private", TRUE,
      shared
          ? "what is mounted later appears in other namespaces; Adder makes the mounts of sandboxes private"
          : "what is mounted later appears in no other namespace",
      NULL);
}

/* Kernel settings that are a number in a file: their meaning when it is not 0. */
static const struct {
  const char *name, *path;
  const char *off, *on;
  const char *remedy;
} switches[] = {
    {"SMT", "/sys/devices/system/cpu/smt/active", "no two threads share a core",
     "threads share cores: code in a sandbox can learn by timing what its core's other thread does",
     "only against code that is worth it: echo off >/sys/devices/system/cpu/smt/control; it costs up to half "
     "of the processors"},
    {"KSM", "/sys/kernel/mm/ksm/run", "equal pages of memory are not merged",
     "the kernel merges equal pages of memory: code can learn by timing what pages others have",
     "echo 2 >/sys/kernel/mm/ksm/run; it costs the memory that merging saves"},
};

static void
look_at_switches (json_t *list)
{
  for (gsize i = 0; i < G_N_ELEMENTS (switches); i++) {
    g_autofree char *value = NULL;
    if (!g_file_get_contents (switches[i].path, &value, NULL, NULL))
      continue;
    gboolean off = g_ascii_strtoll (value, NULL, 10) != 1;
    doctor_surroundings_add (list, switches[i].name, off ? "off" : "on", off,
                             off ? switches[i].off : switches[i].on, switches[i].remedy);
  }
}

/* Whether cores are shared by hyperthreads, and whether sandboxes can be kept apart. */
static void
look_at_core_scheduling (json_t *list, const struct config *config)
{
  int r = mitigations_ask_core_scheduling ();
  g_auto (GStrv) words = g_strsplit_set (config ? config->mitigations : "", " \t,;", -1);
  gboolean on = g_strv_contains ((const char *const *)words, mitigation_names[MITIGATION_CORE_SCHEDULING]);
  g_autofree char *threads = NULL;
  gboolean shared = g_file_get_contents (switches[0].path, &threads, NULL, NULL) && threads[0] == '1';
  if (!shared || r == -ENODEV)
    doctor_surroundings_add (list, "core scheduling", "unneeded", TRUE, "no two threads share a core", NULL);
  else if (r < 0)
    doctor_surroundings_add (
        list, "core scheduling", "unavailable", FALSE,
        "the kernel cannot keep others off the cores of a sandbox (CONFIG_SCHED_CORE, Linux 5.14)",
        "switch SMT off, or use a kernel that is built with it");
  else
    doctor_surroundings_add (
        list, "core scheduling", on ? "on" : "off", on,
        on ? "nobody else runs on a core beside a sandbox's thread"
           : "available, and left to profiles: others may run on a core beside a sandbox's thread",
        "[sandbox] mitigations = core_scheduling; the other thread of a core idles wherever a sandbox has "
        "no work "
        "for it");
}

/* Without its module the daemon of a cluster does not start. */
static void
doctor_surroundings_look_at_cluster (json_t *list, const struct config *config)
{
  if (!config || !config->cluster_nats)
    return;
  g_autoptr (GError) problem = NULL;
  const struct bus_binding *binding = module_load (BUS_MODULE, BUS_SYMBOL, &problem);
  g_autofree char *text =
      binding
          ? g_strdup_printf ("the module " BUS_MODULE " is installed, with libnats %s", binding->version ())
          : g_strdup (problem->message);
  doctor_surroundings_add (list, "cluster", binding ? "installed" : "missing", binding != NULL, text,
                           "install the Debian package " BUS_MODULE
                           ", or build Adder with libnats and -Dcluster=true");
}

json_t *
doctor_look_around (const struct config *config, const struct probe *probe)
{
  json_t *list = json_array ();
  look_at_container (list, probe);
  /* In a container there is no other user. */
  if (probe->engine == PROBE_ENGINE_NONE)
    doctor_surroundings_look_at_runtime (list);
  look_at_mounts (list);
  look_at_switches (list);
  look_at_core_scheduling (list, config);
  doctor_surroundings_look_at_cluster (list, config);
  return list;
}
