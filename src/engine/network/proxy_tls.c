/* SPDX-License-Identifier: Apache-2.0 */
/* TLS to the host of a secret header, spoken by adder-tls (tls.c), a process for each connection. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/text.h"
#include "common/trust.h"
#include "engine/network/proxy_private.h"

#define HANDSHAKE_US (20 * G_USEC_PER_SEC)

enum { PLAIN_FD = 3, HOST_FD = 4, ABOVE_FD = 10 };

static char **
trust_variables (void)
{
  struct trust trust = trust_find ();
  char **variables = g_new0 (char *, 1);
  if (trust.file)
    variables = g_environ_setenv (variables, "SSL_CERT_FILE", trust.file, TRUE);
  if (trust.directory)
    variables = g_environ_setenv (variables, "SSL_CERT_DIR", trust.directory, TRUE);
  return variables;
}

static int
proxy_tls_start (const struct host *host, const char *name, int plain_fd, int host_fd, pid_t *ret_pid)
{
  g_autofree char *program = g_build_filename (host->libexec, "adder-tls", NULL);
  g_autofree char *uid = g_strdup_printf ("%u", (guint)host->owner.uid);
  g_autofree char *gid = g_strdup_printf ("%u", (guint)host->owner.gid);
  g_auto (GStrv) environment = trust_variables ();
  g_autofree char *host_name = g_strdup (name);
  char word[] = "adder-tls";
  char *const argv[] = {word, host_name, uid, gid, NULL};
  autoclose int plain = fcntl (plain_fd, F_DUPFD_CLOEXEC, ABOVE_FD);
  autoclose int network = fcntl (host_fd, F_DUPFD_CLOEXEC, ABOVE_FD);
  if (plain < 0 || network < 0)
    return -errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, plain, PLAIN_FD);
  posix_spawn_file_actions_adddup2 (&actions, network, HOST_FD);
  pid_t pid;
  int r = posix_spawn (&pid, program, &actions, NULL, argv, environment);
  posix_spawn_file_actions_destroy (&actions);
  if (r == 0)
    *ret_pid = pid;
  return -r;
}

/* Waits for the verdict of the handshake. Returns NULL, or the problem, the caller's. */
static char *
await_handshake (const struct egress *egress, const char *name, int fd)
{
  char said[512];
  gint64 deadline_us = g_get_monotonic_time () + HANDSHAKE_US;
  if (!proxy_wait (egress, fd, POLLIN, deadline_us))
    return g_strdup_printf ("%s does not answer with TLS", name);
  gssize got = recv (fd, said, sizeof said - 1, MSG_DONTWAIT);
  /* The host has nothing to say before it is asked. */
  if (got == 1 && said[0] == '+')
    return NULL;
  said[MAX (got, 0)] = '\0';
  g_autofree char *reason = text_one_line (said, -1);
  return g_strdup_printf ("cannot speak TLS to %s%s%s", name, got > 0 ? ": " : "", reason);
}

gboolean
proxy_speak_tls (const struct proxy *proxy, const struct egress *egress, const struct network_secret *secret,
                 struct tls *ret_tls, int *host_fd, char **ret_problem)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
    *ret_problem = g_strdup_printf ("cannot make a socket: %s", g_strerror (errno));
    return FALSE;
  }
  autoclose int ours = ends[0], theirs = ends[1];
  int r = proxy_tls_start (proxy->host, secret->host.text, theirs, *host_fd, &ret_tls->pid);
  if (r < 0) {
    *ret_problem = g_strdup_printf ("cannot start adder-tls: %s", g_strerror (-r));
    return FALSE;
  }
  fd_close (&theirs);
  fd_close (host_fd);
  *ret_problem = await_handshake (egress, secret->host.text, ours);
  if (*ret_problem)
    return FALSE;
  *host_fd = fd_steal (&ours);
  return TRUE;
}

void
proxy_end_tls (struct tls *tls)
{
  while (tls->pid > 0 && waitpid (tls->pid, NULL, 0) < 0 && errno == EINTR)
    ;
}
