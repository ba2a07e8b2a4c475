/* SPDX-License-Identifier: Apache-2.0 */
/* Each system call of a function made to fail, one at a time: the function says so with the call's errno, or
 * does with less where it may, and leaks nothing. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/frame.h"
#include "base/peer.h"
#include "base/syscalls.h"
#include "failing.h"
#include "runner/container.h"
#include "runner/join.h"
#include "runner/wire.h"
#include "sandbox/capabilities.h"
#include "sandbox/copy.h"
#include "sandbox/directory.h"
#include "sandbox/file.h"
#include "sandbox/filter.h"
#include "sandbox/host_memory.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"
#include "sandbox/memory.h"
#include "sandbox/mitigations.h"
#include "sandbox/namespaces.h"
#include "sandbox/network.h"
#include "sandbox/probe.h"
#include "sandbox/rlimits.h"
#include "sandbox/seccomp_build.h"
#include "suite.h"

#define SANDBOX_ID 100000 /* who a root daemon's sandbox is on the host */

/* What the attempts leave lies here. */
static char *folder;

static int
open_path (const char *path, int flags)
{
  int fd = open (path, flags | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
put (int directory, const char *name, mode_t mode)
{
  autoclose int fd = openat (directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  g_assert_cmpint (write (fd, "text", 4), ==, 4);
}

/* Two descriptors, or one and -1: what a function gets from its preparation. */
struct pair {
  int fd[2];
  char path[100];
};

static struct pair *
pair_new (int one, int other)
{
  struct pair *pair = g_new0 (struct pair, 1);
  *pair = (struct pair){.fd = {one, other}};
  return pair;
}

static void *
prepare_directory (void)
{
  char *path = g_build_filename (folder, "XXXXXX", NULL);
  g_assert_nonnull (g_mkdtemp (path));
  struct pair *pair = pair_new (open_path (path, O_RDONLY | O_DIRECTORY), -1);
  g_strlcpy (pair->path, path, sizeof pair->path);
  put (pair->fd[0], "from", 0600);
  return pair;
}

/* ---- descriptors ---- */

static int
list (void *data, struct fault *fault)
{
  (void)fault;
  DIR *found = fd_list (((struct pair *)data)->fd[0]);
  if (!found)
    return -errno;
  int count = 0;
  while (fd_next_name (found))
    count++;
  int err = errno;
  closedir (found);
  return err ? -err : count;
}

static int
rename_new (void *data, struct fault *fault)
{
  int directory = ((struct pair *)data)->fd[0];
  (void)fault;
  return fd_rename_new (directory, "from", "to");
}

static bool
is_renamed (void *data)
{
  int directory = ((struct pair *)data)->fd[0];
  return faccessat (directory, "to", F_OK, 0) == 0 && faccessat (directory, "from", F_OK, 0) < 0;
}

static void *
prepare_taken (void)
{
  struct pair *pair = prepare_directory ();
  put (pair->fd[0], "to", 0600);
  return pair;
}

static void *
prepare_folder (void)
{
  struct pair *pair = prepare_directory ();
  g_assert_cmpint (unlinkat (pair->fd[0], "from", 0), ==, 0);
  g_assert_cmpint (mkdirat (pair->fd[0], "from", 0700), ==, 0);
  return pair;
}

static void *
prepare_folder_taken (void)
{
  struct pair *pair = prepare_folder ();
  put (pair->fd[0], "to", 0600);
  return pair;
}

static void *
prepare_sockets (void)
{
  struct pair *pair = pair_new (-1, -1);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair->fd), ==, 0);
  return pair;
}

static int
write_and_read (void *data, struct fault *fault)
{
  struct pair *pair = data;
  char text[4];
  (void)fault;
  int r = fd_write_all (pair->fd[0], "text", 4);
  return r < 0 ? r : fd_read_all (pair->fd[1], text, 4);
}

/* A clock that does not block is read when its moment has come. */
static void *
prepare_clock (void)
{
  const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
  int fd = timerfd_create (CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  g_assert_cmpint (timerfd_settime (fd, 0, &soon, NULL), ==, 0);
  return pair_new (fd, -1);
}

static int
read_clock (void *data, struct fault *fault)
{
  uint64_t count;
  (void)fault;
  return fd_read_all (((struct pair *)data)->fd[0], &count, sizeof count);
}

static int
receive (struct pair *pair, int timeout_ms)
{
  struct frame_header header;
  char *text = NULL;
  int fd = -1;
  size_t count = 0;
  int r = frame_receive (pair->fd[1], 100, timeout_ms, &header, &text, &fd, 1, &count);
  free (text);
  fd_close (&fd);
  return r;
}

static int
frame (void *data, struct fault *fault)
{
  struct pair *pair = data;
  (void)fault;
  int r = frame_send (pair->fd[0], 1, "text", 4, &pair->fd[1], 1);
  return r < 0 ? r : receive (pair, 1000);
}

static int
silence (void *data, struct fault *fault)
{
  (void)fault;
  return receive (data, 1);
}

static void *
prepare_half_a_frame (void)
{
  struct pair *pair = prepare_sockets ();
  const struct frame_header header = {.kind = 1, .length = 10};
  g_assert_cmpint (fd_send (pair->fd[0], &header, sizeof header, &pair->fd[1], 1), ==, 0);
  return pair;
}

static int
look_at_peer (void *data, struct fault *fault)
{
  struct peer peer;
  (void)fault;
  int r = peer_look (((struct pair *)data)->fd[0], &peer);
  if (r < 0)
    return r;
  return peer.trusted && peer.near ? 0 : 1;
}

/* ---- trees ---- */

static void *
prepare_tree (void)
{
  struct pair *pair = prepare_directory ();
  g_assert_cmpint (mkdirat (pair->fd[0], "below", 0700), ==, 0);
  put (pair->fd[0], "below/deep", 0600);
  g_assert_cmpint (symlinkat ("from", pair->fd[0], "link"), ==, 0);
  g_assert_cmpint (mkfifoat (pair->fd[0], "pipe", 0600), ==, 0);
  pair->fd[1] = ((struct pair *)prepare_directory ())->fd[0];
  return pair;
}

static int
copy (void *data, struct fault *fault)
{
  struct pair *pair = data;
  return copy_tree (pair->fd[0], pair->fd[1], "copy", fault);
}

static bool
is_copied (void *data)
{
  struct stat info;
  return fstatat (((struct pair *)data)->fd[1], "copy/below/deep", &info, 0) == 0 && info.st_size == 4;
}

static int
text (void *data, struct fault *fault)
{
  return copy_text ("text", ((struct pair *)data)->fd[0], "made", fault);
}

/* ---- what is bind-mounted ---- */

static void *
prepare_file (mode_t mode)
{
  struct pair *pair = prepare_directory ();
  put (pair->fd[0], "bind", mode);
  pair->fd[1] = openat (pair->fd[0], "bind", O_RDONLY | O_CLOEXEC);
  return pair;
}

static void *
prepare_open_file (void)
{
  return prepare_file (0644);
}

static void *
prepare_private_file (void)
{
  return prepare_file (0600);
}

static int
bind_mount_file (struct pair *pair, gboolean assume, struct fault *fault)
{
  const struct file_wish wish = {.assume = assume, .sandbox_uid = SANDBOX_ID, .sandbox_gid = SANDBOX_ID};
  autoclose int mount_fd = -1;
  return file_detach (pair->fd[1], &wish, &mount_fd, fault);
}

static int
bind_mount_file_of_root (void *data, struct fault *fault)
{
  return bind_mount_file (data, TRUE, fault);
}

static int
bind_mount_file_of_user (void *data, struct fault *fault)
{
  return bind_mount_file (data, FALSE, fault);
}

static int
bind_mount_directory (struct pair *pair, const struct directory_wish *wish, struct fault *fault)
{
  autoclose int mount_fd = -1;
  return directory_detach (pair->fd[0], wish, &mount_fd, fault);
}

static int
look_below_directory (void *data, struct fault *fault)
{
  return directory_check_alone (((struct pair *)data)->fd[0], fault);
}

static int
bind_mount_directory_of_root (void *data, struct fault *fault)
{
  const struct directory_wish wish = {.map = TRUE,
                                      .ids = {.host_uid = 0,
                                              .sandbox_uid = SANDBOX_ID,
                                              .same_uid = IDMAP_NONE,
                                              .host_gid = 0,
                                              .sandbox_gid = SANDBOX_ID,
                                              .same_gid = IDMAP_NONE}};
  return bind_mount_directory (data, &wish, fault);
}

static int
bind_mount_directory_of_user (void *data, struct fault *fault)
{
  const struct directory_wish wish = {.writable = TRUE};
  return bind_mount_directory (data, &wish, fault);
}

/* ---- confinement ---- */

static int
enter_network (void *data, struct fault *fault)
{
  autoclose int fd = -1;
  (void)data;
  return network_enter (&fd, fault);
}

static int
limit (void *data, struct fault *fault)
{
  struct limits limits = limits_maximum ();
  (void)data;
  int r = rlimits_apply (&limits, fault);
  if (r == 0)
    r = rlimits_apply_processes (&limits, 10, fault);
  return r < 0 ? r : rlimits_apply_memory (&limits, 1 << 30, fault);
}

static int
count_tasks (void *data, struct fault *fault)
{
  (void)data, (void)fault;
  return rlimits_count_tasks () == 0;
}

static int
drop_capabilities (void *data, struct fault *fault)
{
  (void)data;
  return capabilities_drop (fault);
}

static bool
has_no_capability (void *data)
{
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct left[2] = {{0}};
  struct fault fault;
  (void)data;
  return sys_capget (&header, left) == 0 && !left[0].effective && !left[0].permitted && !left[1].permitted &&
         capabilities_check_bounds (&fault) == 0;
}

static int
enforce_landlock (void *data, struct fault *fault)
{
  static const struct landlock_rule own[] = {
      {"/", LANDLOCK_READ, false},
      {"/dev", LANDLOCK_WRITE | LANDLOCK_INERT, false},
  };
  (void)data;
  int abi = landlock_abi ();
  return abi <= 0 ? 1 : landlock_confine (abi, false, own, G_N_ELEMENTS (own), fault);
}

static bool
cannot_write (void *data)
{
  (void)data;
  return open (folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) < 0 && errno == EACCES;
}

static int
build_filter (void *data, struct fault *fault)
{
  const struct seccomp_host host = {.landlock_abi = 6};
  autoclose int fd = -1;
  (void)data;
  return seccomp_build (&host, &fd, fault);
}

static void *
prepare_filter (void)
{
  const struct seccomp_host host = {.landlock_abi = 6};
  struct pair *pair = pair_new (-1, -1);
  struct fault fault;
  g_assert_cmpint (seccomp_build (&host, &pair->fd[0], &fault), ==, 0);
  return pair;
}

static int
load_filter (void *data, struct fault *fault)
{
  struct filter_program program = {0};
  int r = filter_load (((struct pair *)data)->fd[0], &program, fault);
  free (program.filter);
  return r;
}

static int
look_at_namespaces (void *data, struct fault *fault)
{
  (void)data, (void)fault;
  struct namespaces_seen seen = namespaces_look ();
  gboolean all = seen.kernel[0] != '\0';
  for (int i = 0; i < NAMESPACES; i++)
    all = all && seen.inode[i] != 0;
  return all && namespaces_is_own (NAMESPACE_UTS) && namespaces_net_is_empty (true) ? 0 : 1;
}

static int
mitigate (void *data, struct fault *fault)
{
  (void)data, (void)fault;
  uint32_t held = mitigations_apply (~0U);
  g_assert_cmphex (held >> MITIGATIONS, ==, 0);
  return mitigations_ask_core_scheduling () < 0;
}

/* ---- the host ---- */

static int
measure (void *data, struct fault *fault)
{
  (void)data, (void)fault;
  uint64_t pages = (uint64_t)sysconf (_SC_PHYS_PAGES) * (uint64_t)sysconf (_SC_PAGESIZE);
  g_assert_cmpuint (host_memory_bytes (), <=, pages);
  return memory_data_bytes () == 0;
}

static int
look_at_host (void *data, struct fault *fault)
{
  struct probe probe;
  (void)data, (void)fault;
  probe_host (&probe, 0);
  for (int i = 0; i < PROBE_FACTS; i++) {
    g_assert_cmpstr (probe.line[i].text, !=, "");
    g_assert_true (probe.line[i].good || probe.line[i].remedy[0]);
  }
  g_assert_cmpuint (probe.level, <=, 3);
  return 0;
}

/* ---- containers ---- */

static int
hide (void *data, struct fault *fault)
{
  (void)data;
  int r = container_offer_to_oom_killer (fault);
  return r < 0 ? r : container_hide (fault);
}

/* A launcher that tells its first caller what it shall do. */
static void *
prepare_launcher (void)
{
  struct pair *pair = prepare_directory ();
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const struct wire_join join = {.version = WIRE_VERSION};
  g_strlcat (pair->path, "/socket", sizeof pair->path);
  g_strlcpy (address.sun_path, pair->path, sizeof address.sun_path);
  autoclose int listener = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (listener, (const struct sockaddr *)&address, sizeof address), ==, 0);
  g_assert_cmpint (listen (listener, 1), ==, 0);
  pid_t parent = getpid (), launcher = fork ();
  if (launcher == 0) {
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (getppid () != parent) /* which ended before it could be told */
      _exit (0);
    int caller = accept (listener, NULL, NULL);
    const int fds[WIRE_JOIN_FDS] = {listener, listener, listener};
    (void)fd_send (caller, &join, sizeof join, fds, WIRE_JOIN_FDS);
    _exit (0);
  }
  return pair;
}

static int
join (void *data, struct fault *fault)
{
  struct wire_join wire;
  return join_launcher (((struct pair *)data)->path, &wire, fault);
}

static const struct failing_row rows[] = {
    {.name = "list", .prepare = prepare_directory, .act = list, .expect = 1},
    {.name = "rename", .prepare = prepare_directory, .act = rename_new, .check = is_renamed},
    {.name = "rename/old",
     .prepare = prepare_directory,
     .act = rename_new,
     .check = is_renamed,
     .also = "renameat2",
     .also_err = EINVAL,
     .tolerated = " linkat "},
    {.name = "rename/old/taken",
     .prepare = prepare_taken,
     .act = rename_new,
     .also = "renameat2",
     .also_err = ENOSYS,
     .expect = -EEXIST,
     .tolerated = " linkat "},
    {.name = "rename/old/folder",
     .prepare = prepare_folder,
     .act = rename_new,
     .check = is_renamed,
     .also = "renameat2",
     .also_err = EINVAL,
     .tolerated = " linkat "},
    {.name = "rename/old/folder/taken",
     .prepare = prepare_folder_taken,
     .act = rename_new,
     .also = "renameat2",
     .also_err = EINVAL,
     .expect = -EEXIST,
     .tolerated = " linkat "},
    {.name = "whole", .prepare = prepare_sockets, .act = write_and_read},
    {.name = "whole/interrupted",
     .prepare = prepare_sockets,
     .act = write_and_read,
     .err = EINTR,
     .tolerated = " sendto read "},
    {.name = "whole/again",
     .prepare = prepare_sockets,
     .act = write_and_read,
     .err = EAGAIN,
     .tolerated = " sendto read "},
    {.name = "clock", .prepare = prepare_clock, .act = read_clock},
    {.name = "clock/interrupted",
     .prepare = prepare_clock,
     .act = read_clock,
     .err = EINTR,
     .tolerated = " read poll "},
    {.name = "frame", .prepare = prepare_sockets, .act = frame},
    {.name = "frame/interrupted",
     .prepare = prepare_sockets,
     .act = frame,
     .err = EINTR,
     .tolerated = " sendmsg recvmsg recvfrom "},
    {.name = "frame/again",
     .prepare = prepare_sockets,
     .act = frame,
     .err = EAGAIN,
     .tolerated = " sendmsg recvmsg recvfrom "},
    {.name = "frame/silence", .prepare = prepare_sockets, .act = silence, .expect = -ETIMEDOUT},
    {.name = "frame/silence/interrupted",
     .prepare = prepare_sockets,
     .act = silence,
     .expect = -ETIMEDOUT,
     .err = EINTR,
     .tolerated = " recvmsg poll "},
    {.name = "frame/half", .prepare = prepare_half_a_frame, .act = silence, .expect = -ETIMEDOUT},
    {.name = "peer", .prepare = prepare_sockets, .act = look_at_peer, .tolerated = "all"},
    {.name = "peer/old",
     .prepare = prepare_sockets,
     .act = look_at_peer,
     .err = ENOPROTOOPT,
     .tolerated = "all"},

    {.name = "copy", .prepare = prepare_tree, .act = copy, .check = is_copied},
    {.name = "copy/gone",
     .prepare = prepare_tree,
     .act = copy,
     .err = ENOENT,
     .tolerated = " newfstatat openat getdents64 "},
    {.name = "copy/interrupted",
     .prepare = prepare_tree,
     .act = copy,
     .check = is_copied,
     .err = EINTR,
     .tolerated = " pread64 sendto write "},
    {.name = "copy/text", .prepare = prepare_directory, .act = text},
    {.name = "bind-mount/file/open",
     .prepare = prepare_open_file,
     .act = bind_mount_file_of_root,
     .other = {EINVAL, ESTALE},
     .root = true},
    {.name = "bind-mount/file/private",
     .prepare = prepare_private_file,
     .act = bind_mount_file_of_root,
     .other = {EINVAL, ESTALE},
     .tolerated = " read ",
     .root = true},
    {.name = "bind-mount/file/user",
     .prepare = prepare_open_file,
     .act = bind_mount_file_of_user,
     .other = {EINVAL, ESTALE, EPERM},
     .tolerated = " prctl "},
    {.name = "bind-mount/directory/alone",
     .prepare = prepare_directory,
     .act = look_below_directory,
     .tolerated = " newfstatat "},
    {.name = "bind-mount/directory/map",
     .prepare = prepare_directory,
     .act = bind_mount_directory_of_root,
     .other = {ENOTDIR},
     .tolerated = " newfstatat read ",
     .root = true},
    {.name = "bind-mount/directory/user",
     .prepare = prepare_directory,
     .act = bind_mount_directory_of_user,
     .other = {ENOTDIR},
     .tolerated = " newfstatat read "},
    {.name = "bind-mount/directory/not-seen",
     .prepare = prepare_directory,
     .act = bind_mount_directory_of_user,
     .err = EINVAL,
     .other = {ENOTDIR, EIO},
     .tolerated = " newfstatat read "},

    {.name = "network", .act = enter_network, .root = true},
    {.name = "rlimits", .act = limit},
    {.name = "rlimits/tasks", .act = count_tasks, .tolerated = "all"},
    {.name = "capabilities",
     .act = drop_capabilities,
     .other = {EPERM},
     .check = has_no_capability,
     .tolerated = " prctl ",
     .root = true},
    {.name = "landlock",
     .act = enforce_landlock,
     .check = cannot_write,
     .tolerated = " landlock_create_ruleset "},
    {.name = "filter/build", .act = build_filter, .other = {ECANCELED}, .tolerated = " seccomp prctl "},
    {.name = "filter/load", .prepare = prepare_filter, .act = load_filter},
    {.name = "namespaces", .act = look_at_namespaces, .tolerated = "all"},
    {.name = "mitigations", .act = mitigate, .tolerated = "all"},

    {.name = "memory", .act = measure, .tolerated = "all"},
    {.name = "probe", .act = look_at_host, .tolerated = "all"},
    {.name = "probe/refused", .act = look_at_host, .err = ENOSYS, .tolerated = "all"},

    {.name = "container/hide", .act = hide},
    {.name = "container/join", .prepare = prepare_launcher, .act = join, .other = {EBADF}, .ends = true},
};

UNIT_SUITE (sandbox_failing)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("adder-failing-XXXXXX", NULL);
  g_assert_nonnull (folder);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    failing_add (&rows[i]);
  int status = g_test_run ();
  suite_remove (folder);
  g_free (folder);
  return status;
}
