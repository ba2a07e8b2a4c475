/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/probe_reason.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/mountinfo.h"

FILE *
probe_reason_open_below (const char *root, const char *path)
{
  char whole[PATH_MAX];
  return (size_t)snprintf (whole, sizeof whole, "%s%s", root, path) < sizeof whole ? fopen (whole, "re")
                                                                                   : NULL;
}

static long
read_setting (const char *root, const char *path, long otherwise)
{
  FILE *file = probe_reason_open_below (root, path);
  long value = otherwise;
  if (file && fscanf (file, "%ld", &value) != 1)
    value = otherwise;
  if (file)
    fclose (file);
  return value;
}

long
probe_max_user_namespaces (const char *root)
{
  return read_setting (root, "/proc/sys/user/max_user_namespaces", -1);
}

/* ---- chroot ---- */

/* In a chroot no mount is at the root that we see, unless somebody mounted one just there. */
static bool
has_mount_at_root (const char *root)
{
  FILE *file = probe_reason_open_below (root, "/proc/self/mountinfo");
  struct mountinfo mount;
  bool found = !file;
  while (file && !found && mountinfo_next (file, &mount))
    found = strcmp (mount.point, "/") == 0;
  if (file)
    fclose (file);
  return found;
}

/* Where PATH leads below ROOT; empty when that cannot be seen. */
static void
probe_reason_read_link (const char *root, const char *path, char *ret_target, size_t size)
{
  char whole[PATH_MAX];
  snprintf (whole, sizeof whole, "%s%s", root, path);
  ssize_t length = readlink (whole, ret_target, size - 1);
  ret_target[length > 0 ? length : 0] = '\0';
}

/* Of two processes in one mount namespace, one has another root than pid 1: only root can see that. */
static bool
has_other_root (const char *root)
{
  char ours[64], theirs[64], path[PATH_MAX];
  struct stat our, their;
  probe_reason_read_link (root, "/proc/self/ns/mnt", ours, sizeof ours);
  probe_reason_read_link (root, "/proc/1/ns/mnt", theirs, sizeof theirs);
  if (!ours[0] || strcmp (ours, theirs) != 0)
    return false;
  snprintf (path, sizeof path, "%s/proc/1/root", root);
  if (stat (path, &their) < 0)
    return false;
  snprintf (path, sizeof path, "%s/proc/self/root", root);
  return stat (path, &our) == 0 && (our.st_dev != their.st_dev || our.st_ino != their.st_ino);
}

/* ---- user namespaces ---- */

/* Whether a profile of AppArmor confines this process. */
static bool
has_profile (const char *root)
{
  char mode[16] = "";
  FILE *file = probe_reason_open_below (root, "/proc/self/attr/current");
  /* "docker-default (enforce)"; "unconfined". */
  if (file && fscanf (file, "%*s (%15[a-z]", mode) != 1)
    mode[0] = '\0';
  if (file)
    fclose (file);
  return strcmp (mode, "enforce") == 0;
}

/* Root of the host; one of a user namespace is held by the settings for ordinary users. */
static bool
is_host_root (const char *root)
{
  FILE *file = probe_reason_open_below (root, "/proc/self/uid_map");
  unsigned first = 1, outside = 1, count = 0;
  bool whole = !file || (fscanf (file, "%u %u %u", &first, &outside, &count) == 3 && first == 0 &&
                         outside == 0 && count == UINT_MAX);
  if (file)
    fclose (file);
  return geteuid () == 0 && whole;
}

enum probe_userns
probe_explain_userns (const char *root, const struct probe_refusal *refusal)
{
  bool ordinary = !is_host_root (root);
  if (refusal->at_clone && (refusal->err == EINVAL || (refusal->err == ENOSYS && !refusal->filtered)))
    return PROBE_USERNS_KERNEL;
  /* EUSERS: before Linux 4.9. */
  if (refusal->err == ENOSPC || refusal->err == EUSERS || probe_max_user_namespaces (root) == 0)
    return PROBE_USERNS_MAX;
  /* It comes before security modules are asked. */
  if (refusal->at_clone && refusal->err == EPERM && (!has_mount_at_root (root) || has_other_root (root)))
    return PROBE_USERNS_CHROOT;
  if (ordinary && read_setting (root, "/proc/sys/kernel/unprivileged_userns_clone", 1) == 0)
    return PROBE_USERNS_CLONE;
  if (ordinary && read_setting (root, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) != 0)
    return PROBE_USERNS_APPARMOR;
  /* A profile refuses the mounts in it, or since AppArmor 4 the namespace, with EACCES; a filter does not. */
  if (refusal->err == EACCES && has_profile (root))
    return PROBE_USERNS_PROFILE;
  if (refusal->filtered)
    return PROBE_USERNS_SECCOMP;
  return PROBE_USERNS_OTHER;
}

/* ---- control groups ---- */

unsigned
probe_cgroup_trees (const char *root)
{
  static const char *const controllers[] = {"memory", "pids", "cpuacct", "cpu"};
  FILE *file = probe_reason_open_below (root, "/proc/self/mountinfo");
  struct mountinfo mount;
  unsigned trees = 0;
  while (file && mountinfo_next (file, &mount)) {
    if (strcmp (mount.type, "cgroup2") == 0)
      trees |= PROBE_TREE_V2;
    /* A hierarchy without controllers, as systemd has one, limits nothing. */
    for (size_t i = 0; strcmp (mount.type, "cgroup") == 0 && i < sizeof controllers / sizeof controllers[0];
         i++)
      if (mountinfo_has_word (mount.options, ",", controllers[i]))
        trees |= PROBE_TREE_V1;
  }
  if (file)
    fclose (file);
  return trees;
}
