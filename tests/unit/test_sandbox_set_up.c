/* SPDX-License-Identifier: Apache-2.0 */
/* Each system call of a set-up made to fail, one at a time: of the launcher, the zygote and the sandbox of a
 * shell, with this program in the daemon's place. What must come of it is a sandbox in which a command runs,
 * or a sentence that names the step; and nothing may be left that the launcher started. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/frame.h"
#include "base/mount.h"
#include "failing.h"
#include "runner/wire.h"
#include "runner_copy.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp_build.h"
#include "suite.h"

#define SANDBOX_ID 100000 /* what a root daemon's sandboxes are on the host */
#define TIMEOUT_MS 20000
#define CALLS_MAX  2000
#define LOADER     127 /* how a program ends whose libraries cannot be loaded */

static char *runner, *folder;

/* What is wanted of the sandbox. */
struct wish {
  const char *name;
  uint32_t flags;
  gboolean file, own_path;
  gboolean root;       /* only root can bind-mount like this */
  gboolean from_start; /* the launcher's calls and the zygote's fail as well, not the sandbox's alone */
};

/* One set-up. */
struct set_up {
  const struct wish *wish;
  char **arguments;
  int filter_fd, init_fd, control[2], message[2];
  gint idle;
  int zygote_fd; /* -1: none */
  /* What came of it: a sandbox, in which a command works, a step that failed, or the end of a process. */
  gboolean ready, works;
  struct fault fault;
  const char *ended;
};

/* ---- the launcher ---- */

static void
fill_plan (struct plan *plan, struct plan_step *steps)
{
  static const char *environment[] = {"LC_ALL=C.UTF-8", NULL};
  static const char *program[] = {"/runner/adder-shell", "--isolation", "namespaces", "--shell", "/bin/sh",
                                  "--runnable",          "/usr",        NULL};
  static const char *const names[] = {"/bin", "/lib", "/lib64", "/sbin"};
  static const char *const links[] = {"usr/bin", "usr/lib", "usr/lib64", "usr/sbin"};
  size_t n = 0;
  steps[n++] = (struct plan_step){PLAN_BIND, "/usr", "/usr"};
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    gboolean link = g_file_test (names[i], G_FILE_TEST_IS_SYMLINK);
    steps[n++] = (struct plan_step){link ? PLAN_LINK : PLAN_BIND_MAYBE, link ? links[i] : names[i], names[i]};
  }
  steps[n++] = (struct plan_step){PLAN_COPY, "/etc/ld.so.cache", "/etc/ld.so.cache"};
  steps[n++] = (struct plan_step){PLAN_TREE, folder, "/etc/copied/deep"};
  steps[n++] = (struct plan_step){PLAN_BIND_MAYBE, "/there/is/no/such/directory", "/nothing"};
  steps[n++] = (struct plan_step){PLAN_DEVICE, "/dev/null", "/dev/null"};
  steps[n++] = (struct plan_step){PLAN_LINK, "/proc/self/fd", "/dev/fd"};
  steps[n++] = (struct plan_step){PLAN_BIND_REAL, runner, "/runner"};
  steps[n++] = (struct plan_step){PLAN_TEXT, "text", "/etc/text"};
  *plan = (struct plan){
      .isolation = ISOLATION_NAMESPACES,
      .host_uid = geteuid () == 0 ? SANDBOX_ID : geteuid (),
      .host_gid = geteuid () == 0 ? SANDBOX_ID : getegid (),
      .steps = steps,
      .step_count = n,
      .environment = environment,
      .program = program,
  };
}

static void
settle (void *data)
{
  const struct set_up *set_up = data;
  int wanted[] = {set_up->message[1], set_up->control[1], set_up->filter_fd, set_up->init_fd};
  for (int i = 0; i < 4; i++)
    wanted[i] = fcntl (wanted[i], F_DUPFD_CLOEXEC, 64);
  for (int i = 0; i < 4; i++)
    g_assert_cmpint (dup2 (wanted[i], STDERR_FILENO + i), ==, STDERR_FILENO + i);
}

static void
launch (void *data)
{
  const struct set_up *set_up = data;
  g_autofree char *program = g_build_filename (runner, "adder-zygote", NULL);
  char *no_environment[] = {NULL};
  execve (program, set_up->arguments, no_environment);
  _exit (LOADER);
}

/* ---- the daemon's part ---- */

static void
await (int fd)
{
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  g_assert_cmpint (poll (&ready, 1, TIMEOUT_MS), ==, 1);
}

/* Whether a message of KIND comes, with a descriptor where RET_FDS has room for some. */
static gboolean
hear (struct set_up *set_up, uint32_t kind, int *ret_fds, size_t most)
{
  union {
    struct wire_control_header header;
    struct wire_refused refused;
    char bytes[4096];
  } message = {0};
  size_t count = 0;
  await (set_up->control[0]);
  ssize_t got = fd_receive (set_up->control[0], &message, sizeof message, ret_fds, most, &count);
  if (got <= 0) {
    set_up->ended = "zygote";
    return FALSE;
  }
  if (message.header.kind == WIRE_REFUSED)
    set_up->fault = message.refused.fault;
  return message.header.kind == kind;
}

static int
mount_of (const char *path)
{
  int fd = sys_open_tree (AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  return fd;
}

/* Asks for a sandbox; *RET_SANDBOX is our end of its socket. */
static void
ask (struct set_up *set_up, int *ret_sandbox, int *ret_exit)
{
  const struct wish *wish = set_up->wish;
  struct wire_spawn spawn = {
      .header = {.kind = WIRE_SPAWN, .version = WIRE_VERSION},
      .flags = wish->flags,
      .limits = limits_maximum (),
  };
  int pair[2], end[2], fds[WIRE_SPAWN_FDS];
  size_t count = 0;
  spawn.limits.value[LIMIT_WORKSPACE] = spawn.limits.value[LIMIT_SHM] = 1 << 20;
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  g_assert_cmpint (pipe2 (end, O_CLOEXEC), ==, 0);
  fds[count++] = pair[1];
  fds[count++] = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  fds[count++] = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  fds[count++] = end[1];
  g_autofree char *directory = g_build_filename (folder, "bind", NULL);
  g_autofree char *file = g_build_filename (folder, "file", NULL);
  if (wish->flags & WIRE_SPAWN_BIND)
    fds[count++] = mount_of (directory);
  if (wish->own_path)
    g_strlcpy (spawn.own_path, directory, sizeof spawn.own_path);
  if (wish->file) {
    fds[count++] = mount_of (file);
    g_strlcpy (spawn.files[0], "tmp/below/file", sizeof spawn.files[0]);
  }
  /* A zygote whose wait for this failed may have ended already, which the next message would tell. */
  int r = fd_send (set_up->control[0], &spawn, sizeof spawn, fds, count);
  g_assert_true (r == 0 || r == -EPIPE);
  for (size_t i = 0; i < count; i++)
    close (fds[i]);
  *ret_sandbox = pair[0];
  *ret_exit = end[0];
}

/* Whether a command that is run in the sandbox ends well. */
static gboolean
runs (int sandbox)
{
  static const char command[] = "test -d /work && echo x > /tmp/x";
  g_autoptr (GByteArray) request = g_byte_array_new ();
  const struct wire_command header = {0};
  struct frame_header got;
  char *data = NULL;
  g_byte_array_append (request, (const guint8 *)&header, sizeof header);
  g_byte_array_append (request, (const guint8 *)command, sizeof command);
  if (frame_send (sandbox, WIRE_COMMAND, request->data, request->len, NULL, 0) < 0 ||
      frame_receive (sandbox, WIRE_RESULT_MAX, TIMEOUT_MS, &got, &data, NULL, 0, NULL) < 0)
    return FALSE;
  gboolean well = got.kind == WIRE_RESULT && strstr (data, "\"exit_code\": 0,");
  if (!well)
    g_test_message ("%s", data);
  free (data);
  return well;
}

static void
hear_sandbox (struct set_up *set_up, int sandbox, int end)
{
  struct frame_header header;
  struct wire_exit report = {0};
  char *data = NULL;
  int listener = -1;
  size_t count = 0;
  int r;
  do {
    free (data);
    data = NULL;
    r = frame_receive (sandbox, 4096, TIMEOUT_MS, &header, &data, &listener, 1, &count);
    if (count > 0)
      fd_close (&listener);
  } while (r == 0 && header.kind == WIRE_LISTENER);
  g_atomic_int_set (&set_up->idle, 1);
  if (r == 0 && header.kind == WIRE_FAULT) {
    memcpy (&set_up->fault, data, sizeof set_up->fault);
  } else if (r == 0) {
    g_assert_cmpuint (header.kind, ==, WIRE_READY);
    set_up->ready = TRUE;
    set_up->works = runs (sandbox);
  } else {
    /* It has ended, or its zygote has, which would have told how. */
    await (end);
    if (fd_read_all (end, &report, sizeof report) < 0 || report.status != 0)
      set_up->ended = "sandbox";
  }
  free (data);
}

static void
be_daemon (struct set_up *set_up)
{
  int sandbox = -1, end = -1, spawned[WIRE_SPAWNED_FDS] = {-1, -1, -1, -1};
  if (!hear (set_up, WIRE_LAUNCHED, &set_up->zygote_fd, 1) || !hear (set_up, WIRE_SERVING, NULL, 0))
    return;
  g_atomic_int_set (&set_up->idle, 0);
  ask (set_up, &sandbox, &end);
  if (hear (set_up, WIRE_SPAWNED, spawned, WIRE_SPAWNED_FDS))
    hear_sandbox (set_up, sandbox, end);
  g_atomic_int_set (&set_up->idle, 1);
  for (size_t i = 0; i < G_N_ELEMENTS (spawned); i++)
    fd_close (&spawned[i]);
  fd_close (&sandbox);
  fd_close (&end);
}

/* ---- the sweep ---- */

/* Of the launcher, of the zygote and of the init. */
#define BEGINNINGS " dup2 getdents64 prctl "

/* Calls after whose failure the sandbox may work all the same: a process's name, a colon, the call. */
static const char *const tolerated[] = {
    /* A session of its own, and what is offered to the kernel when memory is short. */
    "adder-zygote:setsid",
    "adder-zygote:openat",
    "adder-zygote:sendto",
    "adder-zygote:write",
    "adder-shell:prlimit64",
    /* What the zygote finds out of the host and of itself, and cannot then say of its sandboxes. */
    "adder-shell:uname",
    "adder-shell:openat",
    "adder-shell:newfstatat",
    "adder-shell:ioctl",
    "adder-shell:socket",
    "adder-shell:bind",
    "adder-shell:sendto",
    "adder-shell:recvmsg",
    "adder-shell:landlock_create_ruleset",
    /* Names of processes. */
    "adder-init:prctl",
    "adder-shell:prctl",
    /* Mitigations; ambient capabilities, which are looked at one by one. */
    "adder-run:prctl",
    /* What lies beside the work directory, on its own path; what landlock would let a command be started
     * from; whether the zygote's tree is a session's already. */
    "adder-run:openat",
    "adder-run:openat2",
    "adder-run:newfstatat",
    /* How much memory it has; what it does when it is ready, before we know. */
    "adder-run:read",
    "adder-run:recvmsg",
    "adder-run:poll",
    NULL,
};

/* What tests/coverage.c does when a tree is whole, and when it is left. */
static const char *const tolerated_beside[] = {
    "adder-zygote:open_tree",  "adder-zygote:mkdirat",
    "adder-zygote:move_mount", "adder-zygote:umount2",
    "adder-shell:umount2",     "adder-run:umount2",
    "adder-run:open_tree",     "adder-run:mkdirat",
    "adder-run:move_mount",    NULL,
};

static gboolean
is_tolerated (const char *call)
{
  return g_strv_contains (tolerated, call) ||
         (failing_is_counted () && g_strv_contains (tolerated_beside, call));
}

static void
set_up_once (struct set_up *set_up, guint nth, struct failing *failing)
{
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, set_up->control), ==, 0);
  g_assert_cmpint (pipe2 (set_up->message, O_CLOEXEC), ==, 0);
  set_up->idle = !set_up->wish->from_start;
  set_up->zygote_fd = -1;
  *failing = (struct failing){.nth = nth, .err = EIO, .beginnings = BEGINNINGS, .idle = &set_up->idle};
  failing_start (failing, settle, launch, set_up);
  close (set_up->control[1]);
  close (set_up->message[1]);
  be_daemon (set_up);
  close (set_up->control[0]);
  int zygote = 0, status = failing_end (failing); /* none that descends from it is left */
  while (waitpid (-1, &zygote, __WALL) > 0)
    ;
  /* To hear nothing any more is to the zygote as if we were gone. */
  bool deaf = g_str_equal (failing->process, "adder-shell") && g_str_equal (failing->call, "recvmsg");
  if (g_strcmp0 (set_up->ended, "zygote") == 0 && status == 0 && zygote == 0 && !deaf)
    g_error ("%s: call %u, '%s:%s', failed, and the %s ended as if all were well", set_up->wish->name, nth,
             failing->process, failing->call, set_up->ended);
  close (set_up->message[0]);
  fd_close (&set_up->zygote_fd);
}

static void
test_set_up (const void *data)
{
  const struct wish *wish = data;
  struct plan_step steps[32];
  struct plan plan;
  struct fault fault = {0};
  autoclose int filter_fd = -1;
  if (wish->root && geteuid () != 0) {
    g_test_skip ("only root may bind-mount");
    return;
  }
  fill_plan (&plan, steps);
  char **arguments = plan_to_arguments (&plan);
  const struct seccomp_host host = {.landlock_abi = landlock_abi (), .memory_counted = true};
  g_assert_cmpint (seccomp_build (&host, &filter_fd, &fault), ==, 0);
  g_autofree char *init = g_build_filename (runner, "adder-init", NULL);
  autoclose int init_fd = open (init, O_RDONLY | O_CLOEXEC);
  for (guint nth = 1;; nth++) {
    struct failing failing;
    struct set_up set_up = {.wish = wish, .arguments = arguments, .filter_fd = filter_fd, .init_fd = init_fd};
    set_up_once (&set_up, nth, &failing);
    g_autofree char *call = g_strdup_printf ("%s:%s", failing.process, failing.call);
    gboolean fine = !*failing.call ? set_up.works
                    : set_up.ready ? is_tolerated (call)
                                   : set_up.ended || set_up.fault.step[0];
    if (!fine)
      g_error ("%s: call %u, %s, failed: works %d, '%s' %d", wish->name, nth, call, set_up.works,
               set_up.fault.step, set_up.fault.err);
    if (!*failing.call)
      break;
    /* What comes after this is the same, whatever was wished for. */
    if (!wish->from_start && g_str_equal (call, "adder-run:prlimit64"))
      break;
    g_assert_cmpuint (nth, <, CALLS_MAX);
  }
  free (arguments);
}

static const struct wish wishes[] = {
    {.name = "plain", .from_start = TRUE},
    {.name = "session", .flags = WIRE_SPAWN_SESSION},
    {.name = "network", .flags = WIRE_SPAWN_NETWORK | WIRE_SPAWN_ONLINE},
    {.name = "overlay", .flags = WIRE_SPAWN_BIND | WIRE_SPAWN_OVERLAY, .own_path = TRUE, .root = TRUE},
    {.name = "read-only", .flags = WIRE_SPAWN_BIND | WIRE_SPAWN_READ_ONLY, .root = TRUE},
    {.name = "file", .file = TRUE, .root = TRUE},
};

UNIT_SUITE (sandbox_set_up)
{
  g_test_init (&argc, &argv, NULL);
  runner = runner_copy ();
  folder = g_strdup ("/var/tmp/adder-set-up-XXXXXX");
  g_assert_nonnull (g_mkdtemp_full (folder, 0755));
  g_autofree char *bound = g_build_filename (folder, "bind", NULL);
  g_autofree char *file = g_build_filename (folder, "file", NULL);
  g_assert_cmpint (mkdir (bound, 0755), ==, 0);
  g_assert_true (g_file_set_contents (file, "text", -1, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (wishes); i++) {
    g_autofree char *path = g_strconcat ("/set-up/", wishes[i].name, NULL);
    g_test_add_data_func (path, &wishes[i], test_set_up);
  }
  int status = g_test_run ();
  suite_remove (folder);
  g_free (folder);
  runner_remove (runner);
  return status;
}
