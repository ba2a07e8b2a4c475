/* SPDX-License-Identifier: Apache-2.0 */
/* adder-container: starts a container for the daemon and stays with it to its end, whatever becomes of the
 * daemon; removes what a launcher that was killed left; or what earlier daemons left. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "containers/client.h"
#include "containers/order.h"
#include "containers/remove.h"
#include "containers/start.h"
#include "containers/work_directory.h"
#include "runner/wire.h"

/* As everywhere in the project: a failure of our own. */
#define EXIT_FAULT 125

/* Whoever ends the daemon, or presses Ctrl-C where it is in the foreground, means not this one: it ends when
 * the container is removed. */
static void
keep_on (void)
{
  static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM};
  sigset_t none;
  sigemptyset (&none);
  for (gsize i = 0; i < G_N_ELEMENTS (ignored); i++)
    (void)signal (ignored[i], SIG_IGN);
  sigprocmask (SIG_SETMASK, &none, NULL);
}

/* Descriptor 0 becomes /dev/null, 1 the message pipe, and no other stays but those of enum wire_launch_fd
 * that ORDER comes with. */
static gboolean
program_settle_descriptors (const struct container_order *order, GError **error)
{
  autoclose int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2 (null, STDIN_FILENO) < 0 || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    return error_from_errno (error, errno, "cannot settle the standard descriptors");
  if (null <= STDERR_FILENO)
    fd_steal (&null);
  else
    fd_close (&null);
  for (int fd = WIRE_LAUNCH_CONTROL; fd <= WIRE_LAUNCH_FILTER; fd++)
    if (fcntl (fd, F_SETFD, FD_CLOEXEC) < 0)
      return error_from_errno (error, errno, "descriptor %d is missing", fd);
  (void)close (WIRE_LAUNCH_INIT);
  (void)close_range (WIRE_LAUNCH_BIND + (work_directory_is_mount (order) ? 1 : 0), ~0U, 0);
  return TRUE;
}

static gboolean
program_start (const struct container_order *order, GError **error)
{
  keep_on ();
  return program_settle_descriptors (order, error) && container_start (order, error);
}

/* The engine may yet make what its launcher asked for before it died. */
static gboolean
remove_container (const struct container_order *order, GError **error)
{
  const struct config config = {.container_engine = order->engine, .container_socket = order->socket};
  struct container_client *client = container_client_new (&config, error);
  if (client)
    container_remove_surely (client, order->name, TRUE);
  container_client_free (client);
  return client != NULL;
}

static gboolean
program_sweep (const struct container_order *order, GError **error)
{
  const struct config config = {.container_engine = order->engine, .container_socket = order->socket};
  struct container_client *client = container_client_new (&config, error);
  int removed = client ? container_sweep (client, error) : -1;
  container_client_free (client);
  if (removed > 0)
    printf ("removed %d %s of earlier daemons\n", removed, removed == 1 ? "container" : "containers");
  return removed >= 0;
}

static const struct {
  const char *name;
  gboolean (*act) (const struct container_order *order, GError **error);
} commands[] = {{"start", program_start}, {"remove", remove_container}, {"sweep", program_sweep}};

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  for (gsize i = 0; argc == 3 && i < G_N_ELEMENTS (commands); i++) {
    if (strcmp (argv[1], commands[i].name) != 0)
      continue;
    struct container_order *order = container_order_read (argv[2], &error);
    gboolean done = order && commands[i].act (order, &error);
    container_order_free (order);
    if (!done)
      fprintf (stderr, "adder-container: %s\n", error->message);
    return done ? 0 : EXIT_FAULT;
  }
  fputs ("adder-container: the daemon starts it, as \"start\", \"remove\" or \"sweep ORDER\"\n", stderr);
  return EXIT_FAULT;
}
