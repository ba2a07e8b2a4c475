/* SPDX-License-Identifier: Apache-2.0 */
/* The three back ends of sandbox/cgroup.h: v2 on a directory that looks like a group, v1 for real where we
 * may, none. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/cgroup.h"
#include "sandbox/cgroup_backend.h"
#include "sandbox/host_memory.h"
#include "suite.h"

/* ---- a v2 tree made of plain files ---- */

static char *
fake_new (const char *controllers)
{
  char *root = g_dir_make_tmp ("adder-cgroup-XXXXXX", NULL);
  g_assert_nonnull (root);
  g_autofree char *list = g_build_filename (root, "cgroup.controllers", NULL);
  g_autofree char *procs = g_build_filename (root, "cgroup.procs", NULL);
  g_autofree char *subtree = g_build_filename (root, "cgroup.subtree_control", NULL);
  g_assert_true (g_file_set_contents (list, controllers, -1, NULL));
  g_assert_true (g_file_set_contents (procs, "", 0, NULL));
  g_assert_true (g_file_set_contents (subtree, "", 0, NULL));
  return root;
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;
  while (directory && (name = g_dir_read_name (directory))) {
    g_autofree char *below = g_build_filename (path, name, NULL);
    if (g_file_test (below, G_FILE_TEST_IS_DIR))
      remove_tree (below);
    else
      g_unlink (below);
  }
  g_rmdir (path);
}

/* Removes the plain files of a group: the kernel's go with their directory. */
static void
remove_files (const char *path)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (directory))) {
    g_autofree char *below = g_build_filename (path, name, NULL);
    if (!g_file_test (below, G_FILE_TEST_IS_DIR))
      g_unlink (below);
  }
}

/* The one directory below PATH whose name begins with "adder-". */
static char *
find_node (const char *path)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (directory)))
    if (g_str_has_prefix (name, "adder-"))
      return g_build_filename (path, name, NULL);
  return NULL;
}

static void
assert_file (const char *directory, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_autofree char *found = NULL;
  g_assert_true (g_file_get_contents (path, &found, NULL, NULL));
  g_assert_cmpstr (found, ==, text);
}

static void
write_file (const char *directory, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
test_v2_run (void)
{
  g_autofree char *root = fake_new ("cpuset cpu io memory pids\n");
  struct fault fault = {0};
  struct cgroup_node *node = NULL;
  struct cgroup *group = NULL;
  struct cgroup_limits limits = {.memory_bytes = 64 << 20, .pids = 10, .cpu_percent = 150};

  g_assert_cmpint (cgroup_node_open (CGROUP_V2, root, 0, &node, &fault), ==, 0);
  g_assert_cmpint (cgroup_node_mode (node), ==, CGROUP_V2);
  g_autofree char *node_path = find_node (root);
  g_assert_nonnull (node_path);
  /* The last of "+memory", "+pids", "+cpu": the kernel takes them one by one, a plain file keeps the last. */
  assert_file (root, "cgroup.subtree_control", "+cpu");
  assert_file (node_path, "cgroup.subtree_control", "+cpu");

  g_assert_cmpint (cgroup_create (node, "run-1", &limits, &group, &fault), ==, 0);
  g_autofree char *path = g_build_filename (node_path, "run-1", NULL);
  assert_file (path, "memory.max", "67108864");
  assert_file (path, "memory.swap.max", "0");
  assert_file (path, "memory.oom.group", "1");
  assert_file (path, "pids.max", "10");
  assert_file (path, "cpu.max", "150000 100000");

  g_assert_cmpint (cgroup_attach (group, 4711, &fault), ==, 0);
  assert_file (path, "cgroup.procs", "4711");

  limits = (struct cgroup_limits){.pids = 3};
  g_assert_cmpint (cgroup_set_limits (group, &limits, &fault), ==, 0);
  assert_file (path, "memory.max", "max");
  assert_file (path, "memory.swap.max", "max");
  assert_file (path, "pids.max", "3");
  assert_file (path, "cpu.max", "max 100000");

  struct cgroup_usage usage;
  g_assert_cmpint (cgroup_read_usage (group, &usage, &fault), ==, -ENOENT);
  write_file (path, "memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n");
  write_file (path, "pids.events", "max 4\n");
  write_file (path, "cpu.stat", "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n");
  g_assert_cmpint (cgroup_read_usage (group, &usage, &fault), ==, 0);
  g_assert_true (usage.memory_known && usage.cpu_known);
  g_assert_cmpuint (usage.oom_kills, ==, 2);
  g_assert_cmpuint (usage.pids_refused, ==, 4);
  g_assert_cmpuint (usage.cpu_us, ==, 1234567);
  g_assert_cmpuint (usage.peak_bytes, ==, 0);
  write_file (path, "memory.peak", "7340032\n");
  g_assert_cmpint (cgroup_read_usage (group, &usage, &fault), ==, 0);
  g_assert_cmpuint (usage.peak_bytes, ==, 7340032);

  write_file (path, "cgroup.events", "populated 0\nfrozen 0\n");
  g_assert_cmpint (cgroup_kill (group, &fault), ==, 0);
  assert_file (path, "cgroup.kill", "1");
  /* What cannot be removed is said, and the group is freed all the same. */
  g_assert_cmpint (cgroup_remove (group, &fault), ==, -ENOTEMPTY);
  g_assert_cmpstr (fault.step, ==, "cannot remove the control group run-1");

  remove_tree (path);
  remove_files (node_path);
  cgroup_node_close (node);
  g_assert_false (g_file_test (node_path, G_FILE_TEST_EXISTS));
  remove_tree (root);
}

static void
test_v2_refused (void)
{
  struct fault fault = {0};
  struct cgroup_node *node = NULL;

  g_autofree char *bare = fake_new ("cpu io pids\n");
  g_assert_cmpint (cgroup_node_open (CGROUP_V2, bare, 0, &node, &fault), ==, -EOPNOTSUPP);
  g_assert_cmpstr (fault.step, ==, "the own control group has no controller memory");
  remove_tree (bare);

  /* With processes in it, a group that is not the root of all cannot be divided. */
  g_autofree char *used = fake_new ("memory pids\n");
  g_autofree char *self = g_strdup_printf ("%d\n", (int)getpid ());
  write_file (used, "cgroup.type", "domain\n");
  write_file (used, "cgroup.procs", self);
  g_assert_cmpint (cgroup_node_open (CGROUP_V2, used, 0, &node, &fault), ==, -EBUSY);
  g_assert_cmpint (cgroup_node_open (CGROUP_V2, used, CGROUP_MOVE_SELF, &node, &fault), ==, 0);
  g_autofree char *supervisor = g_build_filename (used, "supervisor", NULL);
  g_strchomp (self);
  assert_file (supervisor, "cgroup.procs", self);
  cgroup_node_close (node);
  remove_tree (used);

  g_autofree char *shared = fake_new ("memory pids\n");
  write_file (shared, "cgroup.type", "domain\n");
  write_file (shared, "cgroup.procs", "1\n2\n");
  g_assert_cmpint (cgroup_node_open (CGROUP_V2, shared, CGROUP_MOVE_SELF, &node, &fault), ==, -EBUSY);
  g_assert_cmpstr (fault.step, ==, "2 other processes are in the own control group");
  remove_tree (shared);

  g_assert_cmpint (cgroup_node_open (CGROUP_V2, "/there/is/none", 0, &node, &fault), ==, -ENOENT);
}

/* What a dead daemon left goes; what a living one holds stays. */
static void
test_v2_sweep (void)
{
  g_autofree char *root = fake_new ("memory pids\n");
  g_autofree char *dead = g_build_filename (root, "adder-1-0", "run-7", NULL);
  g_autofree char *alive = g_build_filename (root, "adder-2-0", "run-8", NULL);
  g_autofree char *other = g_build_filename (root, "somebody", NULL);
  g_assert_cmpint (g_mkdir_with_parents (dead, 0755), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (alive, 0755), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (other, 0755), ==, 0);
  g_autofree char *alive_node = g_path_get_dirname (alive);
  g_autofree char *dead_node = g_path_get_dirname (dead);
  autoclose int lock = open (alive_node, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (flock (lock, LOCK_EX), ==, 0);

  struct fault fault = {0};
  struct cgroup_node *node = NULL;
  g_assert_cmpint (cgroup_node_open (CGROUP_V2, root, 0, &node, &fault), ==, 0);
  /* Its plain file cgroup.kill keeps the dead run's directory; on a real tree it goes as well. */
  g_autofree char *kill_file = g_build_filename (dead, "cgroup.kill", NULL);
  g_assert_true (g_file_test (kill_file, G_FILE_TEST_EXISTS) || !g_file_test (dead_node, G_FILE_TEST_EXISTS));
  g_autofree char *alive_kill = g_build_filename (alive, "cgroup.kill", NULL);
  g_assert_true (g_file_test (alive, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (alive_kill, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (other, G_FILE_TEST_EXISTS));
  cgroup_node_close (node);
  remove_tree (root);
}

/* ---- groups of somebody else ---- */

/* A tree of v2 in TREE and what /proc says of it, in PROC. */
struct engine_bed {
  char *tree, *proc;
};

static void
write_below (const char *root, const char *below, const char *text)
{
  g_autofree char *path = g_build_filename (root, below, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
engine_set_up (struct engine_bed *bed, gconstpointer data)
{
  (void)data;
  bed->tree = fake_new ("memory pids\n");
  bed->proc = g_dir_make_tmp ("adder-proc-XXXXXX", NULL);
  g_autofree char *mounts = g_strdup_printf ("30 23 0:26 / %s rw - cgroup2 cgroup2 rw\n", bed->tree);
  write_below (bed->proc, "self/mountinfo", mounts);
  write_below (bed->proc, "self/cgroup", "0::/system/adder.service\n");
  write_below (bed->proc, "17/cgroup", "0::/system/one.scope/container\n");
  write_below (bed->tree, "system/memory.max", "1000000000\n");
  write_below (bed->tree, "system/adder.service/memory.max", "max\n");
  write_below (bed->tree, "system/one.scope/memory.max", "268435456\n");
  write_below (bed->tree, "system/one.scope/memory.events", "max 7\noom 1\noom_kill 1\n");
  write_below (bed->tree, "system/one.scope/pids.max", "64\n");
  write_below (bed->tree, "system/one.scope/cpu.max", "100000 100000\n");
  write_below (bed->tree, "system/one.scope/cpu.stat", "usage_usec 1234\n");
  write_below (bed->tree, "system/one.scope/container/memory.max", "max\n");
}

static void
engine_tear_down (struct engine_bed *bed, gconstpointer data)
{
  (void)data;
  remove_tree (bed->tree);
  remove_tree (bed->proc);
  g_free (bed->tree);
  g_free (bed->proc);
}

/* The group with the limit, above that of the process. */
static void
test_adopt (struct engine_bed *bed, gconstpointer data)
{
  (void)data;
  struct fault fault = {0};
  struct cgroup *group = NULL;
  struct cgroup_limits limits;
  struct cgroup_usage usage;
  if (cgroup_adopt_from (bed->proc, 17, &group, &limits, &fault) < 0)
    g_error ("%s: %s", fault.step, strerror (fault.err));
  g_assert_cmpuint (limits.memory_bytes, ==, 268435456);
  g_assert_cmpuint (limits.pids, ==, 64);
  g_assert_cmpuint (limits.cpu_percent, ==, 100);
  g_assert_cmpint (cgroup_read_usage (group, &usage, &fault), ==, 0);
  g_assert_cmpuint (usage.oom_kills, ==, 1);
  g_assert_cmpuint (usage.cpu_us, ==, 1234);

  g_assert_cmpint (cgroup_attach (group, 17, &fault), ==, -EROFS);
  g_assert_cmpint (cgroup_set_limits (group, &limits, &fault), ==, -EROFS);
  g_assert_cmpint (cgroup_kill (group, &fault), ==, 0);
  g_autofree char *scope = g_build_filename (bed->tree, "system", "one.scope", NULL);
  assert_file (scope, "cgroup.kill", "1");
  g_assert_cmpint (cgroup_remove (group, &fault), ==, 0);
  assert_file (scope, "memory.max", "268435456\n");
}

/* A limit that holds the caller as well is not that process's own, and its group must not be killed. */
static void
test_adopt_none (struct engine_bed *bed, gconstpointer data)
{
  (void)data;
  static const char *const groups[] = {
      "0::/system/loose.scope\n",
      "0::/system/adder.service\n",
      "0::/system\n",
      "0::/\n",
      "0::/../system/one.scope\n",
      "0::/system/adder\n",
      "",
      "4:memory:/system/one.scope\n",
  };
  write_below (bed->tree, "system/loose.scope/memory.max", "max\n");
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++) {
    struct fault fault = {0};
    struct cgroup *group = NULL;
    struct cgroup_limits limits;
    write_below (bed->proc, "18/cgroup", groups[i]);
    g_assert_cmpint (cgroup_adopt_from (bed->proc, 18, &group, &limits, &fault), ==, -ENOENT);
    g_assert_null (group);
    g_assert_cmpstr (fault.step, !=, "");
  }
}

/* ---- for real ---- */

static pid_t
start_child (int *ret_go)
{
  int gate[2];
  g_assert_cmpint (pipe2 (gate, O_CLOEXEC), ==, 0);
  pid_t pid = fork ();
  if (pid == 0) {
    char go;
    close (gate[1]);
    if (read (gate[0], &go, 1) != 1)
      _exit (0);
    size_t size = (size_t)256 << 20;
    char *memory = malloc (size);
    for (size_t i = 0; memory && i < size; i += 4096)
      ((volatile char *)memory)[i] = 1;
    _exit (3);
  }
  close (gate[0]);
  *ret_go = gate[1];
  return pid;
}

static void
test_real (gconstpointer data)
{
  enum cgroup_mode mode = GPOINTER_TO_INT (data);
  struct fault fault = {0};
  struct cgroup_node *node = NULL;
  if (cgroup_mode_check (mode, 0, &fault) < 0) {
    g_autofree char *reason = g_strdup_printf ("%s: %s", fault.step, strerror (fault.err));
    g_test_skip (reason);
    return;
  }
  g_assert_cmpint (cgroup_node_open (mode, NULL, 0, &node, &fault), ==, 0);
  struct cgroup_limits limits = {.memory_bytes = 1 << 30, .pids = 20};
  struct cgroup *group = NULL;
  if (cgroup_create (node, "run-1", &limits, &group, &fault) < 0)
    g_error ("%s: %s", fault.step, strerror (fault.err));
  g_assert_cmpint (cgroup_create (node, "run-1", &limits, &group, &fault), ==, -EEXIST);
  g_assert_cmpint (cgroup_create (node, "a/b", &limits, &group, &fault), ==, -EINVAL);

  autoclose int watch = cgroup_watch_memory (group);
  struct pollfd out_of_memory = {.fd = watch, .events = POLLIN};
  g_assert_true (watch >= 0 || mode == CGROUP_V2);
  g_assert_cmpint (poll (&out_of_memory, 1, 0), ==, 0);

  int go, status;
  pid_t pid = start_child (&go);
  g_assert_cmpint (cgroup_attach (group, pid, &fault), ==, 0);
  struct cgroup *adopted = NULL;
  struct cgroup_limits found;
  if (cgroup_adopt (pid, &adopted, &found, &fault) < 0)
    g_error ("%s: %s", fault.step, strerror (fault.err));
  g_assert_cmpuint (found.memory_bytes, ==, limits.memory_bytes);
  g_assert_cmpuint (found.pids, ==, limits.pids);
  g_assert_cmpuint (found.cpu_percent, ==, 0);
  limits.memory_bytes = 32 << 20;
  g_assert_cmpint (cgroup_set_limits (group, &limits, &fault), ==, 0);
  g_assert_cmpint (write (go, "g", 1), ==, 1);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  close (go);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  g_assert_cmpint (poll (&out_of_memory, 1, 0), ==, watch >= 0);

  struct cgroup_usage usage;
  g_assert_cmpint (cgroup_read_usage (group, &usage, &fault), ==, 0);
  g_assert_true (usage.memory_known);
  g_assert_cmpuint (usage.oom_kills, ==, 1);
  g_assert_cmpuint (usage.peak_bytes, >, 16 << 20);
  g_assert_cmpuint (usage.peak_bytes, <=, 32 << 20);
  g_assert_true (usage.cpu_known);
  g_assert_cmpuint (usage.cpu_us, >, 0);
  struct cgroup_usage seen;
  g_assert_cmpint (cgroup_read_usage (adopted, &seen, &fault), ==, 0);
  g_assert_cmpuint (seen.oom_kills, ==, usage.oom_kills);
  g_assert_cmpuint (seen.peak_bytes, ==, usage.peak_bytes);
  g_assert_cmpint (cgroup_remove (adopted, &fault), ==, 0);

  /* Whoever is still in it is killed when it is removed. */
  pid = start_child (&go);
  g_assert_cmpint (cgroup_attach (group, pid, &fault), ==, 0);
  if (cgroup_remove (group, &fault) < 0)
    g_error ("%s: %s", fault.step, strerror (fault.err));
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFSIGNALED (status));
  close (go);
  cgroup_node_close (node);
}

/* A daemon that is killed leaves its groups; the next one removes them. */
static void
test_real_sweep (void)
{
  struct fault fault = {0};
  if (cgroup_mode_check (CGROUP_V1, 0, &fault) < 0) {
    g_test_skip ("no control groups v1 that we may use");
    return;
  }
  pid_t pid = fork ();
  if (pid == 0) {
    struct cgroup_node *node = NULL;
    struct cgroup *group = NULL;
    struct cgroup_limits limits = {.memory_bytes = 1 << 30};
    int r = cgroup_node_open (CGROUP_V1, NULL, 0, &node, NULL);
    if (r == 0)
      r = cgroup_create (node, "left", &limits, &group, NULL);
    _exit (r == 0 ? 0 : 1);
  }
  int status;
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);

  struct cgroup_node *node = NULL;
  g_assert_cmpint (cgroup_node_open (CGROUP_V1, NULL, 0, &node, &fault), ==, 0);
  cgroup_node_close (node);
  g_autofree char *command = g_strdup_printf ("find /sys/fs/cgroup -name 'adder-%d-*' -type d", (int)pid);
  g_autofree char *found = NULL;
  g_assert_true (g_spawn_command_line_sync (command, &found, NULL, NULL, NULL));
  g_assert_cmpstr (found, ==, "");
}

static void
test_none (void)
{
  struct fault fault = {0};
  struct cgroup_node *node = NULL;
  struct cgroup *group = NULL;
  struct cgroup_limits limits = {.memory_bytes = 1 << 20, .pids = 1, .cpu_percent = 10};
  struct cgroup_usage usage;
  g_assert_cmpint (cgroup_node_open (CGROUP_NONE, NULL, 0, &node, &fault), ==, 0);
  g_assert_cmpint (cgroup_create (node, "run-1", &limits, &group, &fault), ==, 0);
  g_assert_cmpint (cgroup_attach (group, getpid (), &fault), ==, 0);
  g_assert_cmpint (cgroup_set_limits (group, &limits, &fault), ==, 0);
  g_assert_cmpint (cgroup_read_usage (group, &usage, &fault), ==, 0);
  g_assert_false (usage.memory_known || usage.cpu_known);
  g_assert_cmpint (cgroup_kill (group, &fault), ==, 0);
  g_assert_cmpint (cgroup_remove (group, &fault), ==, 0);
  cgroup_node_close (node);
  cgroup_node_close (NULL);
  g_assert_cmpint (cgroup_remove (NULL, &fault), ==, 0);
}

/* ---- how much memory there is ---- */

static void
write_in (const char *root, const char *below, const char *text)
{
  g_autofree char *path = g_build_filename (root, below, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
test_host_memory (void)
{
  g_autofree char *root = fake_new ("");
  g_autofree char *path = g_build_filename (root, "above", "own", NULL);
  g_assert_cmpint (g_mkdir_with_parents (path, 0755), ==, 0);
  autoclose int own = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (own, >=, 0);
  g_assert_cmpuint (host_memory_limit (own, "memory.max"), ==, G_MAXUINT64);
  /* A group without the file, or without a limit, says nothing; the tightest one on the way up counts. */
  write_in (root, "memory.max", "5000000\n");
  g_assert_cmpuint (host_memory_limit (own, "memory.max"), ==, 5000000);
  write_in (root, "above/own/memory.max", "max\n");
  g_assert_cmpuint (host_memory_limit (own, "memory.max"), ==, 5000000);
  write_in (root, "above/memory.max", "4096\n");
  g_assert_cmpuint (host_memory_limit (own, "memory.max"), ==, 4096);
  write_in (root, "above/own/memory.max", "8192\n");
  g_assert_cmpuint (host_memory_limit (own, "memory.max"), ==, 4096);
  remove_tree (root);

  g_assert_cmpuint (host_memory_bytes (), >, 64u << 20);
  g_assert_cmpuint (host_memory_bytes (), <=,
                    (guint64)sysconf (_SC_PHYS_PAGES) * (guint64)sysconf (_SC_PAGESIZE));
}

UNIT_SUITE (sandbox_cgroup)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cgroup/v2/run", test_v2_run);
  g_test_add_func ("/cgroup/v2/refused", test_v2_refused);
  g_test_add_func ("/cgroup/v2/sweep", test_v2_sweep);
  g_test_add ("/cgroup/adopt/v2", struct engine_bed, NULL, engine_set_up, test_adopt, engine_tear_down);
  g_test_add ("/cgroup/adopt/none", struct engine_bed, NULL, engine_set_up, test_adopt_none,
              engine_tear_down);
  g_test_add_data_func ("/cgroup/v2/real", GINT_TO_POINTER (CGROUP_V2), test_real);
  g_test_add_data_func ("/cgroup/v1/real", GINT_TO_POINTER (CGROUP_V1), test_real);
  g_test_add_func ("/cgroup/v1/sweep", test_real_sweep);
  g_test_add_func ("/cgroup/none", test_none);
  g_test_add_func ("/cgroup/host-memory", test_host_memory);
  return g_test_run ();
}
