/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications of changes. A listener is a client waiting in subscriptions/listen, or a legacy session.
 * Changes are marked with it, never queued, so that they are bounded and nobody waits for a slow client; each
 * listener has a thread that sends, its request's or, for a session, one of a pool while there is something
 * to send. A listener only hears of its owner's things.
 *
 * The engine reports sessions and files (common/notifications.h); tools change with tools.conf, which a
 * thread watches. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/notifications.h"
#include "common/paths.h"
#include "interfaces/mcp/memory.h"
#include "interfaces/mcp/resources.h"
#include "interfaces/mcp/session.h"
#include "library/library.h"

#define URI_BYTES 2048

enum wish { WISH_TOOLS = 1 << 0, WISH_PROMPTS = 1 << 1, WISH_RESOURCES = 1 << 2 };

static const struct {
  enum wish wish;
  const char *filter, *method;
} wishes[] = {
    {WISH_TOOLS, "toolsListChanged", "notifications/tools/list_changed"},
    {WISH_PROMPTS, "promptsListChanged", "notifications/prompts/list_changed"},
    {WISH_RESOURCES, "resourcesListChanged", "notifications/resources/list_changed"},
};

LOCK_CLASS (mcp_subscriptions);

struct listener {
  gint references;
  struct mcp_subscriptions *subscriptions;
  char *owner;
  struct mcp_session *session;                                      /* NULL: a listening request */
  int wake_fd;                                                      /* of such a request */
  GUARDED_BY (mcp_subscriptions) guint wanted, changed;             /* of enum wish */
  GUARDED_BY (mcp_subscriptions) GHashTable *uris, *changed_uris;   /* as sets */
  GUARDED_BY (mcp_subscriptions) GHashTable *tasks, *changed_tasks; /* ids, likewise */
  GUARDED_BY (mcp_subscriptions) gboolean sending;                  /* a session's: by a thread of the pool */
  GUARDED_BY (mcp_subscriptions) gboolean busy; /* a session's: a thread is sending right now */
  GUARDED_BY (mcp_subscriptions) gboolean left;
};

struct mcp_subscriptions {
  struct mcp_memory *memory;
  MUTEX (mcp_subscriptions) lock;
  GCond quiet;                                         /* nobody sends any more */
  GUARDED_BY (mcp_subscriptions) GPtrArray *listeners; /* holds a reference of each */
  GUARDED_BY (mcp_subscriptions) guint listening;      /* requests among them */
  GUARDED_BY (mcp_subscriptions) guint sending;
  GUARDED_BY (mcp_subscriptions) gboolean ending;
  GThreadPool *senders;
  guint64 subscription; /* notifications_subscribe's */
  GThread *watcher;
  int wake_fd; /* of the watcher */
};

/* ---- listeners ---- */

static GHashTable *
set_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

static struct listener *
listener_new (struct mcp_subscriptions *subscriptions, const char *owner)
{
  struct listener *listener = g_new0 (struct listener, 1);
  UNSHARED (mcp_subscriptions);
  listener->references = 1;
  listener->subscriptions = subscriptions;
  listener->owner = g_strdup (owner);
  listener->wake_fd = -1;
  listener->uris = set_new ();
  listener->changed_uris = set_new ();
  listener->tasks = set_new ();
  listener->changed_tasks = set_new ();
  return listener;
}

static void
listener_unref (gpointer data)
{
  struct listener *listener = data;
  if (!g_atomic_int_dec_and_test (&listener->references))
    return;
  UNSHARED (mcp_subscriptions);
  mcp_session_unref (listener->session);
  fd_close (&listener->wake_fd);
  g_hash_table_unref (listener->uris);
  g_hash_table_unref (listener->changed_uris);
  g_hash_table_unref (listener->tasks);
  g_hash_table_unref (listener->changed_tasks);
  g_free (listener->owner);
  g_free (listener);
}

REQUIRES (mcp_subscriptions)
static gboolean
has_changes (const struct listener *listener)
{
  return listener->changed != 0 || g_hash_table_size (listener->changed_uris) > 0 ||
         g_hash_table_size (listener->changed_tasks) > 0;
}

/* A mark was set; wakes a sender. */
REQUIRES (mcp_subscriptions)
static void
subscriptions_wake (struct listener *listener)
{
  guint64 one = 1;
  if (listener->wake_fd >= 0) {
    G_GNUC_UNUSED ssize_t put = write (listener->wake_fd, &one, sizeof one);
  } else if (!listener->sending && !listener->subscriptions->ending) {
    listener->sending = TRUE;
    listener->subscriptions->sending++;
    g_atomic_int_inc (&listener->references);
    g_thread_pool_push (listener->subscriptions->senders, listener, NULL);
  }
}

REQUIRES (mcp_subscriptions)
static void
subscriptions_mark (struct listener *listener, guint wish, const char *uri)
{
  gboolean marked = (listener->wanted & wish) != 0;
  if (marked)
    listener->changed |= wish;
  if (uri && g_hash_table_contains (listener->uris, uri)) {
    g_hash_table_add (listener->changed_uris, g_strdup (uri));
    marked = TRUE;
  }
  if (marked)
    subscriptions_wake (listener);
}

/* ---- what changed ---- */

static void
subscriptions_tell (struct mcp_subscriptions *subscriptions, const char *owner, guint wish, const char *uri)
{
  g_mutex_lock (&subscriptions->lock);
  for (guint i = 0; i < subscriptions->listeners->len; i++) {
    struct listener *listener = subscriptions->listeners->pdata[i];
    if (!owner || strcmp (owner, listener->owner) == 0)
      subscriptions_mark (listener, wish, uri);
  }
  g_mutex_unlock (&subscriptions->lock);
}

void
mcp_server_changed (struct mcp_server *server, const char *owner, enum mcp_change change, const char *uri)
{
  static const guint wish_of[] = {
      [MCP_CHANGE_TOOLS] = WISH_TOOLS,
      [MCP_CHANGE_PROMPTS] = WISH_PROMPTS,
      [MCP_CHANGE_RESOURCES] = WISH_RESOURCES,
      [MCP_CHANGE_RESOURCE] = 0,
  };
  subscriptions_tell (mcp_server_memory (server)->subscriptions, owner, wish_of[change], uri);
}

void
mcp_subscriptions_task (struct mcp_subscriptions *subscriptions, const char *owner, const char *id)
{
  g_mutex_lock (&subscriptions->lock);
  for (guint i = 0; i < subscriptions->listeners->len; i++) {
    struct listener *listener = subscriptions->listeners->pdata[i];
    if (strcmp (owner, listener->owner) == 0 && g_hash_table_contains (listener->tasks, id)) {
      g_hash_table_add (listener->changed_tasks, g_strdup (id));
      subscriptions_wake (listener);
    }
  }
  g_mutex_unlock (&subscriptions->lock);
}

static void
take_notification (gpointer data, enum notification_kind kind, G_GNUC_UNUSED enum notification_change change,
                   const char *owner, const char *id)
{
  g_autofree char *uri = NULL;
  switch (kind) {
  case NOTIFICATION_SESSION:
    uri = resource_session_uri (id);
    subscriptions_tell (data, owner ? owner : "", 0, uri);
    break;
  case NOTIFICATION_SESSION_LIST:
    subscriptions_tell (data, owner ? owner : "", WISH_RESOURCES, NULL);
    break;
  case NOTIFICATION_FILE:
    uri = resource_file_uri (id);
    subscriptions_tell (data, owner ? owner : "", WISH_RESOURCES, uri);
    break;
  case NOTIFICATION_TOOLS:
  default:
    subscriptions_tell (data, NULL, WISH_TOOLS | WISH_PROMPTS, NULL);
    break;
  }
}

/* ---- sending ---- */

struct changes {
  guint lists;
  GHashTable *uris, *tasks;
};

/* Takes what is marked; an owned set each. */
REQUIRES (mcp_subscriptions)
static struct changes
take_changes (struct listener *listener)
{
  struct changes changes = {listener->changed, listener->changed_uris, listener->changed_tasks};
  listener->changed = 0;
  listener->changed_uris = set_new ();
  listener->changed_tasks = set_new ();
  return changes;
}

/* Sends one of them; takes PARAMS. */
typedef gboolean (*changes_send) (gpointer data, const char *method, json_t *params);

static gboolean
send_changes (struct listener *listener, const struct changes *changes, changes_send send, gpointer data)
{
  struct mcp_tasks *tasks = listener->subscriptions->memory->tasks;
  GHashTableIter iter;
  gpointer key;
  gboolean sent = TRUE;
  for (gsize i = 0; sent && i < G_N_ELEMENTS (wishes); i++)
    if (changes->lists & (guint)wishes[i].wish)
      sent = send (data, wishes[i].method, json_object ());
  g_hash_table_iter_init (&iter, changes->uris);
  while (sent && g_hash_table_iter_next (&iter, &key, NULL))
    sent = send (data, "notifications/resources/updated", json_pack ("{s:s}", "uri", (const char *)key));
  g_hash_table_iter_init (&iter, changes->tasks);
  while (sent && g_hash_table_iter_next (&iter, &key, NULL)) {
    json_t *shown = mcp_task_show (tasks, listener->owner, key);
    if (shown)
      sent = send (data, "notifications/tasks", shown);
  }
  g_hash_table_unref (changes->uris);
  g_hash_table_unref (changes->tasks);
  return sent;
}

/* ---- legacy sessions ---- */

static gboolean
send_to_session (gpointer data, const char *method, json_t *params)
{
  mcp_session_notify (data, method, params);
  return TRUE;
}

/* Sends what is marked for LISTENER, a session's, until nothing is; waits for another thread that sends. */
REQUIRES (mcp_subscriptions)
static void
send_marked (struct listener *listener)
{
  struct mcp_subscriptions *subscriptions = listener->subscriptions;
  while (listener->busy)
    g_cond_wait (&subscriptions->quiet, &subscriptions->lock);
  while (has_changes (listener) && !listener->left && !subscriptions->ending) {
    struct changes changes = take_changes (listener);
    listener->busy = TRUE;
    g_mutex_unlock (&subscriptions->lock);
    send_changes (listener, &changes, send_to_session, listener->session);
    g_mutex_lock (&subscriptions->lock);
    listener->busy = FALSE;
    g_cond_broadcast (&subscriptions->quiet);
  }
}

/* In a thread of the pool. */
static void
send_session (gpointer data, gpointer user_data)
{
  struct listener *listener = data;
  struct mcp_subscriptions *subscriptions = user_data;
  g_mutex_lock (&subscriptions->lock);
  send_marked (listener);
  listener->sending = FALSE;
  subscriptions->sending--;
  g_cond_broadcast (&subscriptions->quiet);
  g_mutex_unlock (&subscriptions->lock);
  listener_unref (listener);
}

void
mcp_subscriptions_join (struct mcp_request *request)
{
  struct mcp_subscriptions *subscriptions = mcp_server_memory (request->server)->subscriptions;
  struct mcp_session *session = request->session;
  if (!session)
    return;
  struct listener *listener = listener_new (subscriptions, mcp_owner (request));
  listener->session = mcp_session_ref (session);
  g_mutex_lock (&subscriptions->lock);
  listener->wanted = WISH_TOOLS | WISH_PROMPTS | WISH_RESOURCES;
  g_mutex_lock (&session->lock);
  gboolean ended = session->ended;
  g_mutex_unlock (&session->lock);
  gboolean joins = !ended && !g_atomic_pointer_get (&session->listener) && !subscriptions->ending;
  if (joins) {
    g_atomic_pointer_set (&session->listener, listener);
    g_ptr_array_add (subscriptions->listeners, listener);
  }
  g_mutex_unlock (&subscriptions->lock);
  if (!joins)
    listener_unref (listener);
}

void
mcp_subscriptions_settle (struct mcp_request *request)
{
  struct mcp_subscriptions *subscriptions = mcp_server_memory (request->server)->subscriptions;
  if (!request->session)
    return;
  g_mutex_lock (&subscriptions->lock);
  struct listener *listener = g_atomic_pointer_get (&request->session->listener);
  if (listener) {
    g_atomic_int_inc (&listener->references); /* the thread that ends the session drops the list's
                                               * reference */
    send_marked (listener);
  }
  g_mutex_unlock (&subscriptions->lock);
  if (listener)
    listener_unref (listener);
}

void
mcp_subscriptions_leave (struct mcp_session *session)
{
  struct listener *listener;
  /* Several threads may end a session at once: one of them takes it, and with it the list's reference. */
  do {
    listener = g_atomic_pointer_get (&session->listener);
    if (!listener)
      return;
  } while (!g_atomic_pointer_compare_and_exchange (&session->listener, listener, NULL));
  struct mcp_subscriptions *subscriptions = listener->subscriptions;
  g_mutex_lock (&subscriptions->lock);
  listener->left = TRUE;
  g_ptr_array_remove_fast (subscriptions->listeners, listener);
  g_mutex_unlock (&subscriptions->lock);
}

/* ---- resources/subscribe and unsubscribe ---- */

static const char *
read_uri (struct mcp_request *request)
{
  const char *uri = json_string_value (json_object_get (request->params, "uri"));
  if (!uri || strlen (uri) > URI_BYTES) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "uri must be given, as text of %d bytes at most",
                 URI_BYTES);
    return NULL;
  }
  return uri;
}

static void
subscribe (struct mcp_request *request, gboolean on)
{
  const struct mcp_memory *memory = mcp_server_memory (request->server);
  const char *uri = read_uri (request);
  gboolean room = TRUE;
  if (!uri)
    return;
  mcp_subscriptions_join (request);
  g_mutex_lock (&memory->subscriptions->lock);
  struct listener *listener = request->session ? g_atomic_pointer_get (&request->session->listener) : NULL;
  if (listener && !on)
    g_hash_table_remove (listener->uris, uri);
  else if (listener) {
    room = g_hash_table_contains (listener->uris, uri) ||
           g_hash_table_size (listener->uris) < memory->config->max_mcp_subscribed;
    if (room)
      g_hash_table_add (listener->uris, g_strdup (uri));
  }
  g_mutex_unlock (&memory->subscriptions->lock);
  if (!room)
    mcp_problem (request, MCP_INVALID_PARAMS, NULL,
                 "that is one subscription too many ([mcp] max_subscribed = %" G_GUINT64_FORMAT ")",
                 memory->config->max_mcp_subscribed);
  else
    mcp_result (request, json_object ());
}

void
mcp_resources_subscribe (struct mcp_request *request)
{
  subscribe (request, TRUE);
}

void
mcp_resources_unsubscribe (struct mcp_request *request)
{
  subscribe (request, FALSE);
}

/* ---- subscriptions/listen ---- */

/* The members of LIST, texts, into SET; FALSE with a reply. NAME says of what. */
static gboolean
take_names (struct mcp_request *request, const json_t *list, const char *name, GHashTable *set)
{
  guint64 most = mcp_server_memory (request->server)->config->max_mcp_subscribed;
  gsize index;
  json_t *item;
  if (list && !json_is_array (list)) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s must be a list", name);
    return FALSE;
  }
  json_array_foreach (list, index, item)
  {
    if (!json_is_string (item) || json_string_length (item) > URI_BYTES || index >= most) {
      mcp_problem (request, MCP_INVALID_PARAMS, NULL,
                   "%s has texts of %d bytes at most, and %" G_GUINT64_FORMAT " of them", name, URI_BYTES,
                   most);
      return FALSE;
    }
    g_hash_table_add (set, g_strdup (json_string_value (item)));
  }
  return TRUE;
}

/* What FILTER requests. FALSE with a reply. */
static gboolean
take_filter (struct mcp_request *request, struct listener *listener, const json_t *filter)
{
  gboolean tasks = mcp_client_extends (request, MCP_EXTENSION_TASKS);
  UNSHARED (mcp_subscriptions); /* nobody else has LISTENER yet */
  if (!json_is_object (filter)) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "notifications must be given, as an object");
    return FALSE;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (wishes); i++) {
    const json_t *wanted = json_object_get (filter, wishes[i].filter);
    if (wanted && !json_is_boolean (wanted)) {
      mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s must be true or false", wishes[i].filter);
      return FALSE;
    }
    if (json_is_true (wanted))
      listener->wanted |= (guint)wishes[i].wish;
  }
  return take_names (request, json_object_get (filter, "resourceSubscriptions"), "resourceSubscriptions",
                     listener->uris) &&
         take_names (request, tasks ? json_object_get (filter, "taskIds") : NULL, "taskIds", listener->tasks);
}

static json_t *
subscriptions_names_of (GHashTable *set)
{
  GHashTableIter iter;
  gpointer name;
  json_t *names = json_array ();
  g_hash_table_iter_init (&iter, set);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    json_array_append_new (names, json_string (name));
  return names;
}

/* What will be notified from now on. The caller's. */
static json_t *
agreed (const struct listener *listener)
{
  json_t *filter = json_object ();
  g_mutex_lock (&listener->subscriptions->lock);
  for (gsize i = 0; i < G_N_ELEMENTS (wishes); i++)
    if (listener->wanted & (guint)wishes[i].wish)
      json_object_set_new (filter, wishes[i].filter, json_true ());
  if (g_hash_table_size (listener->uris) > 0)
    json_object_set_new (filter, "resourceSubscriptions", subscriptions_names_of (listener->uris));
  if (g_hash_table_size (listener->tasks) > 0)
    json_object_set_new (filter, "taskIds", subscriptions_names_of (listener->tasks));
  g_mutex_unlock (&listener->subscriptions->lock);
  return filter;
}

static void
add_id (const struct mcp_request *request, json_t *object)
{
  json_object_set_new (object, "_meta", json_pack ("{s:O}", MCP_META_LISTEN, request->id));
}

static gboolean
send_to_request (gpointer data, const char *method, json_t *params)
{
  struct mcp_request *request = data;
  add_id (request, params);
  return mcp_notify (request, method, params);
}

/* Sends marked changes, until the client leaves or the server ends. */
static void
listen_on (struct mcp_request *request, struct listener *listener)
{
  struct mcp_subscriptions *subscriptions = listener->subscriptions;
  gboolean goes_on = TRUE;
  while (goes_on) {
    struct pollfd ready[] = {{.fd = listener->wake_fd, .events = POLLIN},
                             {.fd = request->watch_fd, .events = POLLRDHUP}};
    guint64 count;
    if (poll (ready, G_N_ELEMENTS (ready), -1) < 0 && errno == EINTR)
      continue;
    if (ready[1].revents)
      return;
    G_GNUC_UNUSED ssize_t got = read (listener->wake_fd, &count, sizeof count);
    g_mutex_lock (&subscriptions->lock);
    struct changes changes = take_changes (listener);
    goes_on = !subscriptions->ending;
    g_mutex_unlock (&subscriptions->lock);
    goes_on = send_changes (listener, &changes, send_to_request, request) && goes_on;
  }
}

/* FALSE: there are too many. */
static gboolean
subscriptions_enter (struct mcp_subscriptions *subscriptions, struct listener *listener)
{
  g_mutex_lock (&subscriptions->lock);
  gboolean room = !subscriptions->ending &&
                  subscriptions->listening < subscriptions->memory->config->max_mcp_subscriptions;
  if (room) {
    subscriptions->listening++;
    g_atomic_int_inc (&listener->references);
    g_ptr_array_add (subscriptions->listeners, listener);
  }
  g_mutex_unlock (&subscriptions->lock);
  return room;
}

static void
subscriptions_leave (struct mcp_subscriptions *subscriptions, struct listener *listener)
{
  g_mutex_lock (&subscriptions->lock);
  subscriptions->listening--;
  g_ptr_array_remove_fast (subscriptions->listeners, listener);
  g_cond_broadcast (&subscriptions->quiet);
  g_mutex_unlock (&subscriptions->lock);
}

static void
listen_as (struct mcp_request *request, struct listener *listener)
{
  struct mcp_subscriptions *subscriptions = listener->subscriptions;
  if (!subscriptions_enter (subscriptions, listener)) {
    mcp_problem (request, MCP_INTERNAL_ERROR, NULL,
                 "too many clients listen ([mcp] max_subscriptions = %" G_GUINT64_FORMAT ")",
                 subscriptions->memory->config->max_mcp_subscriptions);
    return;
  }
  /* It is confirmed first: later changes follow. */
  json_t *result = json_object (), *first = json_pack ("{s:o}", "notifications", agreed (listener));
  if (send_to_request (request, "notifications/subscriptions/acknowledged", first))
    listen_on (request, listener);
  subscriptions_leave (subscriptions, listener);
  add_id (request, result);
  mcp_result (request, result);
}

void
mcp_subscriptions_listen (struct mcp_request *request)
{
  struct mcp_subscriptions *subscriptions = mcp_server_memory (request->server)->subscriptions;
  struct listener *listener = listener_new (subscriptions, mcp_owner (request));
  listener->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (listener->wake_fd < 0)
    mcp_problem (request, MCP_INTERNAL_ERROR, NULL, "cannot listen: %s", g_strerror (errno));
  else if (take_filter (request, listener, json_object_get (request->params, "notifications")))
    listen_as (request, listener);
  listener_unref (listener);
}

/* ---- tools.conf ---- */

#define TOOLS_CONF "tools.conf"

/* Watches the folder of tools.conf or, if missing, the nearest existing folder above it. -1: none. */
static int
watch_folder (int notify_fd, gboolean *ret_exact)
{
  g_autofree char *folder = paths_config_dir ();
  *ret_exact = TRUE;
  for (;;) {
    int watch = inotify_add_watch (notify_fd, folder,
                                   IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF |
                                       IN_MOVE_SELF);
    if (watch >= 0 || strcmp (folder, "/") == 0 || strcmp (folder, ".") == 0)
      return watch;
    char *above = g_path_get_dirname (folder);
    g_free (folder);
    folder = above;
    *ret_exact = FALSE;
  }
}

/* Reads the events of WATCH, *RET_SEEN: any. FALSE: the folder is a different one now. *RET_CHANGED: the file
 * may have changed. */
static gboolean
subscriptions_read_events (int notify_fd, int watch, gboolean *ret_seen, gboolean *ret_changed)
{
  char buffer[4096] __attribute__ ((aligned (__alignof__(struct inotify_event))));
  ssize_t length = read (notify_fd, buffer, sizeof buffer);
  gboolean there = TRUE;
  for (ssize_t at = 0; at < length;) {
    const struct inotify_event *event = (const struct inotify_event *)(gconstpointer)(buffer + at);
    at += (ssize_t)(sizeof *event + event->len);
    /* The removal of an old watch is reported as well: acting on it would end the next one, forever. */
    if (event->wd != watch)
      continue;
    *ret_seen = TRUE;
    if (event->len > 0 && strcmp (event->name, TOOLS_CONF) == 0)
      *ret_changed = TRUE;
    there = there && !(event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED));
  }
  return there;
}

static gpointer
watch_tools_conf (gpointer data)
{
  struct mcp_subscriptions *subscriptions = data;
  autoclose int notify_fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  gboolean exact = FALSE;
  int watch = notify_fd >= 0 ? watch_folder (notify_fd, &exact) : -1;
  for (;;) {
    gboolean seen = FALSE, changed = FALSE;
    struct pollfd ready[] = {{.fd = subscriptions->wake_fd, .events = POLLIN},
                             {.fd = watch >= 0 ? notify_fd : -1, .events = POLLIN}};
    if (poll (ready, G_N_ELEMENTS (ready), -1) < 0)
      continue;
    if (ready[0].revents)
      return NULL;
    if (!subscriptions_read_events (notify_fd, watch, &seen, &changed) || (seen && !exact)) {
      (void)inotify_rm_watch (notify_fd, watch);
      watch = watch_folder (notify_fd, &exact);
      changed = changed || exact;
    }
    if (changed) {
      tools_reread_enablement (subscriptions->memory->service->tools);
      subscriptions_tell (subscriptions, NULL, WISH_TOOLS | WISH_PROMPTS, NULL);
    }
  }
}

/* ---- life ---- */

struct mcp_subscriptions *
mcp_subscriptions_new (struct mcp_memory *memory)
{
  struct mcp_subscriptions *subscriptions = g_new0 (struct mcp_subscriptions, 1);
  subscriptions->memory = memory;
  g_mutex_init (&subscriptions->lock);
  g_cond_init (&subscriptions->quiet);
  subscriptions->listeners = g_ptr_array_new_with_free_func (listener_unref);
  subscriptions->senders = g_thread_pool_new (send_session, subscriptions, -1, FALSE, NULL);
  subscriptions->subscription = notifications_subscribe (memory->service->engine->engine->notifications, NULL,
                                                         take_notification, subscriptions);
  subscriptions->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (subscriptions->wake_fd >= 0)
    subscriptions->watcher = g_thread_try_new ("mcp-enablement", watch_tools_conf, subscriptions, NULL);
  return subscriptions;
}

static void
end_watcher (struct mcp_subscriptions *subscriptions)
{
  guint64 one = 1;
  if (subscriptions->watcher) {
    G_GNUC_UNUSED ssize_t put = write (subscriptions->wake_fd, &one, sizeof one);
    g_thread_join (subscriptions->watcher);
  }
  fd_close (&subscriptions->wake_fd);
}

void
mcp_subscriptions_free (struct mcp_subscriptions *subscriptions)
{
  if (!subscriptions)
    return;
  notifications_unsubscribe (subscriptions->memory->service->engine->engine->notifications,
                             subscriptions->subscription);
  end_watcher (subscriptions);
  g_mutex_lock (&subscriptions->lock);
  subscriptions->ending = TRUE;
  for (guint i = 0; i < subscriptions->listeners->len; i++) {
    struct listener *listener = subscriptions->listeners->pdata[i];
    if (listener->session)
      g_atomic_pointer_set (&listener->session->listener, NULL);
    subscriptions_wake (listener);
  }
  while (subscriptions->listening > 0 || subscriptions->sending > 0)
    g_cond_wait (&subscriptions->quiet, &subscriptions->lock);
  g_mutex_unlock (&subscriptions->lock);
  UNSHARED (mcp_subscriptions);
  g_thread_pool_free (subscriptions->senders, FALSE, TRUE);
  g_ptr_array_unref (subscriptions->listeners);
  g_cond_clear (&subscriptions->quiet);
  g_mutex_clear (&subscriptions->lock);
  g_free (subscriptions);
}
