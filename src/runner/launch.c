/* SPDX-License-Identifier: Apache-2.0 */
/* adder-zygote: makes a zygote's namespaces and file tree, then becomes Python. Where there shall be none
 * (level 1 and 0), it only changes to the zygote's user.
 *
 * The daemon must not fork itself, and a process cannot write the id maps that a root daemon wants for
 * itself. So two processes share the work. The launcher clones the zygote into a new user and pid namespace
 * as a child of the daemon (not of its own), sends its pidfd, writes its maps, lets it go and exits. The
 * zygote builds its tree and executes the program of the plan, with nothing but /dev/null, the message pipe
 * and the three descriptors of enum wire_launch_fd.
 *
 * The launcher answers LAUNCHED as soon as there is a child, so that the daemon always knows what it has to
 * wait for; what fails after that, in either process, is told by REFUSED in place of SERVING.
 *
 * With the argument WIRE_BIND the same program does something else: see bind_mount.h. It is one program
 * because hosts that restrict user namespaces allow them by the path of a program. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "runner/bind_mount.h"
#include "runner/wire.h"
#include "sandbox/namespaces.h"
#include "sandbox/plan.h"
#include "sandbox/tree.h"

/* As everywhere in the project: a failure of our own. */
#define EXIT_FAULT 125

static void
launch_refuse (const struct fault *fault)
{
  struct wire_refused refused = {
      .header = {.kind = WIRE_REFUSED, .version = WIRE_VERSION},
      .fault = *fault,
  };
  fd_send (WIRE_LAUNCH_CONTROL, &refused, sizeof refused, NULL, 0);
  dprintf (STDERR_FILENO, "adder-zygote: %s: %s\n", fault->step, strerror (fault->err));
}

/* The daemon may ignore or block what it likes; Python shall start as from a shell. */
static void
reset_signals (void)
{
  sigset_t none;
  sigemptyset (&none);
  for (int number = 1; number < NSIG; number++)
    signal (number, SIG_DFL);
  sigprocmask (SIG_SETMASK, &none, NULL);
}

/* Descriptors 1 and 2 become the message pipe, 0 /dev/null, and beyond those that the daemon hands over
 * nothing stays. */
static int
launch_settle_descriptors (struct fault *fault)
{
  int null = open ("/dev/null", O_RDWR);
  if (null < 0 || (null != STDIN_FILENO && dup2 (null, STDIN_FILENO) < 0) ||
      dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    return fault_set (fault, errno, "cannot settle the standard descriptors");
  if (close_range (WIRE_LAUNCH_INIT + 1, ~0U, 0) < 0)
    return fault_set (fault, errno, "cannot close other descriptors");
  for (int fd = WIRE_LAUNCH_CONTROL; fd <= WIRE_LAUNCH_INIT; fd++)
    if (fcntl (fd, F_SETFD, 0) < 0)
      return fault_set (fault, errno, "descriptor %d is missing", fd);
  return 0;
}

/* When memory runs out on the host, sandboxes go before what the user runs. Not worth failing for. */
static void
launch_offer_to_oom_killer (void)
{
  int fd = open ("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    fd_write_all (fd, "300", 3);
    close (fd);
  }
}

/* In namespaces of its own, with a tree of its own. */
static int
enter_own_tree (const struct plan *plan, struct fault *fault)
{
  int r = namespaces_leave_host (plan->network == NETWORK_FULL, fault);
  if (r < 0)
    return r;

  int *fds = calloc (plan->step_count + 1, sizeof *fds);
  if (!fds)
    return fault_set (fault, ENOMEM, "cannot open the sources of the tree");
  r = tree_open_sources (plan, fds, fault);
  /* Until here a root daemon's zygote was the host's root without a name in its own namespace. Only files
   * that belong to a mapped id can be made in the tree. */
  if (r == 0 && (setresgid (0, 0, 0) < 0 || setresuid (0, 0, 0) < 0))
    r = fault_set (fault, errno, "cannot become the namespace's root");
  /* A change of ids forgets this, so it comes after it. Should the daemon be gone already, the control socket
   * says so. The kernel means the thread that started the launcher: the daemon starts a zygote from one that
   * lives as long. */
  if (r == 0 && prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
    r = fault_set (fault, errno, "cannot ask to die with the daemon");
  if (r == 0)
    r = tree_build (plan, fds, fault);
  free (fds);
  return r;
}

/* In the host's namespaces: as a user who owns nothing, when the daemon is root. There is no pid namespace
 * that would end with the zygote, so it does not die at once with the daemon but ends its sandboxes first
 * (its control socket tells it); and what a sandbox leaves behind becomes its child. */
static int
stay_on_host (const struct plan *plan, struct fault *fault)
{
  if (setresgid (plan->host_gid, plan->host_gid, plan->host_gid) < 0 ||
      setresuid (plan->host_uid, plan->host_uid, plan->host_uid) < 0)
    return fault_set (fault, errno, "cannot become user %u", (unsigned)plan->host_uid);
  if (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot adopt orphans");
  if (chdir ("/") < 0)
    return fault_set (fault, errno, "cannot change to the root directory");
  return 0;
}

/* The zygote, from its first instruction to exec. Returns only when something failed. */
static int
become_zygote (const struct plan *plan, struct fault *fault)
{
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot set no_new_privs");
  setsid ();
  umask (022);
  launch_offer_to_oom_killer ();
  int r = plan->isolation == ISOLATION_NAMESPACES ? enter_own_tree (plan, fault) : stay_on_host (plan, fault);
  if (r < 0)
    return r;

  execve (plan->program[0], (char *const *)plan->program, (char *const *)plan->environment);
  return fault_set (fault, errno, "cannot execute %s", plan->program[0]);
}

static int
map_ids (const struct plan *plan, pid_t pid, struct fault *fault)
{
  autoclose int proc = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0)
    return fault_set (fault, errno, "cannot open /proc");
  char process[16];
  snprintf (process, sizeof process, "%d", (int)pid);
  return namespaces_map (proc, process, 0, plan->host_uid, 0, plan->host_gid, fault);
}

static int
launch (const struct plan *plan, struct fault *fault)
{
  int gate[2];
  if (pipe2 (gate, O_CLOEXEC) < 0)
    return fault_set (fault, errno, "cannot make a pipe");
  autoclose int gate_read = gate[0];
  autoclose int gate_write = gate[1];

  /* A root daemon's groups would stay with the zygote: unmapped, but good for opening files. Who maps
   * themselves keep what they have anyway. */
  if (plan->host_uid != geteuid () && setgroups (0, NULL) < 0)
    return fault_set (fault, errno, "cannot drop supplementary groups");

  int pidfd_number = -1;
  bool own = plan->isolation == ISOLATION_NAMESPACES;
  int spaces = CLONE_NEWUSER | (layer_is_disabled (LAYER_ZYGOTE_PID) ? 0 : CLONE_NEWPID);
  pid_t pid = sys_clone ((own ? spaces : 0) | CLONE_PARENT, &pidfd_number);
  if (pid < 0)
    return fault_set (fault, errno,
                      own ? "cannot make a user and a pid namespace" : "cannot start the zygote");
  if (pid == 0) {
    char go;
    fd_close (&gate_write);
    /* End of file on the pipe means that the launcher failed, and has reported it. */
    if (fd_read_all (gate_read, &go, 1) < 0)
      _exit (EXIT_FAULT);
    fd_close (&gate_read);
    become_zygote (plan, fault);
    launch_refuse (fault);
    _exit (EXIT_FAULT);
  }

  autoclose int pidfd = pidfd_number;
  struct wire_control_header launched = {.kind = WIRE_LAUNCHED, .version = WIRE_VERSION};
  int r = fd_send (WIRE_LAUNCH_CONTROL, &launched, sizeof launched, &pidfd, 1);
  if (r < 0)
    return fault_set (fault, -r, "cannot tell the daemon");
  if (own)
    r = map_ids (plan, pid, fault);
  if (r < 0)
    return r;
  r = fd_write_all (gate_write, "g", 1);
  return r < 0 ? fault_set (fault, -r, "cannot release the zygote") : 0;
}

int
main (int argc, char **argv)
{
  struct fault fault = {0};
  struct plan plan = {0};
  reset_signals ();
  if (argc > 1 && strcmp (argv[1], WIRE_BIND) == 0) {
    int sent = bind_mount_send (argc - 2, argv + 2, &fault);
    if (sent < 0)
      launch_refuse (&fault);
    return sent < 0 ? EXIT_FAULT : EXIT_SUCCESS;
  }
  int r = launch_settle_descriptors (&fault);
  if (r == 0)
    r = plan_from_arguments (&plan, argc, argv, &fault);
  if (r == 0)
    r = launch (&plan, &fault);
  if (r < 0)
    launch_refuse (&fault);
  plan_clear (&plan);
  return r < 0 ? EXIT_FAULT : EXIT_SUCCESS;
}
