/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/pidfd.h"
#include "common/error.h"
#include "common/log.h"

/* It exits within milliseconds, unless it is stuck. */
#define END_WAIT_MS 2000

/* posix_spawn: with glibc a vfork that blocks signals meanwhile, so that nothing of the embedding program
 * runs in the child. The launcher itself resets other inherited state. */
gboolean
launcher_start (const char *program, char *const *arguments, const struct launcher_fd *fds, gsize count,
                int *ret_pidfd, GError **error)
{
  char *const environment[] = {(char *)(guintptr)disable_layers_variable (), NULL};
  g_autofree int *lifted = g_new (int, count);
  posix_spawn_file_actions_t actions;
  gsize made = 0;
  int r = 0;
  posix_spawn_file_actions_init (&actions);
  /* Numbers above this cannot collide with those they will get. */
  for (; made < count && r == 0; made++) {
    lifted[made] = fcntl (fds[made].from, F_DUPFD_CLOEXEC, LAUNCHER_FDS_END);
    r = lifted[made] < 0 ? errno : posix_spawn_file_actions_adddup2 (&actions, lifted[made], fds[made].to);
  }
  pid_t pid;
  if (r != 0)
    error_from_errno (error, r, "cannot hand descriptors to %s", program);
  else if ((r = posix_spawn (&pid, program, &actions, NULL, arguments, environment)) != 0)
    error_from_errno (error, r, "cannot start %s", program);
  posix_spawn_file_actions_destroy (&actions);
  for (gsize i = 0; i < made; i++)
    fd_close (&lifted[i]);
  if (r != 0)
    return FALSE;

  int pidfd = sys_pidfd_open (pid, 0);
  /* ESRCH: it has ended, and the embedding program ignores SIGCHLD, which makes the kernel reap. */
  if (pidfd >= 0 || errno == ESRCH) {
    *ret_pidfd = pidfd;
    return TRUE;
  }
  error_from_errno (error, errno, "cannot open a pidfd of %s", program);
  kill (pid, SIGKILL);
  while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    ;
  return FALSE;
}

gboolean
launcher_start_alone (const char *program, char *const *arguments, int *ret_pidfd, GError **error)
{
  autoclose int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  const struct launcher_fd fds[] = {{null, STDIN_FILENO}, {null, STDOUT_FILENO}, {null, STDERR_FILENO}};
  if (null < 0)
    return error_from_errno (error, errno, "cannot open /dev/null");
  return launcher_start (program, arguments, fds, G_N_ELEMENTS (fds), ret_pidfd, error);
}

gboolean
launcher_was_killed (int pidfd)
{
  siginfo_t info = {0};
  return waitid (P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid != 0 &&
         info.si_code != CLD_EXITED;
}

gboolean
launcher_wait (int pidfd, int wait_ms)
{
  struct pollfd ended = {.fd = pidfd, .events = POLLIN};
  int r;
  do
    r = poll (&ended, 1, wait_ms);
  while (r < 0 && errno == EINTR);
  return r != 0;
}

void
launcher_reap (int *pidfd, const char *what)
{
  if (*pidfd < 0)
    return;
  if (!launcher_wait (*pidfd, END_WAIT_MS)) {
    log_warning ("%s does not end and is killed", what);
    (void)sys_pidfd_send_signal (*pidfd, SIGKILL, NULL, 0);
  }
  siginfo_t info;
  while (waitid (P_PIDFD, (id_t)*pidfd, &info, WEXITED) < 0 && errno == EINTR)
    ;
  fd_close (pidfd);
}
