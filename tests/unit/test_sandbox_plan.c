/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as arguments and back; copies into a tree; the table of limits; what the host's probe says of
 * refusals. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/copy.h"
#include "sandbox/directory.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"
#include "sandbox/namespaces.h"
#include "sandbox/plan.h"
#include "sandbox/probe.h"
#include "sandbox/rlimits.h"
#include "suite.h"

static int
count_arguments (char **arguments)
{
  return (int)g_strv_length (arguments);
}

static void
test_plan_there_and_back (void)
{
  struct plan_step steps[] = {
      {PLAN_BIND, "/usr", "/usr"},
      {PLAN_BIND_MAYBE, "/opt/x y", "/opt/x y"},
      {PLAN_BIND_REAL, "/home/u/p/.venv", "/home/u/p/.venv"},
      {PLAN_COPY, "/etc/hosts", "/etc/hosts"},
      {PLAN_TREE, "/etc/fonts", "/etc/fonts"},
      {PLAN_LINK, "usr/bin", "/bin"},
      {PLAN_TEXT, "a\nb -- --step\n", "/text"},
      {PLAN_TEXT, "", "/nothing"},
      {PLAN_DEVICE, "/dev/null", "/dev/null"},
      {PLAN_BIND, "/x", "/.x/..y/.../z."},
  };
  const char *environment[] = {"A=1", "B=", NULL};
  const char *program[] = {"/usr/bin/python3", "--", "--map", NULL};
  struct plan plan = {
      .isolation = ISOLATION_PROCESS,
      .host_uid = 100000,
      .host_gid = 4294967294u,
      .steps = steps,
      .step_count = G_N_ELEMENTS (steps),
      .environment = environment,
      .program = program,
  };
  struct plan back;
  struct fault fault = {0};
  char **arguments = plan_to_arguments (&plan);
  g_assert_cmpstr (arguments[0], ==, "adder-zygote");
  g_assert_cmpint (plan_from_arguments (&back, count_arguments (arguments), arguments, &fault), ==, 0);
  g_assert_cmpint (back.isolation, ==, ISOLATION_PROCESS);
  g_assert_cmpuint (back.host_uid, ==, 100000);
  g_assert_cmpuint (back.host_gid, ==, 4294967294u);
  g_assert_cmpuint (back.step_count, ==, G_N_ELEMENTS (steps));
  for (size_t i = 0; i < back.step_count; i++) {
    g_assert_cmpint (back.steps[i].kind, ==, steps[i].kind);
    g_assert_cmpstr (back.steps[i].source, ==, steps[i].source);
    g_assert_cmpstr (back.steps[i].target, ==, steps[i].target);
  }
  g_assert_true (g_strv_equal (back.environment, environment));
  g_assert_true (g_strv_equal (back.program, program));
  plan_clear (&back);
  free (arguments);
}

static void
test_plan_refused (void)
{
  static const struct {
    const char *arguments; /* words with a space between them */
    const char *step;
  } cases[] = {
      {"z", "--map is missing"},
      {"z -- /bin/true", "--map is missing"},
      {"z --map 1 2", "after -- comes the absolute path of a program"},
      {"z --map 1 2 --", "after -- comes the absolute path of a program"},
      {"z --map 1 2 -- true", "after -- comes the absolute path of a program"},
      {"z --map 1", "cannot understand argument 1: --map"},
      {"z --map -1 2 -- /x", "--map takes two ids, not -1 2"},
      {"z --map 1 4294967295 -- /x", "--map takes two ids, not 1 4294967295"},
      {"z --map 1 2 --step bind /usr -- /x", "a step's target must be absolute and without dots: --"},
      {"z --map 1 2 --step bind /usr usr -- /x", "a step's target must be absolute and without dots: usr"},
      {"z --map 1 2 --step bind /usr /a/../b -- /x",
       "a step's target must be absolute and without dots: /a/../b"},
      {"z --map 1 2 --step bind /usr /a/./b -- /x",
       "a step's target must be absolute and without dots: /a/./b"},
      {"z --map 1 2 --step bind  /usr -- /x", "a step bind needs a source"},
      {"z --map 1 2 --step link  /usr -- /x", "a step link needs a source"},
      {"z --map 1 2 --step bind /usr / -- /x", "a step's target must be absolute and without dots: /"},
      {"z --map 1 2 --step steal /usr /usr -- /x", "no such kind of step: steal"},
      {"z --map 1 2 --step bind", "cannot understand argument 4: --step"},
      {"z --map 1 2 --env A -- /x", "--env takes NAME=VALUE, not A"},
      {"z --map 1 2 --env =A -- /x", "--env takes NAME=VALUE, not =A"},
      {"z --isolation full --map 1 2 -- /x", "--isolation takes a kind, not full"},
      {"z --isolation auto --map 1 2 -- /x", "--isolation takes a kind, not auto"},
      {"z --network some --map 1 2 -- /x", "--network takes a kind, not some"},
      {"z --map  2 -- /x", "--map takes two ids, not  2"},
      {"z --isolation", "cannot understand argument 1: --isolation"},
      {"z --network", "cannot understand argument 1: --network"},
      {"z --env", "cannot understand argument 1: --env"},
      {"z --map 1 2 --verbose -- /x", "cannot understand argument 4: --verbose"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (GStrv) arguments = g_strsplit (cases[i].arguments, " ", -1);
    struct plan plan;
    struct fault fault = {0};
    g_assert_cmpint (plan_from_arguments (&plan, count_arguments (arguments), arguments, &fault), <, 0);
    g_assert_cmpstr (fault.step, ==, cases[i].step);
  }
}

/* ---- copies ---- */

/* A directory with the directories "from" and "to", and a descriptor of each. */
struct copy_bed {
  char *root, *from, *to;
  int from_fd, to_fd;
};

static void
copy_set_up (struct copy_bed *bed, gconstpointer data)
{
  (void)data;
  /* In memory, for there are thousands of files. */
  bed->root = g_mkdtemp (g_strdup ("/dev/shm/adder-copy-XXXXXX"));
  g_assert_nonnull (bed->root);
  bed->from = g_build_filename (bed->root, "from", NULL);
  bed->to = g_build_filename (bed->root, "to", NULL);
  g_assert_cmpint (g_mkdir (bed->from, 0755), ==, 0);
  g_assert_cmpint (g_mkdir (bed->to, 0755), ==, 0);
  bed->from_fd = open (bed->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bed->to_fd = open (bed->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
copy_tear_down (struct copy_bed *bed, gconstpointer data)
{
  (void)data;
  close (bed->from_fd);
  close (bed->to_fd);
  suite_remove (bed->root);
  g_free (bed->root);
  g_free (bed->from);
  g_free (bed->to);
}

/* Opened anew each time: what was listed once is read to its end. */
static int
copy_all (const struct copy_bed *bed, const char *name, struct fault *fault)
{
  autoclose int from = open (bed->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return copy_tree (from, bed->to_fd, name, fault);
}

/* Makes a file of SIZE bytes in FROM, which take no room. */
static void
make_file (const struct copy_bed *bed, const char *name, off_t size)
{
  autoclose int fd = openat (bed->from_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (ftruncate (fd, size), ==, 0);
}

static gboolean
is_there (const struct copy_bed *bed, const char *path)
{
  struct stat info;
  return fstatat (bed->to_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Files, directories and links come along, links as they are; other kinds of files do not. */
static void
test_copy_kinds (struct copy_bed *bed, gconstpointer data)
{
  (void)data;
  struct fault fault = {0};
  struct stat info;
  char text[64] = "";
  g_assert_cmpint (mkdirat (bed->from_fd, "below", 0700), ==, 0);
  make_file (bed, "below/file", 5);
  g_assert_cmpint (symlinkat ("/no/such/place", bed->from_fd, "link"), ==, 0);
  g_assert_cmpint (mkfifoat (bed->from_fd, "fifo", 0644), ==, 0);
  g_assert_cmpint (copy_all (bed, "copy", &fault), ==, 0);
  g_assert_cmpint (fstatat (bed->to_fd, "copy/below/file", &info, 0), ==, 0);
  g_assert_cmpint (info.st_size, ==, 5);
  g_assert_cmpint (info.st_mode & 0777, ==, 0444);
  g_assert_cmpint (readlinkat (bed->to_fd, "copy/link", text, sizeof text - 1), >, 0);
  g_assert_cmpstr (text, ==, "/no/such/place");
  g_assert_false (is_there (bed, "copy/fifo"));

  /* A second time it all is there already. */
  g_assert_cmpint (copy_all (bed, "copy", &fault), ==, -EEXIST);
  g_assert_cmpint (copy_file (bed->from_fd, bed->to_fd, "directory", &fault), ==, -EINVAL);
  g_assert_cmpstr (fault.step, ==, "the source of directory is not a regular file");
  autoclose int written = openat (bed->from_fd, "below/file", O_WRONLY | O_CLOEXEC);
  g_assert_cmpint (copy_file (written, bed->to_fd, "unread", &fault), ==, -EBADF);
  g_assert_cmpstr (fault.step, ==, "cannot read the source of unread");
  g_assert_false (is_there (bed, "unread"));
  g_assert_cmpint (copy_text ("text", bed->to_fd, "text", &fault), ==, 0);
  g_assert_cmpint (copy_text ("text", bed->to_fd, "text", &fault), ==, -EEXIST);
  g_assert_cmpstr (fault.step, ==, "cannot make the file text");
}

/* What the user may not read is left out. */
static void
test_copy_unreadable (struct copy_bed *bed, gconstpointer data)
{
  (void)data;
  struct fault fault = {0};
  make_file (bed, "open", 1);
  make_file (bed, "secret", 1);
  g_assert_cmpint (mkdirat (bed->from_fd, "private", 0700), ==, 0);
  make_file (bed, "private/file", 1);
  g_assert_cmpint (fchmodat (bed->from_fd, "secret", 0, 0), ==, 0);
  g_assert_cmpint (fchmodat (bed->from_fd, "private", 0, 0), ==, 0);
  g_assert_cmpint (fchmod (bed->to_fd, 0777), ==, 0);
  pid_t pid = fork ();
  if (pid == 0) {
    if (geteuid () == 0 && (setresgid (65534, 65534, 65534) < 0 || setresuid (65534, 65534, 65534) < 0))
      _exit (1);
    _exit (copy_tree (bed->from_fd, bed->to_fd, "copy", &fault) == 0 ? 0 : 2);
  }
  int status;
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  g_assert_true (is_there (bed, "copy/open"));
  g_assert_false (is_there (bed, "copy/secret"));
  g_assert_false (is_there (bed, "copy/private"));
  g_assert_cmpint (fchmodat (bed->from_fd, "private", 0700, 0), ==, 0);
}

/* A copy is bounded in each direction. */
static void
test_copy_limits (struct copy_bed *bed, gconstpointer data)
{
  (void)data;
  struct fault fault = {0};
  make_file (bed, "file", (1 << 20) + 1);
  autoclose int file = openat (bed->from_fd, "file", O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (copy_file (file, bed->to_fd, "one", &fault), ==, -EFBIG);
  g_assert_cmpstr (fault.step, ==, "the source of one is too large to be copied");
  make_file (bed, "file", 1 << 20);
  g_assert_cmpint (copy_file (file, bed->to_fd, "one", &fault), ==, 0);
  make_file (bed, "rest", (7 << 20) + 1);
  g_assert_cmpint (copy_all (bed, "bytes", &fault), ==, -EFBIG);
  make_file (bed, "rest", 7 << 20);
  g_assert_cmpint (copy_all (bed, "fits", &fault), ==, 0);

  /* 16 levels below the first. */
  g_assert_cmpint (unlinkat (bed->from_fd, "file", 0), ==, 0);
  g_assert_cmpint (unlinkat (bed->from_fd, "rest", 0), ==, 0);
  g_autoptr (GString) path = g_string_new ("d");
  for (int depth = 1; depth <= 17; depth++) {
    g_assert_cmpint (mkdirat (bed->from_fd, path->str, 0755), ==, 0);
    g_string_append (path, "/d");
    g_autofree char *name = g_strdup_printf ("deep-%d", depth);
    g_assert_cmpint (copy_all (bed, name, &fault), ==, depth <= 16 ? 0 : -E2BIG);
  }
  g_assert_cmpstr (fault.step, ==, "a directory to be copied is too deep at d");

  for (int i = 0; i < 4096; i++) {
    g_autofree char *name = g_strdup_printf ("%d", i);
    g_assert_cmpint (symlinkat ("x", bed->from_fd, name), ==, 0);
  }
  g_assert_cmpint (copy_all (bed, "many", &fault), ==, -E2BIG);
}

/* Runs CHECK in a child, which it may change as it likes. Returns what it returns. */
static int
in_child (int (*check) (void))
{
  int status;
  pid_t pid = fork ();
  if (pid == 0)
    _exit (check ());
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

/* ---- directories that are bind-mounted ---- */

/* What is mounted below a directory is named, as the kernel writes it; what is mounted on it or beside it is
 * no matter. */
static int
check_alone (void)
{
  struct fault fault = {0};
  g_autofree char *directory = g_strdup ("/dev/shm/adder a-XXXXXX");
  g_autofree char *below = NULL;
  if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
      !g_mkdtemp (directory))
    return 99;
  below = g_build_filename (directory, "b", NULL);
  g_autofree char *beside = g_build_filename (directory, "bb", NULL);
  if (g_mkdir (below, 0755) < 0 || g_mkdir (beside, 0755) < 0 || mount ("none", beside, "tmpfs", 0, NULL) < 0)
    return 98;
  autoclose int fd = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  autoclose int below_fd = open (below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  autoclose int beside_fd = open (beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int r = directory_check_alone (fd, &fault), beside_r = directory_check_alone (beside_fd, NULL);
  int below_r = directory_check_alone (below_fd, NULL);
  umount2 (beside, MNT_DETACH);
  g_rmdir (beside);
  g_rmdir (below);
  int after = directory_check_alone (fd, NULL);
  g_rmdir (directory);
  if (r != -EBUSY ||
      !g_str_has_prefix (fault.step, "another file system is mounted below the directory, at ") ||
      !strstr (fault.step, "/adder\\040a-") || !g_str_has_suffix (fault.step, "/bb"))
    return 1;
  return beside_r == 0 && below_r == 0 && after == 0 ? 0 : 2;
}

static void
test_directory_alone (void)
{
  struct fault fault = {0};
  g_assert_cmpint (directory_check_alone (-1, &fault), ==, -ENOENT);
  g_assert_cmpstr (fault.step, ==, "cannot look for mounts below the directory");
  autoclose int top = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (directory_check_alone (top, &fault), ==, -EBUSY);
  if (geteuid () == 0)
    g_assert_cmpint (in_child (check_alone), ==, 0);
}

/* ---- ids of a user namespace, in what stands for /proc ---- */

static void
test_map (void)
{
  static const struct {
    const char *file, *without, *text; /* in the order in which they are written */
  } rows[] = {
      {"setgroups", "cannot deny setgroups in /proc/17", "deny"},
      {"gid_map", "cannot map group id 8 in /proc/17", "4 8 1\n"},
      {"uid_map", "cannot map user id 7 in /proc/17", "3 7 1\n"},
  };
  struct fault fault = {0};
  g_autofree char *proc = g_dir_make_tmp ("adder-proc-XXXXXX", NULL);
  g_autofree char *process = g_build_filename (proc, "17", NULL);
  autoclose int fd = open (proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (namespaces_map (fd, "17", 3, 7, 4, 8, &fault), ==, -ENOENT);
  g_assert_cmpstr (fault.step, ==, "cannot open /proc/17");
  g_assert_cmpint (g_mkdir (process, 0755), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_build_filename (process, rows[i].file, NULL);
    g_assert_cmpint (namespaces_map (fd, "17", 3, 7, 4, 8, &fault), ==, -ENOENT);
    g_assert_cmpstr (fault.step, ==, rows[i].without);
    g_assert_true (g_file_set_contents (path, "", 0, NULL));
  }
  g_assert_cmpint (namespaces_map (fd, "17", 3, 7, 4, 8, &fault), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_build_filename (process, rows[i].file, NULL);
    g_autofree char *text = NULL;
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
    g_assert_cmpstr (text, ==, rows[i].text);
  }
  suite_remove (proc);
}

/* A procfs without the setting cannot forbid namespaces, and one that takes it in vain is found out. */
static int
check_seal (void)
{
  struct fault fault = {0};
  g_autofree char *proc = g_dir_make_tmp ("adder-proc-XXXXXX", NULL);
  g_autofree char *folder = g_build_filename (proc, "sys", "user", NULL);
  g_autofree char *file = g_build_filename (folder, "max_user_namespaces", NULL);
  autoclose int fd = open (proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int without = namespaces_seal (fd, &fault);
  int made = g_mkdir_with_parents (file, 0755);
  int directory = namespaces_seal (fd, &fault);
  gboolean said = g_str_equal (fault.step, "cannot forbid further user namespaces");
  g_rmdir (file);
  gboolean written = g_file_set_contents (file, "100", -1, NULL);
  int in_vain = namespaces_seal (fd, &fault);
  suite_remove (proc);
  if (without != 1 || made < 0 || directory != -EISDIR || !said || !written)
    return 1;
  return in_vain == -EPERM && g_str_equal (fault.step, "further user namespaces are still allowed") ? 0 : 2;
}

static void
test_seal (void)
{
  g_assert_cmpint (in_child (check_seal), ==, 0);
}

/* ---- landlock ---- */

/* Each version that the kernel has confines to the places that are named; one that need not be there may be
 * missing, and another may not. */
static int
check_landlock (void)
{
  static const struct landlock_rule rules[] = {{"/there/is/none", LANDLOCK_READ, true},
                                               {"/usr", LANDLOCK_READ, false}};
  static const struct landlock_rule missing[] = {{"/there/is/none", LANDLOCK_READ, false}};
  struct fault fault = {0};
  int most = landlock_abi ();
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return 99;
  if (landlock_confine (most, false, missing, G_N_ELEMENTS (missing), &fault) != -ENOENT ||
      !g_str_equal (fault.step, "cannot open /there/is/none for a landlock rule"))
    return 98;
  for (int abi = 1; abi <= most; abi++) {
    int status;
    pid_t pid = fork ();
    if (pid == 0) {
      if (landlock_confine (abi, false, rules, G_N_ELEMENTS (rules), &fault) < 0)
        _exit (1);
      autoclose int inside = open ("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      autoclose int outside = open ("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      _exit (inside >= 0 && outside < 0 && errno == EACCES ? 0 : 2);
    }
    if (waitpid (pid, &status, 0) != pid || status != 0)
      return abi;
  }
  return 0;
}

static void
test_landlock (void)
{
  if (landlock_abi () == 0) {
    g_test_skip ("no landlock");
    return;
  }
  g_assert_cmpint (in_child (check_landlock), ==, 0);
}

static void
test_limits (void)
{
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    g_assert_nonnull (row->name);
    g_assert_nonnull (row->text);
    g_assert_cmpuint (row->minimum, <=, row->standard);
    g_assert_cmpuint (row->standard, <=, row->maximum);
    g_assert_cmpint (limit_find (row->name), ==, i);
  }
  g_assert_cmpint (limit_find ("wall"), ==, -1);
  g_assert_cmpuint (limits_default ().value[LIMIT_PIDS], ==, limit_table[LIMIT_PIDS].standard);
  g_assert_cmpuint (limits_maximum ().value[LIMIT_PIDS], ==, limit_table[LIMIT_PIDS].maximum);
}

static int
check_rlimits (void)
{
  struct rlimit low = {100, 100}, now;
  struct limits limits = limits_maximum ();
  limits.value[LIMIT_CPU] = 1500;
  limits.value[LIMIT_FILE_SIZE] = 4096;
  if (setrlimit (RLIMIT_NOFILE, &low) < 0 || rlimits_apply (&limits, NULL) < 0)
    return 1;
  if (getrlimit (RLIMIT_CPU, &now) < 0 || now.rlim_cur != 3 || now.rlim_max != 3)
    return 2;
  if (getrlimit (RLIMIT_FSIZE, &now) < 0 || now.rlim_max != 4096)
    return 3;
  /* The host's own hard limit is lower than what was asked for. */
  if (getrlimit (RLIMIT_NOFILE, &now) < 0 || now.rlim_cur != 100 || now.rlim_max != 100)
    return 4;
  if (getrlimit (RLIMIT_CORE, &now) < 0 || now.rlim_max != 1)
    return 5;
  return 0;
}

static void
test_rlimits (void)
{
  g_assert_cmpint (in_child (check_rlimits), ==, 0);
}

static int
probe_reason (void)
{
  struct probe probe;
  probe_host (&probe, 0);
  return (int)probe.userns;
}

/* As a container's filter does it. */
static int
check_filtered (void)
{
  scmp_filter_ctx context = seccomp_init (SCMP_ACT_ALLOW);
  if (seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (unshare), 0) < 0 ||
      seccomp_rule_add (context, SCMP_ACT_ERRNO (ENOSYS), SCMP_SYS (clone3), 0) < 0 ||
      seccomp_load (context) < 0)
    return 99;
  seccomp_release (context);
  return probe_reason ();
}

static int
check_masked (void)
{
  struct probe probe;
  if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
      mount ("/dev/null", "/proc/version", NULL, MS_BIND, NULL) < 0)
    return 99;
  probe_host (&probe, 0);
  return probe.userns == PROBE_USERNS_OK && !probe.fresh_proc && probe.line[PROBE_PROC].remedy[0] ? 0 : 1;
}

/* A kernel that calls itself 2.6. */
static int
check_old_kernel (void)
{
  struct probe probe;
  if (personality (UNAME26) < 0)
    return 99;
  probe_host (&probe, 0);
  const struct probe_line *line = &probe.line[PROBE_KERNEL];
  if (strcmp (line->state, "old") != 0 || strcmp (line->remedy, "use Linux 5.12 or later") != 0)
    return 1;
  return probe.level <= 1 && !probe.huge_pages ? 0 : 2;
}

/* As a kernel that was started without it says. */
static int
check_landlock_off (void)
{
  struct probe probe;
  scmp_filter_ctx context = seccomp_init (SCMP_ACT_ALLOW);
  if (seccomp_rule_add (context, SCMP_ACT_ERRNO (EOPNOTSUPP), SCMP_SYS (landlock_create_ruleset), 0) < 0 ||
      seccomp_load (context) < 0)
    return 99;
  seccomp_release (context);
  probe_host (&probe, 0);
  const struct probe_line *line = &probe.line[PROBE_LANDLOCK];
  return probe.landlock_abi == 0 && strcmp (line->state, "off") == 0 && strstr (line->remedy, "lsm=") ? 0 : 1;
}

/* Kernels without huge pages, and with them switched off: another directory lies over that with the setting.
 */
static int
check_huge_pages (void)
{
  static const char directory[] = "/sys/kernel/mm/transparent_hugepage";
  struct probe probe;
  if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
      mount ("none", directory, "tmpfs", 0, NULL) < 0)
    return 99;
  probe_host (&probe, 0);
  if (probe.huge_pages || strcmp (probe.line[PROBE_HUGE_PAGES].state, "kernel") != 0)
    return 1;
  g_autofree char *path = g_build_filename (directory, "enabled", NULL);
  if (!g_file_set_contents (path, "always madvise [never]\n", -1, NULL))
    return 2;
  probe_host (&probe, 0);
  return !probe.huge_pages && strcmp (probe.line[PROBE_HUGE_PAGES].state, "off") == 0 ? 0 : 3;
}

static void
test_probe (void)
{
  struct probe probe;
  probe_host (&probe, 0);
  g_assert_cmpuint (probe.major, >=, 4);
  g_assert_cmpuint (probe.level, <=, 3);
  for (int i = 0; i < PROBE_FACTS; i++) {
    g_test_message ("%s: %s. %s", probe.line[i].name, probe.line[i].text, probe.line[i].remedy);
    g_assert_cmpstr (probe.line[i].text, !=, "");
    g_assert_true (!probe.line[i].good || !probe.line[i].remedy[0]);
  }
  /* Nothing of it is left: no child, no descriptor. */
  g_assert_cmpint (waitpid (-1, NULL, __WALL | WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);

  g_assert_cmpint (in_child (check_old_kernel), ==, 0);
  g_assert_cmpint (in_child (check_landlock_off), ==, 0);
  if (probe.userns != PROBE_USERNS_OK) {
    g_test_skip (probe.line[PROBE_USER_NAMESPACES].text);
    return;
  }
  g_assert_cmpint (in_child (check_filtered), ==, PROBE_USERNS_SECCOMP);
  if (geteuid () == 0 && strcmp (probe.line[PROBE_HUGE_PAGES].state, "kernel") != 0)
    g_assert_cmpint (in_child (check_huge_pages), ==, 0);
  if (geteuid () == 0 && probe.fresh_proc)
    g_assert_cmpint (in_child (check_masked), ==, 0);
}

UNIT_SUITE (sandbox_plan)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/there-and-back", test_plan_there_and_back);
  g_test_add_func ("/plan/refused", test_plan_refused);
  g_test_add ("/copy/kinds", struct copy_bed, NULL, copy_set_up, test_copy_kinds, copy_tear_down);
  g_test_add ("/copy/unreadable", struct copy_bed, NULL, copy_set_up, test_copy_unreadable, copy_tear_down);
  g_test_add ("/copy/limits", struct copy_bed, NULL, copy_set_up, test_copy_limits, copy_tear_down);
  g_test_add_func ("/directory/alone", test_directory_alone);
  g_test_add_func ("/namespaces/map", test_map);
  g_test_add_func ("/namespaces/seal", test_seal);
  g_test_add_func ("/landlock", test_landlock);
  g_test_add_func ("/limits/table", test_limits);
  g_test_add_func ("/rlimits", test_rlimits);
  g_test_add_func ("/probe", test_probe);
  return g_test_run ();
}
