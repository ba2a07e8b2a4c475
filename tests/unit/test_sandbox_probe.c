/* SPDX-License-Identifier: Apache-2.0 */
/* Why user namespaces are refused and which control groups there are, on hosts that are laid out as files;
 * and the text of /proc, well formed and not. tests/e2e/test_doctor.py makes for real what can be made. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/mountinfo.h"
#include "sandbox/probe_container.h"
#include "sandbox/probe_reason.h"
#include "suite.h"

#define MOUNTED  "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
#define CHROOTED "25 1 8:1 /srv/jail/proc /proc rw - proc proc rw\n"
#define V1       "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
#define SYSTEMD  "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
#define V2       "41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

#define HOST_IDS "         0          0 4294967295\n"
#define OWN_IDS  "         0       1000          1\n"

/* A directory that stands for a host: names and contents in turn, NULL at the end. */
static char *
host_new (const char *const *files)
{
  char *root = g_dir_make_tmp ("adder-probe-XXXXXX", NULL);
  g_assert_nonnull (root);
  for (; files[0]; files += 2) {
    g_autofree char *path = g_build_filename (root, files[0], NULL);
    g_autofree char *directory = g_path_get_dirname (path);
    g_assert_cmpint (g_mkdir_with_parents (directory, 0700), ==, 0);
    g_assert_true (g_file_set_contents (path, files[1], -1, NULL));
  }
  return root;
}

static void
host_free (char *path)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  for (const char *name; directory && (name = g_dir_read_name (directory));)
    host_free (g_build_filename (path, name, NULL));
  g_remove (path);
  g_free (path);
}

#define MOUNTS   "proc/self/mountinfo"
#define IDS      "proc/self/uid_map"
#define PROFILE  "proc/self/attr/current"
#define LIMIT    "proc/sys/user/max_user_namespaces"
#define CLONE    "proc/sys/kernel/unprivileged_userns_clone"
#define APPARMOR "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define FILES(...)                                                                                           \
  {                                                                                                          \
    __VA_ARGS__, NULL                                                                                        \
  }

static const struct refusal_case {
  const char *name;
  const char *files[16];
  struct probe_refusal refusal;
  enum probe_userns reason;
} refusals[] = {
    {"none-left",
     FILES (MOUNTS, MOUNTED, IDS, HOST_IDS, LIMIT, "100\n"),
     {ENOSPC, true, false},
     PROBE_USERNS_MAX},
    {"none-left-before-4.9", FILES (MOUNTS, MOUNTED, IDS, HOST_IDS), {EUSERS, true, false}, PROBE_USERNS_MAX},
    {"switched-off",
     FILES (MOUNTS, MOUNTED, IDS, HOST_IDS, LIMIT, "0\n"),
     {EPERM, true, false},
     PROBE_USERNS_MAX},
    {"debian",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, LIMIT, "100\n", CLONE, "0\n"),
     {EPERM, true, false},
     PROBE_USERNS_CLONE},
    {"debian-allows",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, CLONE, "1\n"),
     {EPERM, true, false},
     PROBE_USERNS_OTHER},
    {"debian-in-a-container",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, CLONE, "0\n"),
     {EPERM, true, true},
     PROBE_USERNS_CLONE},
    /* Ubuntu gives the namespace, and no rights in it. */
    {"ubuntu",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, APPARMOR, "1\n"),
     {EACCES, false, false},
     PROBE_USERNS_APPARMOR},
    {"ubuntu-allows",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, APPARMOR, "0\n"),
     {EACCES, false, false},
     PROBE_USERNS_OTHER},
    {"container", FILES (MOUNTS, MOUNTED, IDS, HOST_IDS), {EPERM, true, true}, PROBE_USERNS_SECCOMP},
    {"container-without-clone3",
     FILES (MOUNTS, MOUNTED, IDS, HOST_IDS),
     {ENOSYS, true, true},
     PROBE_USERNS_SECCOMP},
    {"container-without-mount",
     FILES (MOUNTS, MOUNTED, IDS, HOST_IDS),
     {EPERM, false, true},
     PROBE_USERNS_SECCOMP},
    {"chroot", FILES (MOUNTS, CHROOTED, IDS, HOST_IDS), {EPERM, true, false}, PROBE_USERNS_CHROOT},
    {"chroot-in-a-container",
     FILES (MOUNTS, CHROOTED, IDS, HOST_IDS),
     {EPERM, true, true},
     PROBE_USERNS_CHROOT},
    {"not-built-in", FILES (MOUNTS, MOUNTED, IDS, HOST_IDS), {EINVAL, true, false}, PROBE_USERNS_KERNEL},
    {"older-than-clone3", FILES (MOUNTS, MOUNTED, IDS, HOST_IDS), {ENOSYS, true, false}, PROBE_USERNS_KERNEL},
    {"security-module",
     FILES (MOUNTS, MOUNTED, IDS, HOST_IDS, LIMIT, "100\n"),
     {EACCES, true, false},
     PROBE_USERNS_OTHER},
    {"profile",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, PROFILE, "docker-default (enforce)\n"),
     {EACCES, false, true},
     PROBE_USERNS_PROFILE},
    {"profile-that-only-complains",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, PROFILE, "docker-default (complain)\n"),
     {EACCES, false, true},
     PROBE_USERNS_SECCOMP},
    {"no-profile",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, PROFILE, "unconfined\n"),
     {EACCES, true, true},
     PROBE_USERNS_SECCOMP},
    {"filter-beside-a-profile",
     FILES (MOUNTS, MOUNTED, IDS, OWN_IDS, PROFILE, "docker-default (enforce)\n"),
     {EPERM, true, true},
     PROBE_USERNS_SECCOMP},
    {"nothing-can-be-read", FILES (NULL), {EPERM, true, false}, PROBE_USERNS_OTHER},
    {"settings-are-no-numbers",
     FILES (MOUNTS, MOUNTED, IDS, "x", LIMIT, "", CLONE, "x", APPARMOR, "\n"),
     {EPERM, true, false},
     PROBE_USERNS_OTHER},
};

static void
test_refusal (gconstpointer data)
{
  const struct refusal_case *row = data;
  char *root = host_new (row->files);
  g_assert_cmpint (probe_explain_userns (root, &row->refusal), ==, row->reason);
  host_free (root);
}

#define OVERLAY "25 1 0:50 / / rw - overlay overlay rw\n"
#define PART    "25 1 8:1 /var/lib/vfs/1 / rw - ext4 /dev/sda1 rw\n"
#define POD     "0::/kubepods/burstable/pod1/2\n"

/* A machine may have been made from an image, with all that the image has. */
static void
test_engines (void)
{
  static const struct {
    const char *files[8];
    enum probe_engine engine;
  } rows[] = {
      {FILES (MOUNTS, OVERLAY, ".dockerenv", ""), PROBE_ENGINE_DOCKER},
      {FILES (MOUNTS, PART, ".dockerenv", ""), PROBE_ENGINE_DOCKER},
      {FILES (MOUNTS, MOUNTED, ".dockerenv", ""), PROBE_ENGINE_NONE},
      {FILES (MOUNTS, OVERLAY, "run/.containerenv", ""), PROBE_ENGINE_PODMAN},
      {FILES (MOUNTS, OVERLAY, "var/run/secrets/kubernetes.io/x", "", ".dockerenv", ""),
       PROBE_ENGINE_KUBERNETES},
      {FILES (MOUNTS, OVERLAY, "proc/self/cgroup", POD), PROBE_ENGINE_KUBERNETES},
      {FILES (MOUNTS, OVERLAY, "proc/self/cgroup", "0::/\n"), PROBE_ENGINE_NONE},
      {FILES (MOUNTS, "", ".dockerenv", ""), PROBE_ENGINE_NONE},
      {FILES (".dockerenv", ""), PROBE_ENGINE_NONE},
  };
  g_unsetenv ("container");
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    char *root = host_new (rows[i].files);
    g_assert_cmpint (probe_find_engine (root), ==, rows[i].engine);
    host_free (root);
  }
  const char *const files[] = FILES (MOUNTS, OVERLAY);
  char *root = host_new (files);
  g_setenv ("container", "podman", TRUE);
  g_assert_cmpint (probe_find_engine (root), ==, PROBE_ENGINE_PODMAN);
  g_unsetenv ("container");
  host_free (root);
}

static void
test_options (void)
{
  g_assert_nonnull (
      strstr (probe_engine_option (PROBE_ENGINE_DOCKER, PROBE_PROC, "masked"), "systempaths=unconfined"));
  g_assert_nonnull (
      strstr (probe_engine_option (PROBE_ENGINE_KUBERNETES, PROBE_PROC, "masked"), "procMount: Unmasked"));
  g_assert_null (probe_engine_option (PROBE_ENGINE_DOCKER, PROBE_PROC, "ok"));
  g_assert_null (probe_engine_option (PROBE_ENGINE_NONE, PROBE_PROC, "masked"));
  g_assert_null (probe_engine_option (PROBE_ENGINE_KUBERNETES, PROBE_CGROUP, "v1-foreign"));
}

/* A root that something is mounted on hides a chroot; pid 1, in the same mount namespace, has another. */
static void
test_refused_chroot (void)
{
  static const char *const files[] =
      FILES (MOUNTS, MOUNTED, IDS, HOST_IDS, "proc/1/root/x", "", "proc/self/x", "");
  static const struct {
    const char *own_namespace, *own_root;
    enum probe_userns reason;
  } rows[] = {
      {"mnt:[1]", "../1/root", PROBE_USERNS_OTHER},
      {"mnt:[1]", "/", PROBE_USERNS_CHROOT},
      {"mnt:[1]", "/there/is/none", PROBE_USERNS_OTHER},
      {"mnt:[2]", "/", PROBE_USERNS_OTHER},
  };
  const struct probe_refusal refusal = {EPERM, true, false};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    char *root = host_new (files);
    g_autofree char *own = g_build_filename (root, "proc", "self", "ns", NULL);
    g_autofree char *first = g_build_filename (root, "proc", "1", "ns", NULL);
    g_autofree char *own_namespace = g_build_filename (own, "mnt", NULL);
    g_autofree char *first_namespace = g_build_filename (first, "mnt", NULL);
    g_autofree char *own_root = g_build_filename (root, "proc", "self", "root", NULL);
    g_assert_cmpint (g_mkdir (own, 0700), ==, 0);
    g_assert_cmpint (g_mkdir (first, 0700), ==, 0);
    g_assert_cmpint (symlink (rows[i].own_namespace, own_namespace), ==, 0);
    g_assert_cmpint (symlink ("mnt:[1]", first_namespace), ==, 0);
    g_assert_cmpint (symlink (rows[i].own_root, own_root), ==, 0);
    g_assert_cmpint (probe_explain_userns (root, &refusal), ==, rows[i].reason);
    g_assert_cmpint (g_unlink (own_root), ==, 0); /* leads out of what is to be removed */
    host_free (root);
  }
}

/* The settings for ordinary users explain nothing to root. */
static void
test_refused_root (void)
{
  if (geteuid () != 0) {
    g_test_skip ("only root can tell");
    return;
  }
  const char *const files[] = FILES (MOUNTS, MOUNTED, IDS, HOST_IDS, CLONE, "0\n", APPARMOR, "1\n");
  const struct probe_refusal refusal = {EPERM, true, false};
  char *root = host_new (files);
  g_assert_cmpint (probe_explain_userns (root, &refusal), ==, PROBE_USERNS_OTHER);
  host_free (root);
}

static const struct trees_case {
  const char *name, *mounts;
  unsigned trees;
} trees_cases[] = {
    {"none", MOUNTED, 0},
    {"v1", MOUNTED SYSTEMD V1, PROBE_TREE_V1},
    {"v2", MOUNTED V2, PROBE_TREE_V2},
    {"v2-and-systemd", MOUNTED SYSTEMD V2, PROBE_TREE_V2},
    {"mixed", MOUNTED SYSTEMD V1 V2, PROBE_TREE_V1 | PROBE_TREE_V2},
};

static void
test_trees (gconstpointer data)
{
  const struct trees_case *row = data;
  const char *const files[] = FILES (MOUNTS, row->mounts);
  char *root = host_new (files);
  g_assert_cmpuint (probe_cgroup_trees (root), ==, row->trees);
  host_free (root);
  g_assert_cmpuint (probe_cgroup_trees ("/there/is/none"), ==, 0);
}

/* The whole probe on this very host: each fact has a word and a text, and what is not good has a remedy. */
static void
test_host (void)
{
  struct probe probe;
  probe_host (&probe, 0);
  for (int i = 0; i < PROBE_FACTS; i++) {
    const struct probe_line *line = &probe.line[i];
    g_assert_cmpstr (line->name, !=, "");
    g_assert_cmpstr (line->state, !=, "");
    g_assert_cmpstr (line->text, !=, "");
    g_assert_true (line->good == (line->remedy[0] == '\0'));
  }
}

/* ---- the text itself ---- */

static FILE *
stream_of (char *text)
{
  FILE *stream = fmemopen (text, strlen (text), "r");
  g_assert_nonnull (stream);
  return stream;
}

static void
test_mounts (void)
{
  char text[] = "no mount\n" MOUNTED "1 2 3 / /half - \n" V1 V2;
  struct mountinfo mount;
  FILE *stream = stream_of (text);
  g_assert_true (mountinfo_next (stream, &mount));
  g_assert_cmpstr (mount.point, ==, "/");
  g_assert_cmpstr (mount.type, ==, "ext4");
  g_assert_true (mountinfo_find_cgroup (stream, NULL, &mount));
  g_assert_cmpstr (mount.point, ==, "/sys/fs/cgroup/unified");
  g_assert_false (mountinfo_next (stream, &mount));
  rewind (stream);
  g_assert_true (mountinfo_find_cgroup (stream, "memory", &mount));
  g_assert_cmpstr (mount.options, ==, "rw,memory");
  rewind (stream);
  g_assert_false (mountinfo_find_cgroup (stream, "mem", &mount));
  fclose (stream);
}

static void
test_own_group (void)
{
  char text[] = "no group\n12:\n9:name=systemd:/init\n4:memory,pids:/a/b:c\n0::/two\n";
  char path[16];
  FILE *stream = stream_of (text);
  g_assert_true (mountinfo_own_group (stream, "pids", path, sizeof path));
  g_assert_cmpstr (path, ==, "/a/b:c");
  rewind (stream);
  g_assert_true (mountinfo_own_group (stream, NULL, path, sizeof path));
  g_assert_cmpstr (path, ==, "/two");
  rewind (stream);
  g_assert_false (mountinfo_own_group (stream, "cpu", path, sizeof path));
  rewind (stream);
  g_assert_false (mountinfo_own_group (stream, "pids", path, 6));
  fclose (stream);
}

UNIT_SUITE (sandbox_probe)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (refusals); i++) {
    g_autofree char *path = g_strconcat ("/probe/refused/", refusals[i].name, NULL);
    g_test_add_data_func (path, &refusals[i], test_refusal);
  }
  for (size_t i = 0; i < G_N_ELEMENTS (trees_cases); i++) {
    g_autofree char *path = g_strconcat ("/probe/control-groups/", trees_cases[i].name, NULL);
    g_test_add_data_func (path, &trees_cases[i], test_trees);
  }
  g_test_add_func ("/probe/refused/other-root", test_refused_chroot);
  g_test_add_func ("/probe/refused/root", test_refused_root);
  g_test_add_func ("/probe/engines", test_engines);
  g_test_add_func ("/probe/options", test_options);
  g_test_add_func ("/probe/host", test_host);
  g_test_add_func ("/mountinfo/mounts", test_mounts);
  g_test_add_func ("/mountinfo/own-group", test_own_group);
  return g_test_run ();
}
