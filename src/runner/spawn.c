/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/frame.h"
#include "base/pidfd.h"
#include "base/syscalls.h"
#include "runner/confine.h"
#include "runner/container.h"
#include "sandbox/mounts.h"

#define EXIT_FAULT 125

struct init_start {
  int program_fd;
  volatile int err; /* written by the child into our memory, before we run on */
};

/* Runs in our memory while we are stopped (CLONE_VM | CLONE_VFORK), so that starting an init costs nothing
 * for the size of the zygote. Its descriptors and signal mask are its own. */
static int
init_child (void *data)
{
  struct init_start *start = data;
  char *const arguments[] = {(char *)"adder-init", NULL};
  char *const environment[] = {(char *)(uintptr_t)disable_layers_variable (), NULL};
  if (close_range (STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
    execveat (start->program_fd, "", arguments, environment, AT_EMPTY_PATH);
  start->err = errno;
  _exit (EXIT_FAULT);
}

static void
spawn_reap (pid_t pid)
{
  while (waitpid (pid, NULL, __WALL) < 0 && errno == EINTR)
    ;
}

static int
start_init (int program_fd, pid_t *ret_pid, int *ret_fd, struct fault *fault)
{
  static char stack[16384] __attribute__ ((aligned (16)));
  struct init_start start = {.program_fd = program_fd};
  int pidfd = -1;
  pid_t pid =
      clone (init_child, stack + sizeof stack,
             CLONE_VM | CLONE_VFORK | CLONE_NEWPID | CLONE_NEWIPC | CLONE_PIDFD | SIGCHLD, &start, &pidfd);
  if (pid < 0)
    return fault_set (fault, errno, "cannot start the init of a sandbox");
  if (start.err) {
    spawn_reap (pid);
    fd_close (&pidfd);
    return fault_set (fault, start.err, "cannot execute adder-init");
  }
  *ret_pid = pid;
  *ret_fd = pidfd;
  return 0;
}

/* The sandbox's side of the fork. Returns when the process is confined, and not otherwise. */
static void
spawn_become_sandbox (const struct zygote *zygote, const struct wire_spawn *wanted, const int *fds,
                      int init_fd, int workspace_fd, struct sandbox_self *ret_sandbox)
{
  struct filter_program program = zygote->program;
  const struct confinement confinement = {
      .isolation = zygote->isolation,
      .readable = zygote->readable,
      .runnable = zygote->runnable,
      .limits = &wanted->limits,
      .program = &program,
      .zygote = &zygote->namespaces,
      .landlock_abi = zygote->landlock_abi,
      .session = wanted->flags & WIRE_SPAWN_SESSION,
      .online = wanted->flags & WIRE_SPAWN_ONLINE,
      .network = wanted->flags & WIRE_SPAWN_NETWORK,
      .mitigations = wanted->flags >> WIRE_MITIGATIONS,
      .init_fd = init_fd,
      .socket_fd = fds[WIRE_SPAWN_SOCKET],
      .stdout_fd = fds[WIRE_SPAWN_STDOUT],
      .stderr_fd = fds[WIRE_SPAWN_STDERR],
      .workspace_fd = workspace_fd,
      .bind_fd = fds + WIRE_SPAWN_DIRECTORY,
      .files = wanted->files,
      .own_path = wanted->own_path[0] ? wanted->own_path : NULL,
      .overlay = wanted->flags & WIRE_SPAWN_OVERLAY,
      .read_only = wanted->flags & WIRE_SPAWN_READ_ONLY,
  };
  struct fault fault = {0};
  uint32_t mechanisms = 0, flags = 0;
  int socket = fds[WIRE_SPAWN_SOCKET];
  if ((fds[WIRE_SPAWN_FILTER] >= 0 && filter_load (fds[WIRE_SPAWN_FILTER], &program, &fault) < 0) ||
      confine (&confinement, &mechanisms, &flags, &socket, &fault) < 0) {
    frame_send (socket, WIRE_FAULT, &fault, sizeof fault, NULL, 0);
    _exit (EXIT_FAULT);
  }
  *ret_sandbox = (struct sandbox_self){
      .flags = wanted->flags,
      .ready_flags = flags,
      .mechanisms = mechanisms | zygote->mechanisms,
      .landlock_abi = zygote->landlock_abi,
  };
}

/* A zygote that cannot return to its own pid namespace would put later inits into the wrong one. Its death
 * ends all of its sandboxes, which is the only safe answer. */
static void
return_to_own_namespace (const struct zygote *zygote)
{
  if (!layer_is_disabled (LAYER_PID) && setns (zygote->pid_namespace_fd, CLONE_NEWPID) < 0)
    _exit (EXIT_FAULT);
}

/* An init with a pid and an ipc namespace, in which the next child of ours will be. */
static int
enter_init (const struct zygote *zygote, pid_t *ret_init, int *ret_fd, struct fault *fault)
{
  int r = start_init (zygote->init_program_fd, ret_init, ret_fd, fault);
  if (r < 0)
    return r;
  if (!layer_is_disabled (LAYER_PID) && setns (*ret_fd, CLONE_NEWPID) < 0) {
    r = fault_set (fault, errno, "cannot enter the pid namespace of the init");
    kill (*ret_init, SIGKILL);
    spawn_reap (*ret_init);
    fd_close (ret_fd);
    return r;
  }
  return 0;
}

static int
get_workspace (const struct zygote *zygote, const struct wire_spawn *wanted, const int *fds, int *ret_fd,
               struct fault *fault)
{
  static const struct {
    uint32_t flag;
    unsigned of;
  } rows[] = {
      {WIRE_SPAWN_SESSION, MOUNTS_OF_SESSION},
      {WIRE_SPAWN_OVERLAY, MOUNTS_OF_OVERLAY},
      {WIRE_SPAWN_INPUTS_WORK, MOUNTS_OF_INPUTS_WORK},
      {WIRE_SPAWN_INPUTS_TMP, MOUNTS_OF_INPUTS_TMP},
  };
  unsigned of = zygote->runnable ? (unsigned)MOUNTS_INERT : 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    of |= wanted->flags & rows[i].flag ? rows[i].of : 0;
  if (zygote->isolation == ISOLATION_NAMESPACES)
    return mounts_make_workspace (&wanted->limits, of, ret_fd, fault);
  *ret_fd = zygote->isolation == ISOLATION_CONTAINER
                ? open (WIRE_WORKSPACE_PATH, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                : fcntl (fds[WIRE_SPAWN_WORKSPACE], F_DUPFD_CLOEXEC, 0);
  return *ret_fd < 0 ? fault_set (fault, errno, "there is no workspace") : 0;
}

/* What is /work in the container, for the daemon to see whether it is what was bind-mounted. */
static int
get_directory (const struct zygote *zygote, const struct wire_spawn *wanted, int *ret_fd, struct fault *fault)
{
  if (zygote->isolation != ISOLATION_CONTAINER || !(wanted->flags & WIRE_SPAWN_BIND))
    return 0;
  *ret_fd = open (WIRE_WORK_PATH, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return *ret_fd < 0 ? fault_set (fault, errno, "there is no work directory") : 0;
}

int
spawn (const struct zygote *zygote, const struct wire_spawn *wanted, const int *fds,
       struct spawned *ret_spawned, struct sandbox_self *ret_sandbox, struct fault *fault)
{
  bool own = zygote->isolation == ISOLATION_NAMESPACES;
  autoclose int workspace_fd = -1, directory_fd = -1, init_fd = -1, worker_fd = -1;
  pid_t init = 0, worker = -1;
  int r = get_workspace (zygote, wanted, fds, &workspace_fd, fault);
  if (r == 0)
    r = get_directory (zygote, wanted, &directory_fd, fault);
  if (r < 0)
    return r;
  if (own)
    r = enter_init (zygote, &init, &init_fd, fault);
  if (r < 0)
    return r;

  zygote->before_fork ();
  /* The C library's fork, not a bare clone: libraries have handlers of their own around it. */
  worker = fork ();
  if (worker == 0) {
    spawn_become_sandbox (zygote, wanted, fds, init_fd, workspace_fd, ret_sandbox);
    /* These are other descriptors by now, or none. */
    workspace_fd = directory_fd = init_fd = -1;
    return SPAWN_SANDBOX;
  }
  int err = errno;
  zygote->after_fork ();
  if (own)
    return_to_own_namespace (zygote);
  if (worker < 0) {
    r = fault_set (fault, err, "cannot fork a sandbox");
    goto fail;
  }

  bool apart = zygote->mechanisms & WIRE_OWN_KERNEL;
  /* It cannot have been reaped: only we do that. */
  if (!apart)
    worker_fd = sys_pidfd_open (worker, 0);
  if (!own && !apart)
    init_fd = fcntl (worker_fd, F_DUPFD_CLOEXEC, 0);
  if (!apart && (worker_fd < 0 || init_fd < 0)) {
    r = fault_set (fault, errno, "cannot open a pidfd of the sandbox");
    goto fail;
  }
  *ret_spawned = (struct spawned){
      .worker = worker,
      .init = init,
      .worker_fd = fd_steal (&worker_fd),
      .init_fd = fd_steal (&init_fd),
      .workspace_fd = fd_steal (&workspace_fd),
      .directory_fd = fd_steal (&directory_fd),
  };
  return SPAWN_ZYGOTE;

fail:
  /* With its init dies a worker, if there is one; the init cannot end before the worker is reaped. */
  if (init > 0)
    kill (init, SIGKILL);
  if (worker > 0) {
    kill (worker, SIGKILL);
    spawn_reap (worker);
  }
  if (init > 0)
    spawn_reap (init);
  return r;
}
