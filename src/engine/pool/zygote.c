/* SPDX-License-Identifier: Apache-2.0 */
/* Zygotes, from the daemon's side. */
#include "engine/pool/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/pidfd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "engine/files/bind_mount.h"
#include "engine/host/environment_with.h"
#include "engine/host/launcher.h"
#include "engine/host/layout.h"

/* SERVING, with its JSON, is the longest message. */
#define CONTROL_BYTES  ((gsize)64 << 10)
#define MESSAGES_BYTES ((gsize)4096)
#define USEFUL_BYTES   400 /* of them, in an error */
#define CRASH_SPAN_US  ((gint64)3600 * G_USEC_PER_SEC)
#define END_WAIT_MS    10000

/* Forking a large zygote takes milliseconds, on a thrashing host a second: after this long it is stuck, or
 * after its maximum start time, if shorter. */
#define ANSWER_US (10 * G_USEC_PER_SEC)

/* The engine's time to remove a container; afterwards its launcher handles that alone. */
#define LEAVE_WAIT_MS 10000

/* ---- starting ---- */

/* Runs PROGRAM with ARGUMENTS and a launcher's descriptors. */
static gboolean
start (struct zygote *zygote, const struct host *host, const char *program, char *const *arguments,
       GError **error)
{
  int control[2], message[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
    return error_from_errno (error, errno, "cannot make the control socket of a zygote");
  zygote->control_fd = control[0];
  autoclose int their_control = control[1];
  if (pipe2 (message, O_CLOEXEC) < 0)
    return error_from_errno (error, errno, "cannot make the message pipe of a zygote");
  zygote->message_fd = message[0];
  autoclose int their_message = message[1];
  (void)fcntl (zygote->message_fd, F_SETFL, O_NONBLOCK);

  /* It has a bind mount only for the one sandbox of a container. */
  gboolean host_sockets = zygote->bind_fd >= 0;
  const struct launcher_fd fds[] = {
      {their_message, STDERR_FILENO},
      {their_control, WIRE_LAUNCH_CONTROL},
      {host->filter_fd[zygote->isolation][zygote->network][host_sockets], WIRE_LAUNCH_FILTER},
      {host->init_fd, WIRE_LAUNCH_INIT},
      {zygote->bind_fd, WIRE_LAUNCH_BIND},
  };
  gsize count = G_N_ELEMENTS (fds) - (zygote->bind_fd < 0);
  return launcher_start (program, arguments, fds, count, &zygote->launcher_fd, error);
}

static struct zygote *
zygote_new (const struct host *host, const char *environment, enum isolation isolation, enum network network)
{
  struct zygote *zygote = g_new0 (struct zygote, 1);
  zygote->isolation = isolation;
  zygote->network = network;
  zygote->environment = g_strdup (environment);
  zygote->control_fd = zygote->message_fd = zygote->process_fd = zygote->launcher_fd = zygote->bind_fd = -1;
  zygote->folder_fd = -1;
  zygote->started_us = g_get_monotonic_time ();
  zygote->patience_us = MIN (ANSWER_US, (gint64)host->config->zygote_start_ms * 1000);
  zygote->messages = g_string_new (NULL);
  g_queue_init (&zygote->crashes);
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    zygote->spawn[i] = -1;
  return zygote;
}

struct zygote *
zygote_start (const struct host *host, const struct environment *environment, enum isolation isolation,
              enum network network, gboolean bare, GError **error)
{
  struct zygote *zygote = zygote_new (host, environment->name, isolation, network);
  struct layout *layout = layout_new (host, environment, isolation, network, bare);
  char **argv = plan_to_arguments (&layout->plan);
  zygote->bare = bare;
  if (environment_with_is_name (environment->name) &&
      (zygote->folder_fd = environment_with_hold (environment, error)) < 0) {
    free (argv);
    layout_free (layout);
    zygote_free (zygote);
    return NULL;
  }
  gboolean started = argv ? start (zygote, host, host->launcher, argv, error)
                          : error_from_errno (error, ENOMEM, "cannot write the plan of a zygote");
  free (argv);
  layout_free (layout);
  if (!started)
    g_clear_pointer (&zygote, zygote_free);
  return zygote;
}

struct zygote *
zygote_start_contained (const struct host *host, const struct container_order *order, struct sandbox *sandbox,
                        int spawn[WIRE_SPAWN_FDS], GError **error)
{
  struct zygote *zygote = zygote_new (host, order->environment, ISOLATION_CONTAINER, NETWORK_NONE);
  zygote->order = container_order_write (order);
  char *const arguments[] = {host->container_launcher, (char *)(guintptr) "start", zygote->order, NULL};
  zygote->single = sandbox;
  /* The sandbox's own deadline, which its caller hears of, expires first. */
  zygote->patience_us = (gint64)host->config->container_start_ms * 1000;
  memcpy (zygote->spawn, spawn, sizeof zygote->spawn);
  /* Its host mounts exist before a sandbox is requested. */
  zygote->bind_fd = fd_steal (&zygote->spawn[WIRE_SPAWN_DIRECTORY]);
  if (!start (zygote, host, host->container_launcher, arguments, error))
    g_clear_pointer (&zygote, zygote_free);
  return zygote;
}

/* ---- messages ---- */

void
zygote_read_messages (struct zygote *zygote)
{
  char block[4096];
  gssize got = read (zygote->message_fd, block, sizeof block);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got <= 0) {
    fd_close (&zygote->message_fd);
    return;
  }
  g_string_append_len (zygote->messages, block, got);
  if (zygote->messages->len > MESSAGES_BYTES)
    g_string_erase (zygote->messages, 0, (gssize)(zygote->messages->len - MESSAGES_BYTES));
}

/* The most informative line: of a Python traceback the last one, else the first. NULL when there is none. The
 * interpreter may be any program, so its words are sanitized. */
static char *
useful_message (struct zygote *zygote)
{
  while (zygote->message_fd >= 0) {
    gsize before = zygote->messages->len;
    zygote_read_messages (zygote);
    if (zygote->message_fd >= 0 && zygote->messages->len == before)
      break;
  }
  g_autofree char *text = g_utf8_make_valid (zygote->messages->str, (gssize)zygote->messages->len);
  gboolean traceback = strstr (text, "Traceback (most recent call last)") != NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  char *useful = NULL;
  for (guint i = 0; lines[i]; i++)
    if (g_strstrip (lines[i])[0] != '\0' && (!useful || traceback))
      useful = lines[i];
  return useful ? text_one_line (useful, USEFUL_BYTES) : NULL;
}

/* ---- the control protocol ---- */

static enum zygote_event
zygote_end (struct zygote *zygote, struct sandbox **ret_sandbox, GError **error, const char *what)
{
  g_autofree char *message = useful_message (zygote);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the zygote of the environment %s %s%s%s",
               zygote->environment, what, message ? ": " : "", message ? message : "");
  zygote->state = ZYGOTE_ENDED;
  *ret_sandbox = g_steal_pointer (&zygote->spawning);
  return ZYGOTE_EVENT_ENDED;
}

static void
add_failed_modules (json_t *root, const char *environment, GPtrArray *warnings)
{
  gsize index;
  json_t *failed;
  json_array_foreach (json_object_get (root, "failed"), index, failed)
  {
    const char *module = json_string_value (json_object_get (failed, "module"));
    const char *why = json_string_value (json_object_get (failed, "error"));
    if (module && why)
      g_ptr_array_add (warnings, g_strdup_printf ("the environment %s could not load %s ahead: %s",
                                                  environment, module, why));
  }
}

static struct zygote_info *
parse_info (struct zygote *zygote, const char *text, gsize length, GError **error)
{
  g_autoptr (json_t) root = json_parse_object (text, length, "the zygote's message", error);
  if (!root)
    return NULL;
  const char *version = json_string_value (json_object_get (root, "version"));
  g_autoptr (GPtrArray) warnings = g_ptr_array_new ();
  add_failed_modules (root, zygote->environment, warnings);
  if (zygote->container && zygote->container->warning)
    g_ptr_array_add (warnings, g_strdup (zygote->container->warning));
  g_ptr_array_add (warnings, NULL);
  struct zygote_info *info = g_atomic_rc_box_new0 (struct zygote_info);
  info->version = g_strdup (version ? version : "");
  info->warnings = (GStrv)g_ptr_array_free (g_steal_pointer (&warnings), FALSE);
  info->container = g_steal_pointer (&zygote->container);
  return info;
}

static enum zygote_event
take_launched (struct zygote *zygote, const char *text, gsize length, struct sandbox **ret_sandbox,
               GError **error)
{
  g_autoptr (GError) cause = NULL;
  if (zygote->isolation != ISOLATION_CONTAINER)
    return ZYGOTE_EVENT_NONE;
  zygote->container = container_facts_read (text, length, &cause);
  return zygote->container ? ZYGOTE_EVENT_NONE : zygote_end (zygote, ret_sandbox, error, cause->message);
}

static enum zygote_event
take_serving (struct zygote *zygote, const char *text, gsize length, struct sandbox **ret_sandbox,
              GError **error)
{
  g_autoptr (GError) cause = NULL;
  zygote->info = parse_info (zygote, text, length, &cause);
  if (!zygote->info)
    return zygote_end (zygote, ret_sandbox, error, cause->message);
  zygote->state = ZYGOTE_SERVING;
  /* A container's launcher stays, to remove it. */
  if (zygote->isolation != ISOLATION_CONTAINER)
    launcher_reap (&zygote->launcher_fd, "the launcher of a zygote");
  return ZYGOTE_EVENT_SERVING;
}

/* The init of a sandbox in a container is the container's first process, which its launcher reported; and so
 * is the worker if that process is a kernel. */
static gboolean
set_init (const struct zygote *zygote, gboolean apart, int *fds)
{
  for (int i = apart ? WIRE_SPAWNED_WORKER : WIRE_SPAWNED_INIT; i <= WIRE_SPAWNED_INIT; i++) {
    fd_close (&fds[i]);
    fds[i] = fcntl (zygote->process_fd, F_DUPFD_CLOEXEC, 0);
  }
  return fds[WIRE_SPAWNED_WORKER] >= 0 && fds[WIRE_SPAWNED_INIT] >= 0;
}

static enum zygote_event
take_spawned (struct zygote *zygote, int *fds, gsize count, struct sandbox **ret_sandbox, GError **error)
{
  gboolean bind_mounted = zygote->bind_fd >= 0;
  gboolean contained = zygote->isolation == ISOLATION_CONTAINER,
           apart = contained && !bind_mounted && count == 0;
  if (!apart && count != (bind_mounted ? WIRE_SPAWNED_FDS : WIRE_SPAWNED_DIRECTORY))
    return zygote_end (zygote, ret_sandbox, error, "sent a sandbox without its descriptors");
  if (contained && !set_init (zygote, apart, fds))
    return zygote_end (zygote, ret_sandbox, error, "is out of reach: too many descriptors are open");
  struct sandbox *sandbox = *ret_sandbox = g_steal_pointer (&zygote->spawning);
  gboolean adopted = sandbox_adopt (sandbox, fds, error);
  sandbox->apart = apart;
  /* Before any code is leased. */
  adopted = adopted && (!bind_mounted || bind_mount_is_same (zygote->bind_fd, fds[WIRE_SPAWNED_DIRECTORY],
                                                             sandbox->spec.read_only, error));
  fd_close (&zygote->bind_fd);
  for (gsize i = 0; i < WIRE_SPAWNED_DIRECTORY; i++)
    fds[i] = -1;
  sandbox->info = zygote_info_ref (zygote->info);
  return adopted ? ZYGOTE_EVENT_SPAWNED : ZYGOTE_EVENT_REFUSED;
}

static enum zygote_event
take_refused (struct zygote *zygote, struct wire_refused *refused, struct sandbox **ret_sandbox,
              GError **error)
{
  refused->fault.step[FAULT_STEP_BYTES - 1] = '\0';
  if (zygote->state == ZYGOTE_SERVING && zygote->spawning) {
    *ret_sandbox = g_steal_pointer (&zygote->spawning);
    error_from_fault (&refused->fault, error);
    return ZYGOTE_EVENT_REFUSED;
  }
  zygote->state = ZYGOTE_ENDED;
  *ret_sandbox = NULL;
  if (zygote->isolation == ISOLATION_CONTAINER && refused->fault.err == EOPNOTSUPP)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "no container is available: %s",
                 refused->fault.step);
  else {
    error_from_fault (&refused->fault, error);
    g_prefix_error (error, "the environment %s cannot start: ", zygote->environment);
  }
  return ZYGOTE_EVENT_ENDED;
}

/* Which message is legal now, as a table: it depends on the state and on whether an answer is awaited. */
static enum zygote_event
zygote_take (struct zygote *zygote, const char *packet, gsize size, int *fds, gsize count,
             struct sandbox **ret_sandbox, GError **error)
{
  struct wire_control_header header;
  if (size < sizeof header)
    return zygote_end (zygote, ret_sandbox, error, "sent a cut message");
  memcpy (&header, packet, sizeof header);
  if (header.version != WIRE_VERSION)
    return zygote_end (zygote, ret_sandbox, error, "is of another version of Adder");

  gboolean starting = zygote->state == ZYGOTE_STARTING;
  if (header.kind == WIRE_LAUNCHED && starting && zygote->process_fd < 0 && count == 1) {
    zygote->process_fd = fds[0];
    fds[0] = -1;
    return take_launched (zygote, packet + sizeof header, size - sizeof header, ret_sandbox, error);
  }
  if (header.kind == WIRE_SERVING && starting && zygote->process_fd >= 0)
    return take_serving (zygote, packet + sizeof header, size - sizeof header, ret_sandbox, error);
  if (header.kind == WIRE_SPAWNED && zygote->spawning)
    return take_spawned (zygote, fds, count, ret_sandbox, error);
  if (header.kind == WIRE_REFUSED && size == sizeof (struct wire_refused) && (starting || zygote->spawning)) {
    struct wire_refused refused;
    memcpy (&refused, packet, sizeof refused);
    return take_refused (zygote, &refused, ret_sandbox, error);
  }
  return zygote_end (zygote, ret_sandbox, error, "sent a message out of turn");
}

enum zygote_event
zygote_read (struct zygote *zygote, struct sandbox **ret_sandbox, GError **error)
{
  g_autofree char *packet = g_malloc (CONTROL_BYTES);
  int fds[WIRE_SPAWNED_FDS] = {-1, -1, -1, -1};
  gsize count = 0;
  *ret_sandbox = NULL;
  if (zygote->state == ZYGOTE_ENDED)
    return ZYGOTE_EVENT_NONE;
  gssize got = fd_receive_flags (zygote->control_fd, packet, CONTROL_BYTES, MSG_DONTWAIT, fds,
                                 WIRE_SPAWNED_FDS, &count);
  if (got == -EAGAIN || got == -EINTR)
    return ZYGOTE_EVENT_NONE;
  if (got <= 0)
    return zygote_end (zygote, ret_sandbox, error,
                       zygote->state == ZYGOTE_STARTING ? "did not start" : "ended");
  enum zygote_event event = zygote_take (zygote, packet, (gsize)got, fds, count, ret_sandbox, error);
  for (gsize i = 0; i < count; i++)
    fd_close (&fds[i]);
  return event;
}

gboolean
zygote_spawn (struct zygote *zygote, struct sandbox *sandbox, int spawn[WIRE_SPAWN_FDS], uint32_t flags,
              GError **error)
{
  struct wire_spawn message = {
      .header = {.kind = WIRE_SPAWN, .version = WIRE_VERSION},
      .flags = flags,
      .limits = limits_maximum (),
  };
  /* The engine counts a container's processes: here all processes of one user would count. */
  gboolean contained = zygote->isolation == ISOLATION_CONTAINER;
  for (enum limit i = 0; i < LIMIT_COUNT; i++)
    if (sandbox_spec_fixes (i, zygote->isolation) && !(contained && i == LIMIT_PIDS))
      message.limits.value[i] = sandbox->spec.limits.value[i];
  for (guint i = 0; sandbox->spec.files && i < sandbox->spec.files->len; i++)
    g_strlcpy (message.files[i], sandbox->spec.files->pdata[i], WIRE_FILE_PATH_BYTES);
  if (sandbox->spec.own_path)
    g_strlcpy (message.own_path, sandbox->spec.own_path, WIRE_OWN_PATH_BYTES);
  int sent[WIRE_SPAWN_FDS];
  gsize count = 0;
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    if (spawn[i] >= 0)
      sent[count++] = spawn[i];
  int r = fd_send (zygote->control_fd, &message, sizeof message, sent, count);
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    fd_close (&spawn[i]);
  if (r < 0)
    return error_from_errno (error, r, "cannot ask the zygote of %s for a sandbox", zygote->environment);
  zygote->spawning = sandbox;
  zygote->answer_us = g_get_monotonic_time () + zygote->patience_us;
  zygote->runs++;
  return TRUE;
}

void
zygote_note_crash (struct zygote *zygote, guint64 most)
{
  gint64 now = g_get_monotonic_time ();
  gint64 *when = g_memdup2 (&now, sizeof now);
  g_queue_push_tail (&zygote->crashes, when);
  while (zygote->crashes.length > most ||
         now - *(gint64 *)g_queue_peek_head (&zygote->crashes) > CRASH_SPAN_US)
    g_free (g_queue_pop_head (&zygote->crashes));
}

/* ---- ending ---- */

/* Without a pid namespace that ends with it, a serving zygote is asked to end, and ends its sandboxes
 * first. */
void
zygote_kill (struct zygote *zygote)
{
  if (zygote->isolation == ISOLATION_CONTAINER)
    zygote_discard (zygote);
  else if (zygote->isolation != ISOLATION_NAMESPACES && zygote->state == ZYGOTE_SERVING)
    (void)shutdown (zygote->control_fd, SHUT_RDWR);
  else if (zygote->process_fd >= 0)
    (void)sys_pidfd_send_signal (zygote->process_fd, SIGKILL, NULL, 0);
}

void
zygote_discard (struct zygote *zygote)
{
  zygote->state = ZYGOTE_ENDED;
  zygote->spawning = NULL;
  if (zygote->process_fd >= 0)
    (void)sys_pidfd_send_signal (zygote->process_fd, SIGKILL, NULL, 0);
  fd_close (&zygote->control_fd);
  fd_close (&zygote->message_fd);
  fd_close (&zygote->bind_fd);
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    fd_close (&zygote->spawn[i]);
}

/* Its container may have been created and not started, which the end of no process removes. */
static gboolean
remove_anew (struct zygote *zygote, const struct host *host)
{
  char *const arguments[] = {host->container_launcher, (char *)(guintptr) "remove", zygote->order, NULL};
  g_autoptr (GError) error = NULL;
  launcher_reap (&zygote->launcher_fd, "the launcher of a container");
  zygote->removing = TRUE;
  if (launcher_start_alone (host->container_launcher, arguments, &zygote->launcher_fd, &error))
    return TRUE;
  log_warning ("a container whose launcher was killed is not removed: %s", error->message);
  return FALSE;
}

gboolean
zygote_has_left (struct zygote *zygote, const struct host *host)
{
  if (zygote->launcher_fd < 0)
    return TRUE;
  if (!launcher_wait (zygote->launcher_fd, 0))
    return FALSE;
  gboolean is_left = zygote->process_fd < 0 && launcher_was_killed (zygote->launcher_fd);
  return !(is_left && remove_anew (zygote, host));
}

static void
zygote_reap (struct zygote *zygote)
{
  zygote_kill (zygote);
  if (!launcher_wait (zygote->process_fd, END_WAIT_MS)) {
    /* It was only asked to, or the kernel is slow. */
    (void)sys_pidfd_send_signal (zygote->process_fd, SIGKILL, NULL, 0);
    if (!launcher_wait (zygote->process_fd, END_WAIT_MS))
      log_warning ("the zygote of %s was killed and does not end", zygote->environment);
  }
  /* It sends no signal when it ends (exit_signal 0), which only __WALL waits for. */
  siginfo_t info;
  (void)waitid (P_PIDFD, (id_t)zygote->process_fd, &info, WEXITED | WNOHANG | __WALL);
}

static void
free_contained (struct zygote *zygote)
{
  zygote_discard (zygote);
  /* A launcher that waits for a container that may still appear is killed: a later daemon searches for it. */
  if (zygote->launcher_fd >= 0 && !launcher_wait (zygote->launcher_fd, LEAVE_WAIT_MS) && !zygote->removing) {
    log_warning ("a container takes long to be removed");
    fd_close (&zygote->launcher_fd);
  }
  launcher_reap (&zygote->launcher_fd, "the launcher of a container");
  container_facts_free (zygote->container);
}

static void
free_own (struct zygote *zygote)
{
  /* Only when the launcher has ended is it certain whether there is a zygote. */
  launcher_reap (&zygote->launcher_fd, "the launcher of a zygote");
  while (zygote->control_fd >= 0 && zygote->process_fd < 0 && zygote->state == ZYGOTE_STARTING) {
    struct sandbox *none;
    g_autoptr (GError) ignored = NULL;
    if (zygote_read (zygote, &none, &ignored) == ZYGOTE_EVENT_NONE && zygote->process_fd < 0)
      break;
  }
  if (zygote->process_fd >= 0)
    zygote_reap (zygote);
}

void
zygote_free (struct zygote *zygote)
{
  if (!zygote)
    return;
  if (zygote->isolation == ISOLATION_CONTAINER)
    free_contained (zygote);
  else
    free_own (zygote);
  fd_close (&zygote->control_fd);
  fd_close (&zygote->message_fd);
  fd_close (&zygote->process_fd);
  fd_close (&zygote->folder_fd);
  zygote_info_unref (zygote->info);
  g_string_free (zygote->messages, TRUE);
  g_queue_clear_full (&zygote->crashes, g_free);
  g_free (zygote->environment);
  g_free (zygote->order);
  g_free (zygote);
}
