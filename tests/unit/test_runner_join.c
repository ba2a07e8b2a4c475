/* SPDX-License-Identifier: Apache-2.0 */
/* runner/join.h against launchers of all kinds, and what runner/container.h refuses outside of a container
 * and in one that lacks something. Each case is a process of its own, for joining closes every descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mount.h"
#include "runner/container.h"
#include "runner/join.h"
#include "runner/wire.h"
#include "sandbox/capabilities.h"
#include "suite.h"

#define MAX_FDS 5

/* What a launcher sends. */
struct message {
  size_t size, fds;
  uint32_t version;
  int answer; /* of join_launcher */
};

static int
listen_at (const char *path)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  g_assert_cmpint (bind (fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fd, 1), ==, 0);
  return fd;
}

static gboolean
is_same (int fd, const struct stat *expected)
{
  struct stat info;
  return fstat (fd, &info) == 0 && info.st_ino == expected->st_ino && info.st_dev == expected->st_dev;
}

/* The zygote's side. EXPECTED are what descriptors 0 to 4 shall be; where there is one more, that is. */
static int
join_and_look (const char *path, const struct message *message, const struct stat *expected)
{
  struct fault fault = {0};
  struct wire_join join;
  /* Something is open already: what a runtime left. */
  int left = dup (STDERR_FILENO), high = fcntl (STDERR_FILENO, F_DUPFD, 200);
  int r = join_launcher (path, &join, &fault);
  if (r != message->answer)
    return 1;
  if (r < 0)
    return fault.err == -r && fault.step[0] ? 0 : 2;
  if (join.outside.inode[NAMESPACE_PID] != 4711)
    return 3;
  for (int fd = 0; fd <= WIRE_LAUNCH_FILTER; fd++)
    if (!is_same (fd, &expected[fd]))
      return 10 + fd;
  for (int fd = WIRE_LAUNCH_FILTER + 1; fd < 300; fd++)
    if (fcntl (fd, F_GETFD) >= 0)
      return 4;
  return left < 0 || high < 0 ? 5 : 0;
}

static void
test_join (void)
{
  static const struct message messages[] = {
      {sizeof (struct wire_join), WIRE_JOIN_FDS, WIRE_VERSION, 0},
      {sizeof (struct wire_join), WIRE_JOIN_FDS, WIRE_VERSION + 1, -EPROTO},
      {sizeof (struct wire_join), WIRE_JOIN_FDS - 1, WIRE_VERSION, -EPROTO},
      {sizeof (struct wire_join), 0, WIRE_VERSION, -EPROTO},
      {sizeof (struct wire_join), WIRE_JOIN_FDS + 1, WIRE_VERSION, -EMSGSIZE},
      {sizeof (struct wire_join) - 1, WIRE_JOIN_FDS, WIRE_VERSION, -EPROTO},
      {sizeof (struct wire_join) + 1, WIRE_JOIN_FDS, WIRE_VERSION, -EMSGSIZE},
      {1, WIRE_JOIN_FDS, WIRE_VERSION, -EPROTO},
      {0, 0, 0, -EPROTO}, /* it hangs up */
  };
  g_autofree char *directory = g_dir_make_tmp ("adder-join-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (directory, "join", NULL);
  autoclose int listening = listen_at (path);
  for (gsize i = 0; i < G_N_ELEMENTS (messages); i++) {
    const struct message *message = &messages[i];
    int fds[MAX_FDS], null = open ("/dev/null", O_RDWR | O_CLOEXEC);
    struct stat expected[WIRE_LAUNCH_FILTER + 1], info[MAX_FDS];
    for (int k = 0; k < MAX_FDS; k++) {
      fds[k] = memfd_create ("sent", MFD_CLOEXEC);
      g_assert_cmpint (fstat (fds[k], &info[k]), ==, 0);
    }
    g_assert_cmpint (fstat (null, &expected[0]), ==, 0);
    expected[1] = expected[2] = info[WIRE_JOIN_MESSAGES];
    expected[WIRE_LAUNCH_CONTROL] = info[WIRE_JOIN_CONTROL];
    expected[WIRE_LAUNCH_FILTER] = info[WIRE_JOIN_FILTER];

    pid_t pid = fork ();
    if (pid == 0)
      _exit (join_and_look (path, message, expected));
    autoclose int socket = accept4 (listening, NULL, NULL, SOCK_CLOEXEC);
    char text[sizeof (struct wire_join) + 1] = "";
    struct wire_join join = {.version = message->version};
    join.outside.inode[NAMESPACE_PID] = 4711;
    memcpy (text, &join, sizeof join);
    if (message->size > 0)
      g_assert_cmpint (fd_send (socket, text, message->size, fds, message->fds), ==, 0);
    fd_close (&socket);
    int status;
    g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
    if (status != 0)
      g_error ("message %zu: status %#x", i, (unsigned)status);
    for (int k = 0; k < MAX_FDS; k++)
      fd_close (&fds[k]);
    fd_close (&null);
  }
  g_unlink (path);
  g_rmdir (directory);
}

static int
in_child (int (*call) (void))
{
  pid_t pid = fork ();
  if (pid == 0)
    _exit (call ());
  int status;
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static int
join_nobody (void)
{
  struct fault fault = {0};
  struct wire_join join;
  char path[200];
  memset (path, 'x', sizeof path - 1);
  path[sizeof path - 1] = '\0';
  if (join_launcher ("/there/is/none", &join, &fault) != -ENOENT || !strstr (fault.step, "/there/is/none"))
    return 1;
  return join_launcher (path, &join, &fault) == -ENAMETOOLONG ? 0 : 2;
}

static void
test_nobody (void)
{
  g_assert_cmpint (in_child (join_nobody), ==, 0);
}

static int
verify (void)
{
  struct fault fault = {0};
  struct namespaces_seen here = namespaces_look ();
  uint32_t mechanisms = 0;
  if (geteuid () == 0) {
    if (container_verify (&here, &mechanisms, &fault) != -EPERM || !strstr (fault.step, "runs as root"))
      return 1;
    if (setresgid (65534, 65534, 65534) < 0 || setresuid (65534, 65534, 65534) < 0)
      return 2;
  }
  /* The host's tree, and that of a stranger's namespace where it can be written to or other processes are
   * there. */
  struct namespaces_seen other = here;
  for (int i = 0; i < NAMESPACES; i++)
    other.inode[i]++;
  if (container_verify (&here, &mechanisms, &fault) != -EPERM || !strstr (fault.step, "file tree"))
    return 3;
  if (container_verify (&other, &mechanisms, &fault) != -EPERM)
    return 4;
  return mechanisms & WIRE_PID_NAMESPACE ? 5 : 0;
}

static void
test_verify (void)
{
  g_assert_cmpint (in_child (verify), ==, 0);
}

/* ---- in a container, as far as namespaces make one ---- */

#define LACKING 77 /* an exit status: the host has no user namespaces, or masks /proc */

/* Leaves all namespaces but that of processes, for which the next child does, as an ordinary user. */
static gboolean
leave (void)
{
  uid_t uid = geteuid ();
  gid_t gid = getegid ();
  autoclose int proc = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return unshare (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |
                  CLONE_NEWNET) == 0 &&
         namespaces_map (proc, "self", 1000, uid, 1000, gid, NULL) == 0 &&
         mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount ("none", "/run", "tmpfs", 0, NULL) == 0;
}

static int
make_workspace (void)
{
  struct fault fault = {0};
  if (!leave ())
    return LACKING;
  if (container_make_workspace (&fault) != -ENOENT || !strstr (fault.step, "cannot open /run/workspace"))
    return 1;
  /* What was bind-mounted is there already, and so is all of it a second time. */
  if (g_mkdir_with_parents ("/run/workspace/work", 0755) < 0 || container_make_workspace (&fault) < 0 ||
      container_make_workspace (&fault) < 0)
    return 2;
  if (!g_file_test ("/run/workspace/tmp/output", G_FILE_TEST_IS_DIR))
    return 3;
  if (g_rmdir ("/run/workspace/tmp/output") < 0 || g_rmdir ("/run/workspace/tmp") < 0 ||
      !g_file_set_contents ("/run/workspace/tmp", "", 0, NULL))
    return 4;
  return container_make_workspace (&fault) == -ENOTDIR &&
                 strcmp (fault.step, "cannot make tmp/output in /run/workspace") == 0
             ? 0
             : 5;
}

/* Whether verifying ends with STEP, or well when that is NULL, and finds MECHANISMS, and no LACKING_ONES. */
static gboolean
verifies (const struct namespaces_seen *outside, const char *step, uint32_t mechanisms, uint32_t lacking_ones)
{
  struct fault fault = {0};
  uint32_t found = 0;
  int r = container_verify (outside, &found, &fault);
  if (step ? r == -EPERM && strcmp (fault.step, step) == 0 : r == 0)
    return (found & mechanisms) == mechanisms && !(found & lacking_ones);
  fprintf (stderr, "%s, and not %s\n", fault.step, step ? step : "fine");
  return FALSE;
}

static gboolean
raise_loopback (void)
{
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  autoclose int fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return ioctl (fd, SIOCSIFFLAGS, &request) == 0;
}

/* As pid 1. Each step is one that an engine may have left out. */
static int
verify_steps (const struct namespaces_seen *outside)
{
  static const struct {
    enum namespace shared;
    const char *step;
    uint32_t lacking;
  } rows[] = {
      {NAMESPACE_MOUNT, "the container's file tree is shared or can be written to", WIRE_MOUNT_NAMESPACE},
      {NAMESPACE_PID, "the container's processes are shared", WIRE_PID_NAMESPACE},
      {NAMESPACE_NET, "the container's network is shared or leads somewhere", WIRE_NET_NAMESPACE},
      {NAMESPACE_IPC, "the container's ipc objects are shared", WIRE_IPC_NAMESPACE},
      {NAMESPACE_UTS, NULL, WIRE_UTS_NAMESPACE},
      {NAMESPACE_CGROUP, NULL, WIRE_CGROUP_NAMESPACE},
  };
  static const uint32_t all = WIRE_MOUNT_NAMESPACE | WIRE_PID_NAMESPACE | WIRE_FRESH_PROC |
                              WIRE_NET_NAMESPACE | WIRE_IPC_NAMESPACE | WIRE_UTS_NAMESPACE |
                              WIRE_CGROUP_NAMESPACE;
  struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
  struct fault fault = {0};
  if (!verifies (outside, "the container's file tree is shared or can be written to", 0, all))
    return 1;
  if (sys_mount_setattr (AT_FDCWD, "/", 0, &read_only, sizeof read_only) < 0 ||
      !verifies (outside, "the container's processes are shared", WIRE_MOUNT_NAMESPACE, WIRE_PID_NAMESPACE))
    return 2;
  if (mount ("proc", "/proc", "proc", 0, NULL) < 0)
    return LACKING;
  if (!verifies (outside, "capability 0 is left in the bounding set", all, 0))
    return 3;
  /* The loopback device may be up in a container, and in a zygote may not. */
  if (!namespaces_net_is_empty (false) || !raise_loopback () || namespaces_net_is_empty (false))
    return 4;
  if (capabilities_drop (&fault) < 0 || !verifies (outside, NULL, all, 0))
    return 5;
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct namespaces_seen shared = *outside;
    shared.inode[rows[i].shared] = namespaces_look ().inode[rows[i].shared];
    if (!verifies (&shared, rows[i].step, rows[i].step ? 0 : all & ~rows[i].lacking, rows[i].lacking))
      return 10 + (int)i;
  }
  return 0;
}

static int
verify_contained (void)
{
  struct namespaces_seen outside = namespaces_look ();
  if (!leave ())
    return LACKING;
  pid_t pid = fork ();
  if (pid == 0)
    _exit (verify_steps (&outside));
  int status;
  return waitpid (pid, &status, 0) == pid && WIFEXITED (status) ? WEXITSTATUS (status) : 6;
}

static void
test_contained (gconstpointer call)
{
  int status = in_child ((int (*) (void))call);
  if (status == LACKING)
    g_test_skip ("no user namespaces, or no new /proc in one");
  else
    g_assert_cmpint (status, ==, 0);
}

/* What a child of the zygote, which has the same user id, could have of it. */
static int
hide (void)
{
  struct fault fault = {0};
  if (geteuid () == 0 && (setresgid (65534, 65534, 65534) < 0 || setresuid (65534, 65534, 65534) < 0))
    return 1;
  if (container_hide (&fault) < 0)
    return 2;
  pid_t pid = fork ();
  if (pid == 0) {
    char path[64];
    static const char *const files[] = {"mem", "environ", "maps", "oom_score_adj"};
    for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
      g_snprintf (path, sizeof path, "/proc/%d/%s", (int)getppid (), files[i]);
      if (open (path, O_RDWR | O_CLOEXEC) >= 0 || errno != EACCES)
        _exit (10 + (int)i);
    }
    if (container_offer_to_oom_killer (&fault) < 0)
      _exit (3);
    g_autofree char *text = NULL;
    _exit (g_file_get_contents ("/proc/self/oom_score_adj", &text, NULL, NULL) && atoi (text) == 1000 ? 0
                                                                                                      : 4);
  }
  int status;
  kill (getpid (), SIGTERM);
  kill (getpid (), SIGUSR1);
  return waitpid (pid, &status, 0) == pid && WIFEXITED (status) ? WEXITSTATUS (status) : 5;
}

static void
test_hide (void)
{
  g_assert_cmpint (in_child (hide), ==, 0);
}

UNIT_SUITE (runner_join)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/join/messages", test_join);
  g_test_add_func ("/join/nobody", test_nobody);
  g_test_add_func ("/container/verify", test_verify);
  g_test_add_data_func ("/container/workspace", make_workspace, test_contained);
  g_test_add_data_func ("/container/verify-contained", verify_contained, test_contained);
  g_test_add_func ("/container/hide", test_hide);
  return g_test_run ();
}
