/* SPDX-License-Identifier: Apache-2.0 */
/* The container has the daemon's name before the engine is asked for it, so that it can be removed whatever
 * becomes of the answer, and of this process. From then on every way out goes through
 * container_remove_surely. */
#include "containers/start.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/pidfd.h"
#include "common/error.h"
#include "common/json.h"
#include "containers/client.h"
#include "containers/find.h"
#include "containers/image.h"
#include "containers/join.h"
#include "containers/remove.h"
#include "containers/spec.h"
#include "containers/work_directory.h"
#include "runner/wire.h"

struct start {
  const struct container_order *order;
  struct container_client *client;
  struct container_image *image;
  struct join join;
  gint64 until_us;
  char *id;       /* NULL: the engine did not answer */
  gboolean asked; /* for the container */
  char *runtime;
  gboolean unsure; /* whether it was created: no answer came */
  gboolean joined; /* PID is the container's indeed */
  pid_t pid;
  int pid_fd;
};

static guint64
left_ms (const struct start *start)
{
  return (guint64)MAX (start->until_us - g_get_monotonic_time (), 0) / 1000;
}

/* ---- before ---- */

/* Podman has one runtime for all containers. */
static gboolean
check_podman (struct start *start, GError **error)
{
  const char *wanted = start->order->runtime;
  g_autoptr (json_t) answer = NULL;
  if (!container_client_call (start->client, "GET", "/info", NULL, left_ms (start), &answer, error))
    return FALSE;
  const char *runtime = json_member_text (answer, "DefaultRuntime");
  start->runtime = g_path_get_basename (runtime);
  if (!wanted || strcmp (wanted, runtime) == 0 || strcmp (wanted, start->runtime) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "Podman runs containers with %s, not %s: it takes its runtime from containers.conf", runtime,
               wanted);
  return FALSE;
}

/* Its containers' root is this user, and a zygote as root serves nothing. */
static gboolean
check_docker (const struct start *start, GError **error)
{
  if (!container_is_rootless (container_client_socket (start->client)))
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                       "rootless Docker has no users but root in common with the host: take rootless Podman, "
                       "or the system's Docker ([container] socket)");
  return FALSE;
}

static gboolean
start_find_engine (struct start *start, GError **error)
{
  const struct container_order *order = start->order;
  const struct config config = {.container_engine = order->engine, .container_socket = order->socket};
  start->client = container_client_new (&config, error);
  if (!start->client)
    return FALSE;
  if (!(container_client_is_podman (start->client) ? check_podman (start, error)
                                                   : check_docker (start, error)))
    return FALSE;
  start->image = container_image_look (start->client, order->image, error);
  return start->image != NULL;
}

/* ---- making it ---- */

/* A runtime that the engine does not know is not there the next time either. */
static gboolean
blame_runtime (const struct start *start, GError **error)
{
  const char *runtime = start->order->runtime;
  if (!runtime || container_client_status (start->client) != 400 || !strstr ((*error)->message, runtime))
    return FALSE;
  g_clear_error (error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "Docker knows no runtime \"%s\": \"docker info\" lists those it knows ([container] runtime)",
               runtime);
  return FALSE;
}

static gboolean
start_create (struct start *start, GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (json_t) answer = NULL;
  g_autoptr (json_t) body = container_spec (start->client, start->order, start->image, start->join.directory);
  path = g_strconcat ("/containers/create?name=", start->order->name, NULL);
  start->asked = TRUE;
  gboolean made = container_client_call (start->client, "POST", path, body, left_ms (start), &answer, error);
  start->unsure = !made && container_client_status (start->client) == 0;
  if (!made)
    return blame_runtime (start, error);
  const char *id = json_member_text (answer, "Id");
  if (id[0] != '\0') {
    start->id = g_strdup (id);
    return TRUE;
  }
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                       "the container engine does not say what it created");
  return FALSE;
}

static gboolean
start_run (struct start *start, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/containers/%s/start", start->id);
  return container_client_call (start->client, "POST", path, NULL, left_ms (start), NULL, error) ||
         blame_runtime (start, error);
}

static gboolean
inspect (struct start *start, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/containers/%s/json", start->id);
  g_autoptr (json_t) answer = NULL;
  gboolean known = container_client_call (start->client, "GET", path, NULL, left_ms (start), &answer, error);
  if (!known && container_client_status (start->client) == 404) { /* engines remove one that ended */
    g_clear_error (error);
    return join_ended (error);
  }
  if (!known)
    return FALSE;
  if (!start->runtime)
    start->runtime = g_strdup (json_member_text (json_object_get (answer, "HostConfig"), "Runtime"));
  start->pid = (pid_t)json_integer_value (json_object_get (json_object_get (answer, "State"), "Pid"));
  start->pid_fd = start->pid > 0 ? sys_pidfd_open (start->pid, 0) : -1;
  if (start->pid_fd >= 0)
    return TRUE;
  if (start->pid > 0 && errno != ESRCH)
    return error_from_errno (error, errno, "cannot watch a container");
  return join_ended (error); /* even before it was looked at */
}

/* ---- telling the daemon ---- */

static gboolean
start_tell (const struct start *start, GError **error)
{
  const struct container_image *image = start->image;
  g_autofree char *warning = container_image_warning (image, start->order->image_age_ms);
  const struct container_facts facts = {
      .engine = (char *)(guintptr)container_client_name (start->client),
      .engine_version = (char *)(guintptr)container_client_version (start->client),
      .runtime = start->runtime,
      .container = start->id,
      .image = image->name,
      .digest = image->digest,
      .version = image->version,
      .warning = warning,
  };
  const struct wire_control_header header = {.kind = WIRE_LAUNCHED, .version = WIRE_VERSION};
  g_autofree char *text = container_facts_write (&facts);
  g_autoptr (GByteArray) message = g_byte_array_new ();
  g_byte_array_append (message, (const guint8 *)&header, sizeof header);
  g_byte_array_append (message, (const guint8 *)text, (guint)strlen (text));
  int r = fd_send (WIRE_LAUNCH_CONTROL, message->data, message->len, &start->pid_fd, 1);
  return r == 0 || error_from_errno (error, r, "cannot tell the daemon");
}

/* A kernel that is a process of the host's belongs to whom its runtime says, and takes no mounts. */
static gboolean
check_apart (const struct start *start, GError **error)
{
  const char *lacking = NULL;
  if (start->join.apart && start->order->bind)
    lacking = "takes no directory of the host's";
  else if (start->join.apart && sys_pidfd_send_signal (start->pid_fd, 0, NULL, 0) < 0)
    lacking = "belongs to another user than Adder's, who could not end it: that takes root's daemon";
  if (!lacking)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "a container of the runtime %s has a kernel of its own, which %s", start->runtime, lacking);
  return FALSE;
}

/* LAUNCHED comes before the container has the socket on which it says that it serves. */
static gboolean
start_hand_over (struct start *start, GError **error)
{
  start->joined = join_wait (&start->join, start->pid, start->pid_fd, start->until_us, error);
  return start->joined && check_apart (start, error) &&
         work_directory_attach (start->order, start->pid_fd, error) && start_tell (start, error) &&
         join_send (&start->join, STDERR_FILENO, WIRE_LAUNCH_CONTROL, WIRE_LAUNCH_FILTER, error);
}

/* ---- its end ---- */

/* Until the container ended, or nobody reads its messages any more: then the daemon has done with it, or is
 * no more. */
static void
start_watch (const struct start *start)
{
  struct pollfd watched[] = {{.fd = start->pid_fd, .events = POLLIN}, {.fd = STDERR_FILENO}};
  while (poll (watched, G_N_ELEMENTS (watched), -1) < 0 && errno == EINTR)
    ;
}

static void
start_finish (struct start *start)
{
  join_close (&start->join);
  /* Sooner than any engine, and even where there is none any more. Which process an engine means is sure when
   * it has joined. */
  if (start->joined)
    (void)sys_pidfd_send_signal (start->pid_fd, SIGKILL, NULL, 0);
  if (start->asked) {
    container_remove_surely (start->client, start->order->name, start->unsure);
    /* What an engine made only after the first sweep, for a launcher that was killed while it asked. */
    (void)container_sweep (start->client, NULL);
  }
  container_client_free (start->client);
  container_image_free (start->image);
  g_free (start->id);
  g_free (start->runtime);
  fd_close (&start->pid_fd);
}

/* The daemon need not wait for what is done about it. */
static void
start_refuse (const GError *error)
{
  struct wire_refused refused = {.header = {.kind = WIRE_REFUSED, .version = WIRE_VERSION}};
  gboolean lacking = g_error_matches (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED) ||
                     g_error_matches (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  gboolean late = g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT);
  fault_set_text (&refused.fault, lacking ? EOPNOTSUPP : late ? ETIMEDOUT : EIO, error->message);
  (void)fd_send (WIRE_LAUNCH_CONTROL, &refused, sizeof refused, NULL, 0);
}

static void
start_let_go (const struct container_order *order)
{
  (void)close (WIRE_LAUNCH_CONTROL);
  (void)close (WIRE_LAUNCH_FILTER);
  if (work_directory_is_mount (order))
    (void)close (WIRE_LAUNCH_BIND);
}

gboolean
container_start (const struct container_order *order, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct start start = {
      .order = order,
      .join = {.listen_fd = -1, .zygote_fd = -1},
      .until_us = g_get_monotonic_time () + (gint64)order->start_ms * 1000,
      .pid_fd = -1,
  };
  gboolean started =
      start_find_engine (&start, &problem) && work_directory_check (order, start.client, &problem) &&
      join_open (&start.join, order->home, &problem) && start_create (&start, &problem) &&
      start_run (&start, &problem) && inspect (&start, &problem) && start_hand_over (&start, &problem);
  if (!started)
    start_refuse (problem);
  start_let_go (order);
  if (started)
    start_watch (&start);
  start_finish (&start);
  if (!started)
    g_propagate_error (error, g_steal_pointer (&problem));
  return started;
}
