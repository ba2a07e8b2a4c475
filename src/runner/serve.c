/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/pidfd.h"
#include "runner/container.h"
#include "sandbox/landlock.h"

/* A sandbox from its fork until its processes are reaped. */
struct child {
  pid_t worker, init; /* 0 when reaped, or when there is none */
  pid_t group;        /* without a pid namespace: the process group that all of it is in; else 0 */
  int init_fd;        /* pidfd */
  int exit_fd;        /* where to report */
  bool session;       /* its init lives on without the worker, for branches; the daemon ends it */
  struct wire_exit exit;
};

struct children {
  struct child *list;
  size_t count, room;
  bool can_stray; /* nothing keeps processes in their group (ISOLATION_NONE) */
  bool alone;     /* the one sandbox is all that is in the pid namespace beside us (ISOLATION_CONTAINER) */
  bool served;    /* it came, and there will be no other: what it left is in its files */
};

/* ---- before serving ---- */

/* Calls VISIT for each number in the directory PATH, except the descriptor by which it is read. */
static int
each_number (const char *path, int (*visit) (int number, void *data), void *data)
{
  DIR *directory = opendir (path);
  if (!directory)
    return -errno;
  int r = 0;
  for (const char *name = ""; r == 0 && name;) {
    int number;
    name = fd_next_name (directory);
    if (!name)
      r = -errno;
    else if (sscanf (name, "%d", &number) == 1 && number != dirfd (directory))
      r = visit (number, data);
  }
  closedir (directory);
  return r;
}

static int
count_number (int number, void *data)
{
  (void)number;
  ++*(int *)data;
  return 0;
}

int
serve_count_threads (void)
{
  int count = 0;
  int r = each_number ("/proc/self/task", count_number, &count);
  return r < 0 ? r : count;
}

static int
check_descriptor (int number, void *data)
{
  char path[64], target[96];
  if (number <= WIRE_LAUNCH_INIT)
    return 0;
  snprintf (path, sizeof path, "/proc/self/fd/%d", number);
  ssize_t length = readlink (path, target, sizeof target - 1);
  target[length < 0 ? 0 : length] = '\0';
  return fault_set (data, EBADF, "descriptor %d is open before serving: %s", number, target);
}

struct names {
  char text[100];
};

/* Adds the name of another thread than this one. */
static int
add_thread_name (int number, void *data)
{
  struct names *names = data;
  char path[64], name[32] = "?";
  if (number == gettid ())
    return 0;
  snprintf (path, sizeof path, "/proc/self/task/%d/comm", number);
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read (fd, name, sizeof name - 1);
  if (length > 0)
    name[length] = '\0';
  name[strcspn (name, "\n")] = '\0';
  size_t have = strlen (names->text);
  snprintf (names->text + have, sizeof names->text - have, "%s%s", have ? ", " : "", name);
  return 0;
}

static int
check_alone (struct fault *fault)
{
  int threads = serve_count_threads ();
  if (threads < 0)
    return fault_set (fault, -threads, "cannot count threads");
  if (threads != 1) {
    struct names names = {""};
    each_number ("/proc/self/task", add_thread_name, &names);
    return fault_set (fault, EBUSY, "other threads are alive before serving: %s", names.text);
  }
  int r = each_number ("/proc/self/fd", check_descriptor, fault);
  if (r < 0 && r != -EBADF)
    return fault_set (fault, -r, "cannot list descriptors");
  return r;
}

static uint32_t
verify_shared_namespaces (void)
{
  uint32_t mechanisms = 0;
  if (namespaces_is_own (NAMESPACE_NET) && namespaces_net_is_empty (false))
    mechanisms |= WIRE_NET_NAMESPACE;
  if (namespaces_is_own (NAMESPACE_UTS))
    mechanisms |= WIRE_UTS_NAMESPACE;
  if (namespaces_is_own (NAMESPACE_CGROUP))
    mechanisms |= WIRE_CGROUP_NAMESPACE;
  return mechanisms;
}

static int
take_over_descriptors (struct zygote *zygote, struct fault *fault)
{
  int r = filter_load (WIRE_LAUNCH_FILTER, &zygote->program, fault);
  if (r < 0)
    return r;
  close (WIRE_LAUNCH_FILTER);
  bool contained = zygote->isolation == ISOLATION_CONTAINER; /* which is started without an init */
  if (fcntl (WIRE_LAUNCH_CONTROL, F_SETFD, FD_CLOEXEC) < 0 ||
      (!contained && fcntl (WIRE_LAUNCH_INIT, F_SETFD, FD_CLOEXEC) < 0))
    return fault_set (fault, errno, "a descriptor of the launcher is missing");
  zygote->init_program_fd = contained ? -1 : WIRE_LAUNCH_INIT;
  zygote->pid_namespace_fd = -1;
  if (zygote->isolation != ISOLATION_NAMESPACES)
    return 0;

  zygote->pid_namespace_fd = open ("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  if (zygote->pid_namespace_fd < 0)
    return fault_set (fault, errno, "cannot open the own pid namespace");
  return 0;
}

/* Each sandbox that is alive costs two. */
static void
allow_many_descriptors (void)
{
  struct rlimit files;
  if (getrlimit (RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit (RLIMIT_NOFILE, &files);
  }
}

/* What was loaded may have written to the message pipe; what is forked from here on must not. */
static int
silence_standard_descriptors (struct fault *fault)
{
  autoclose int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0)
    return fault_set (fault, errno, "cannot open /dev/null");
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (dup2 (null, fd) < 0)
      return fault_set (fault, errno, "cannot point descriptor %d at /dev/null", fd);
  return 0;
}

int
serve_prepare (struct zygote *zygote, struct fault *fault)
{
  int r = check_alone (fault);
  if (r == 0)
    r = take_over_descriptors (zygote, fault);
  if (r == 0)
    r = silence_standard_descriptors (fault);
  if (r < 0)
    return r;
  allow_many_descriptors ();
  if (zygote->isolation == ISOLATION_NAMESPACES) {
    zygote->namespaces = namespaces_look ();
    zygote->mechanisms = verify_shared_namespaces ();
  }
  zygote->landlock_abi = landlock_abi ();
  if (zygote->isolation != ISOLATION_CONTAINER)
    return 0;
  r = container_verify (&zygote->outside, &zygote->mechanisms, fault);
  return r < 0 ? r : container_hide (fault);
}

/* ---- reaping ---- */

static void
count_usage (struct wire_exit *report, const struct rusage *usage)
{
  report->user_us += (int64_t)usage->ru_utime.tv_sec * 1000000 + usage->ru_utime.tv_usec;
  report->system_us += (int64_t)usage->ru_stime.tv_sec * 1000000 + usage->ru_stime.tv_usec;
  report->minor_faults += usage->ru_minflt;
  if ((int64_t)usage->ru_maxrss * 1024 > report->peak_rss_bytes)
    report->peak_rss_bytes = (int64_t)usage->ru_maxrss * 1024;
}

static void
serve_report (const struct child *child)
{
  /* It fits the empty pipe; if the daemon no longer listens, nobody needs it. */
  fd_write_all (child->exit_fd, &child->exit, sizeof child->exit);
}

static void
serve_finish (struct children *children, struct child *child)
{
  if (!child->session)
    serve_report (child);
  fd_close (&child->init_fd);
  fd_close (&child->exit_fd);
  *child = children->list[--children->count];
}

/* ---- without a pid namespace ---- */

static bool
is_worker (const struct children *children, pid_t pid)
{
  for (size_t i = 0; i < children->count; i++)
    if (children->list[i].worker == pid)
      return true;
  return false;
}

/* Children of ours that are no workers: somebody left their group, and the worker above them is gone. Killed,
 * they leave us theirs, whose turn it is with the next death. */
static void
end_strays (const struct children *children)
{
  char path[64];
  int pid;
  snprintf (path, sizeof path, "/proc/self/task/%d/children", (int)gettid ());
  FILE *list = fopen (path, "re");
  while (list && fscanf (list, "%d", &pid) == 1)
    if (!is_worker (children, pid))
      kill (pid, SIGKILL);
  if (list)
    fclose (list);
}

/* All processes of CHILD's sandbox, as kill() takes them; 0: none that we could name. */
static pid_t
signal_target (const struct children *children, const struct child *child)
{
  return children->alone ? -1 : -child->group;
}

static bool
target_is_gone (const struct children *children, const struct child *child)
{
  pid_t all = signal_target (children, child);
  return !all || (kill (all, 0) < 0 && errno == ESRCH);
}

/* The daemon is gone. Wait here, since nobody might do so after us. */
static void
end_all (const struct children *children)
{
  bool any = false;
  for (size_t i = 0; i < children->count; i++) {
    const struct child *child = &children->list[i];
    any |= child->group != 0;
    /* One that was just forked has not made its group yet. */
    if (child->group && child->worker)
      kill (child->worker, SIGKILL);
    if (child->group)
      kill (-child->group, SIGKILL);
  }
  while (any && (waitpid (-1, NULL, __WALL) > 0 || errno == EINTR))
    ;
}

/* ---- the end of a sandbox ---- */

static void
note_worker (struct child *child, int status)
{
  child->worker = 0;
  child->exit.code = WIFEXITED (status) ? CLD_EXITED : WCOREDUMP (status) ? CLD_DUMPED : CLD_KILLED;
  child->exit.status = WIFEXITED (status) ? WEXITSTATUS (status) : WTERMSIG (status);
  /* What the worker left running goes with its init, which would otherwise live on. */
  if (child->session)
    serve_report (child);
  else if (child->init && !layer_is_disabled (LAYER_CLEANUP))
    sys_pidfd_send_signal (child->init_fd, SIGKILL, NULL, 0);
}

/* GROUP is the process group of PID. Not found: somebody whom a module left behind while it was loaded. */
static struct child *
find_child (struct children *children, pid_t pid, pid_t group)
{
  for (size_t i = 0; i < children->count; i++) {
    struct child *child = &children->list[i];
    if (children->alone || child->worker == pid || child->init == pid ||
        (child->group && child->group == group))
      return child;
  }
  return NULL;
}

static void
reap_one (struct children *children, pid_t pid)
{
  /* While a worker is dead but not reaped its number is nobody else's, so the signal meets its own group, all
   * of it at once: none can leave it (seccomp), and none be born meanwhile. */
  struct child *child = find_child (children, pid, getpgid (pid));
  pid_t all = child && child->worker == pid ? signal_target (children, child) : 0;
  if (all && !layer_is_disabled (LAYER_CLEANUP))
    kill (all, SIGKILL);

  struct rusage usage;
  int status;
  if (wait4 (pid, &status, WNOHANG | __WALL, &usage) != pid || !child)
    return;
  count_usage (&child->exit, &usage);
  if (child->worker == pid)
    note_worker (child, status);
  else if (child->init == pid)
    child->init = 0;
}

static bool
serve_is_gone (const struct children *children, const struct child *child)
{
  if (layer_is_disabled (LAYER_CLEANUP))
    return !child->worker;
  return !child->worker && !child->init && target_is_gone (children, child);
}

static void
reap_children (struct children *children)
{
  for (;;) {
    siginfo_t info = {0};
    if (waitid (P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || info.si_pid == 0)
      break;
    reap_one (children, info.si_pid);
  }
  if (children->can_stray)
    end_strays (children);
  for (size_t i = children->count; i-- > 0;)
    if (serve_is_gone (children, &children->list[i]))
      serve_finish (children, &children->list[i]);
}

/* ---- serving ---- */

/* The place for one more, which counts only once it is filled. NULL when memory is short. */
static struct child *
serve_make_room (struct children *children)
{
  if (children->count == children->room) {
    size_t room = children->room ? 2 * children->room : 32;
    struct child *list = realloc (children->list, room * sizeof *list);
    if (!list)
      return NULL;
    children->list = list;
    children->room = room;
  }
  return &children->list[children->count];
}

static int
serve_answer (const struct spawned *spawned)
{
  struct wire_control_header header = {.kind = WIRE_SPAWNED, .version = WIRE_VERSION};
  const int fds[WIRE_SPAWNED_FDS] = {
      [WIRE_SPAWNED_WORKER] = spawned->worker_fd,
      [WIRE_SPAWNED_INIT] = spawned->init_fd,
      [WIRE_SPAWNED_WORKSPACE] = spawned->workspace_fd,
      [WIRE_SPAWNED_DIRECTORY] = spawned->directory_fd,
  };
  size_t count = spawned->worker_fd < 0 ? 0 : WIRE_SPAWNED_FDS - (spawned->directory_fd < 0);
  return fd_send (WIRE_LAUNCH_CONTROL, &header, sizeof header, fds, count);
}

void
serve_refuse (const struct fault *fault)
{
  struct wire_refused refused = {
      .header = {.kind = WIRE_REFUSED, .version = WIRE_VERSION},
      .fault = *fault,
  };
  fd_send (WIRE_LAUNCH_CONTROL, &refused, sizeof refused, NULL, 0);
}

/* Puts the descriptors that came to their numbers in enum wire_spawn_fd; those that are not to come are -1.
 * Returns whether they are the right number. */
static bool
place_descriptors (const struct zygote *zygote, const struct wire_spawn *wanted, int *fds, size_t count)
{
  bool comes[WIRE_SPAWN_FDS] = {
      [WIRE_SPAWN_SOCKET] = true,
      [WIRE_SPAWN_STDOUT] = true,
      [WIRE_SPAWN_STDERR] = true,
      [WIRE_SPAWN_EXIT] = true,
      [WIRE_SPAWN_WORKSPACE] = zygote->isolation == ISOLATION_PROCESS || zygote->isolation == ISOLATION_NONE,
      [WIRE_SPAWN_DIRECTORY] = wanted->flags & WIRE_SPAWN_BIND && zygote->isolation != ISOLATION_CONTAINER,
      [WIRE_SPAWN_FILES_WORK] = wanted->flags & WIRE_SPAWN_INPUTS_WORK,
      [WIRE_SPAWN_FILES_TMP] = wanted->flags & WIRE_SPAWN_INPUTS_TMP,
      [WIRE_SPAWN_FILTER] = wanted->flags & WIRE_SPAWN_FILTERED,
  };
  size_t expected = 0;
  for (int i = 0; i < MOUNTS_FILES; i++)
    comes[WIRE_SPAWN_FILE + i] = wanted->files[i][0] != '\0';
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    expected += comes[i];
  if (count != expected)
    return false;
  for (int i = WIRE_SPAWN_FDS - 1; i >= 0; i--)
    fds[i] = comes[i] ? fds[--count] : -1;
  return true;
}

/* Directories of the host lead out of a container, by "..". */
#define CONTAINER_FLAGS                                                                                      \
  (WIRE_SPAWN_PREFAULT | WIRE_SPAWN_UNTOUCHED | WIRE_SPAWN_BIND | ~0U << WIRE_MITIGATIONS)

static int
check_request (const struct zygote *zygote, const struct wire_spawn *wanted, ssize_t size, int *fds,
               size_t count, struct fault *fault)
{
  if (size != (ssize_t)sizeof *wanted || wanted->header.kind != WIRE_SPAWN ||
      !place_descriptors (zygote, wanted, fds, count))
    return fault_set (fault, EPROTO, "cannot understand a request of the daemon");
  if (wanted->header.version != WIRE_VERSION)
    return fault_set (fault, EPROTO, "the daemon speaks version %u, this zygote %u", wanted->header.version,
                      WIRE_VERSION);
  if (zygote->isolation == ISOLATION_CONTAINER &&
      ((wanted->flags & ~(uint32_t)CONTAINER_FLAGS) || count > WIRE_SPAWN_WORKSPACE))
    return fault_set (fault, EOPNOTSUPP, "a container has no such thing (flags %#x)", wanted->flags);
  return 0;
}

/* Receives one request and answers it. Returns which side of the fork it is on. */
static enum spawn_side
serve_request (const struct zygote *zygote, struct children *children, struct sandbox_self *ret_sandbox)
{
  struct wire_spawn wanted;
  struct spawned spawned = {.worker_fd = -1, .init_fd = -1, .workspace_fd = -1, .directory_fd = -1};
  struct fault fault = {0};
  int fds[WIRE_SPAWN_FDS];
  size_t count = 0;
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    fds[i] = -1;
  ssize_t size = fd_receive (WIRE_LAUNCH_CONTROL, &wanted, sizeof wanted, fds, WIRE_SPAWN_FDS, &count);
  if (size == 0 || (size < 0 && size != -EMSGSIZE)) {
    /* The daemon is gone. Where this is pid 1 of a namespace that holds every sandbox, all die with it. */
    end_all (children);
    _exit (0);
  }

  struct child *child = serve_make_room (children);
  int r = child ? check_request (zygote, &wanted, size, fds, count, &fault)
                : fault_set (&fault, ENOMEM, "cannot note another sandbox");
  if (r == 0 && children->alone && children->served)
    r = fault_set (&fault, EBUSY, "a container is for one sandbox");
  if (r == 0)
    r = spawn (zygote, &wanted, fds, &spawned, ret_sandbox, &fault);
  if (r == SPAWN_SANDBOX)
    return SPAWN_SANDBOX;

  if (r < 0 || !child) {
    serve_refuse (&fault);
  } else {
    *child = (struct child){
        .worker = spawned.worker,
        .init = spawned.init,
        .group = spawned.init || children->alone ? 0 : spawned.worker,
        .init_fd = spawned.init_fd,
        .exit_fd = fd_steal (&fds[WIRE_SPAWN_EXIT]),
        .session = wanted.flags & WIRE_SPAWN_SESSION,
    };
    children->count++;
    children->served = true;
    r = serve_answer (&spawned);
    if (r < 0) {
      /* The daemon awaits an answer, and will never know this sandbox. */
      kill (child->init ? child->init : child->worker, SIGKILL);
      fault_set (&fault, -r, "cannot hand over a sandbox");
      serve_refuse (&fault);
    }
    fd_close (&spawned.worker_fd);
    fd_close (&spawned.workspace_fd);
    fd_close (&spawned.directory_fd);
  }
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    fd_close (&fds[i]);
  return SPAWN_ZYGOTE;
}

int
serve (const struct zygote *zygote, const void *info, size_t size, struct sandbox_self *ret_sandbox,
       struct fault *fault)
{
  struct children children = {
      .can_stray = zygote->isolation == ISOLATION_NONE,
      .alone = zygote->isolation == ISOLATION_CONTAINER,
  };
  sigset_t mask;
  sigemptyset (&mask);
  sigaddset (&mask, SIGCHLD);
  signal (SIGPIPE, SIG_IGN);
  signal (SIGCHLD, SIG_DFL); /* ignored, it would have the kernel reap in our place */
  if (sigprocmask (SIG_BLOCK, &mask, NULL) < 0)
    return fault_set (fault, errno, "cannot block SIGCHLD");
  int signal_fd = signalfd (-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signal_fd < 0)
    return fault_set (fault, errno, "cannot make a signalfd");

  struct wire_control_header header = {.kind = WIRE_SERVING, .version = WIRE_VERSION};
  struct iovec message[] = {
      {.iov_base = &header, .iov_len = sizeof header},
      {.iov_base = (void *)(uintptr_t)info, .iov_len = size},
  };
  int r = fd_send_parts (WIRE_LAUNCH_CONTROL, message, 2, NULL, 0);
  if (r < 0)
    return fault_set (fault, -r, "cannot tell the daemon that the zygote serves");
  for (;;) {
    struct pollfd ready[] = {
        {.fd = WIRE_LAUNCH_CONTROL, .events = POLLIN},
        {.fd = signal_fd, .events = POLLIN},
    };
    if (poll (ready, 2, -1) < 0 && errno != EINTR)
      _exit (1);
    if (ready[1].revents) {
      struct signalfd_siginfo seen;
      while (read (signal_fd, &seen, sizeof seen) > 0)
        ;
      reap_children (&children);
    }
    if (ready[0].revents && serve_request (zygote, &children, ret_sandbox) == SPAWN_SANDBOX) {
      free (children.list);
      return 0;
    }
  }
}
