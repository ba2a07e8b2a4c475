/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/probe_container.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/mountinfo.h"
#include "sandbox/probe_reason.h"

const char *const probe_engine_names[PROBE_ENGINES] = {
    [PROBE_ENGINE_DOCKER] = "Docker",
    [PROBE_ENGINE_PODMAN] = "Podman",
    [PROBE_ENGINE_KUBERNETES] = "Kubernetes",
};

/* What engines leave in their containers, the most telling first: a node of Kubernetes may itself use Docker.
 */
static const struct {
  const char *path;
  enum probe_engine engine;
} marks[] = {
    {"/var/run/secrets/kubernetes.io", PROBE_ENGINE_KUBERNETES},
    {"/run/.containerenv", PROBE_ENGINE_PODMAN},
    {"/.dockerenv", PROBE_ENGINE_DOCKER},
};

/* Without a service account a pod has no mark of its own but the path of its group, which a group namespace
 * hides. */
static bool
is_in_pod (const char *root)
{
  char line[PATH_MAX];
  bool found = false;
  FILE *file = probe_reason_open_below (root, "/proc/self/cgroup");
  while (file && !found && fgets (line, sizeof line, file))
    found = strstr (line, "/kubepods") != NULL;
  if (file)
    fclose (file);
  return found;
}

/* A machine whose disk was made from an image may have the marks too. The root of a container is an overlay,
 * or a part of another file system. */
static bool
is_root_of_container (const char *root)
{
  struct mountinfo mount;
  bool found = false;
  FILE *file = probe_reason_open_below (root, "/proc/self/mountinfo");
  while (file && mountinfo_next (file, &mount))
    if (strcmp (mount.point, "/") == 0)
      found = strstr (mount.type, "overlay") || strcmp (mount.root, "/") != 0;
  if (file)
    fclose (file);
  return found;
}

enum probe_engine
probe_find_engine (const char *root)
{
  char path[PATH_MAX];
  if (!is_root_of_container (root))
    return PROBE_ENGINE_NONE;
  if (is_in_pod (root))
    return PROBE_ENGINE_KUBERNETES;
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    snprintf (path, sizeof path, "%s%s", root, marks[i].path);
    if (access (path, F_OK) == 0)
      return marks[i].engine;
  }
  /* With a read-only root, Podman mounts an empty /run. */
  const char *variable = getenv ("container");
  return variable && strcmp (variable, "podman") == 0 ? PROBE_ENGINE_PODMAN : PROBE_ENGINE_NONE;
}

/* ---- options ---- */

#define SECCOMP_DOCKER                                                                                       \
  "docker run --security-opt seccomp=FILE, where FILE is seccomp.json of packaging/server-image"
#define SECCOMP_PODMAN                                                                                       \
  "podman run --security-opt seccomp=FILE, where FILE is seccomp.json of packaging/server-image"
#define SECCOMP_KUBERNETES                                                                                   \
  "securityContext.seccompProfile: {type: Localhost, localhostProfile: FILE}, where FILE is seccomp.json "   \
  "of packaging/server-image, below /var/lib/kubelet/seccomp of the node"
#define SECCOMP                                                                                              \
  {                                                                                                          \
    NULL, SECCOMP_DOCKER, SECCOMP_PODMAN, SECCOMP_KUBERNETES                                                 \
  }
#define GROUPS_V1                                                                                            \
  "--cgroup-parent=GROUP --volume=/sys/fs/cgroup:/sys/fs/cgroup, where GROUP belongs to this user in the "   \
  "hierarchies memory, pids, cpu and cpuacct (docs/server-image.md)"

static const struct {
  enum probe_fact fact;
  const char *state;
  const char *option[PROBE_ENGINES];
} options[] = {
    {PROBE_KERNEL, "lacking", SECCOMP},
    {PROBE_USER_NAMESPACES, "seccomp", SECCOMP},
    {PROBE_SECCOMP, "seccomp", SECCOMP},
    {PROBE_LANDLOCK, "seccomp", SECCOMP},
    {PROBE_USER_NAMESPACES,
     "profile",
     {NULL, "docker run --security-opt apparmor=unconfined", "podman run --security-opt apparmor=unconfined",
      "securityContext.appArmorProfile: {type: Unconfined}"}},
    {PROBE_PROC,
     "masked",
     {NULL, "docker run --security-opt systempaths=unconfined", "podman run --security-opt unmask=ALL",
      "securityContext.procMount: Unmasked, which needs hostUsers: false of the pod"}},
    {PROBE_CGROUP,
     "v2-undelegated",
     {NULL, "docker run --security-opt writable-cgroups=true (Docker 28 or later)",
      "podman run --security-opt unmask=ALL",
      "cgroup_writable = true of the runtime in containerd's configuration (docs/server-image.md)"}},
    {PROBE_CGROUP, "v1-foreign", {NULL, "docker run " GROUPS_V1, "podman run " GROUPS_V1, NULL}},
    {PROBE_CGROUP, "mixed-foreign", {NULL, "docker run " GROUPS_V1, "podman run " GROUPS_V1, NULL}},
};

const char *
probe_engine_option (enum probe_engine engine, enum probe_fact fact, const char *state)
{
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (options[i].fact == fact && strcmp (options[i].state, state) == 0)
      return options[i].option[engine];
  return NULL;
}
