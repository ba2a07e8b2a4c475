/* SPDX-License-Identifier: Apache-2.0 */
/* A thread reads the stream of events and queues them; who shows them takes them from there. So a run can be
 * cancelled from any thread, by a request of its own, and its result still comes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/json.h"
#include "engine/files/save.h"
#include "engine/request/outcome.h"
#include "interfaces/remote/remote.h"
#include "interfaces/service/events.h"
#include "operations/session_fields.h"

LOCK_CLASS (remote_source);

#define QUEUED_BYTES ((gsize)64 << 20) /* that wait to be shown */

enum item_kind { ITEM_EVENT, ITEM_PLAN, ITEM_REPORT, ITEM_END };

struct item {
  enum item_kind kind;
  struct run_event event; /* its data is TEXT, and its result VALUE */
  char *text;
  json_t *value; /* of a result, a plan and a report */
  gsize bytes;   /* that it takes in the queue, about */
  GError *error; /* of the end; NULL: all of the stream came */
};

struct remote_source {
  struct event_source base;
  const struct submission *request; /* NULL: a replay */
  char *path;
  json_t *body;
  char *session; /* whose cell it is, or NULL */
  GThread *thread;
  GAsyncQueue *items; /* struct item, from the thread */
  struct item *taken; /* the last one that was given */
  json_t *result;     /* where its files are to be saved */
  int stop_fd;        /* an eventfd: the stream is given up */
  MUTEX (remote_source) lock;
  GUARDED_BY (remote_source) char *run_id; /* of the run under way, or NULL */
  GUARDED_BY (remote_source) gboolean cancelled;
  GCond room;                                    /* in the queue */
  GUARDED_BY (remote_source) gsize queued;       /* bytes there, about */
  GUARDED_BY (remote_source) gboolean abandoned; /* nobody takes any more */
};

static void
remote_run_item_free (gpointer data)
{
  struct item *item = data;
  if (!item)
    return;
  g_free (item->text);
  json_decref (item->value);
  g_clear_error (&item->error);
  g_free (item);
}

/* Takes TEXT. */
static struct item *
item_new (enum item_kind kind, AdderEventKind event, char *text)
{
  struct item *item = g_new0 (struct item, 1);
  item->kind = kind;
  item->text = text;
  item->event = (struct run_event){.kind = event, .data = text, .length = text ? strlen (text) : 0};
  return item;
}

/* ---- the thread ---- */

static void
note_run (struct remote_source *source, const char *id)
{
  g_mutex_lock (&source->lock);
  g_free (source->run_id);
  source->run_id = g_strdup (id);
  g_mutex_unlock (&source->lock);
}

static const struct field replay_session_fields[] = {MUST_TEXT ("session_id"), TEXT_0 ("name", ""), {0}};
static const struct field replay_cell_fields[] = {
    WHOLE ("cell", ""),
    SOME (.name = "code", .types = FIELD_TEXT),
    SOME (.name = "differs", .types = FIELD_LIST, .items = FIELD_TEXT),
    {0},
};
static const struct field replay_told_fields[] = {
    PART_0 ("session", replay_session_fields, ""),
    LIST ("cells", replay_cell_fields, ""),
    {.name = "left_out", .types = FIELD_LIST, .items = FIELD_INTEGER},
    SOME (.name = "problem", .types = FIELD_TEXT | FIELD_NULL),
    {0},
};
static const struct field started_fields[] = {MUST_TEXT ("run_id"), {0}};
static const struct field output_fields[] = {MUST_TEXT ("text"), {0}};
static const struct field display_fields[] = {{.name = "data", .types = FIELD_OBJECT}, {0}};
static const struct field progress_fields[] = {MUST_TEXT ("text"), WHOLE ("done", ""), WHOLE ("of", ""), {0}};

static const struct event_row {
  const char *name;
  const struct field *fields; /* what else it would be is no event */
  enum item_kind kind;
  AdderEventKind event;
  const char *member; /* what is told of it; NULL: all */
} event_rows[] = {
    {"started", started_fields, ITEM_EVENT, ADDER_EVENT_STARTED, NULL},
    {"stdout", output_fields, ITEM_EVENT, ADDER_EVENT_STDOUT, "text"},
    {"stderr", output_fields, ITEM_EVENT, ADDER_EVENT_STDERR, "text"},
    {"display", display_fields, ITEM_EVENT, ADDER_EVENT_DISPLAY, "data"},
    {"progress", progress_fields, ITEM_EVENT, ADDER_EVENT_PROGRESS, "text"},
    {"result", result_fields, ITEM_EVENT, ADDER_EVENT_RESULT, NULL},
    {"replay", replay_told_fields, ITEM_PLAN, ADDER_EVENT_STARTED, NULL},
    {"end", replay_told_fields, ITEM_REPORT, ADDER_EVENT_STARTED, NULL},
};

/* An exit code that is none is the outcome's; only what ended well ends with 0. */
static void
read_result (struct run_event *event, const json_t *result)
{
  json_int_t code = json_integer_value (json_object_get (result, "exit_code"));
  event->outcome = outcome_find (json_member_text (result, "outcome"));
  event->exit_code = (int)code;
  if (code < 0 || code > 255 || (code == 0 && event->outcome != ADDER_OUTCOME_OK))
    event->exit_code = outcome_exit_code (event->outcome);
}

/* The item of the event NAME with DATA, whose text is TEXT; NULL: nobody is told. */
static struct item *
item_of (const char *name, json_t *data, const char *text)
{
  const struct event_row *row = event_rows;
  while (row < event_rows + G_N_ELEMENTS (event_rows) && strcmp (row->name, name) != 0)
    row++;
  if (row == event_rows + G_N_ELEMENTS (event_rows) || !field_fits (row->fields, data))
    return NULL;
  const json_t *member = row->member ? json_object_get (data, row->member) : NULL;
  struct item *item = item_new (row->kind, row->event,
                                json_is_string (member) ? g_strdup (json_string_value (member))
                                : member                ? json_to_text (member)
                                                        : g_strdup (text));
  item->bytes = strlen (text);
  if (row->event == ADDER_EVENT_RESULT || row->kind != ITEM_EVENT)
    item->value = json_incref (data);
  if (row->event == ADDER_EVENT_RESULT) {
    item->event.result = item->value;
    read_result (&item->event, data);
  }
  item->event.done = (guint64)json_integer_value (json_object_get (data, "done"));
  item->event.of = (guint64)json_integer_value (json_object_get (data, "of"));
  return item;
}

/* Takes ITEM. Waits while much is queued, so that who shows little by little bounds what comes. FALSE: nobody
 * takes any more. */
static gboolean
queue_item (struct remote_source *source, struct item *item)
{
  g_mutex_lock (&source->lock);
  while (source->queued > QUEUED_BYTES && !source->abandoned)
    g_cond_wait (&source->room, &source->lock);
  source->queued += item->bytes;
  gboolean wanted = !source->abandoned;
  g_mutex_unlock (&source->lock);
  g_async_queue_push (source->items, item);
  return wanted;
}

static gboolean
remote_run_take_event (gpointer data, const char *name, const char *text, gsize length)
{
  struct remote_source *source = data;
  static const struct field *const results[] = {result_fields, NULL};
  g_autoptr (json_t) value = json_loadb (text, length, 0, NULL);
  struct item *item = item_of (name, value, text);
  if (!item && strcmp (name, "result") == 0) {
    item = item_new (ITEM_END, ADDER_EVENT_RESULT, NULL);
    (void)remote_check (value, results, &item->error);
  }
  if (!item)
    return TRUE;
  if (item->kind == ITEM_EVENT && item->event.kind == ADDER_EVENT_STARTED)
    note_run (source, json_string_value (json_object_get (value, "run_id")));
  else if (item->kind == ITEM_EVENT && item->event.kind == ADDER_EVENT_RESULT)
    note_run (source, NULL);
  /* Who takes the item has its value alone: jansson looks at counts without a lock. */
  g_clear_pointer (&value, json_decref);
  return queue_item (source, item);
}

static gpointer
remote_run_read_events (gpointer data)
{
  struct remote_source *source = data;
  struct item *end = item_new (ITEM_END, ADDER_EVENT_RESULT, NULL);
  (void)remote_stream (source->path, source->body, source->stop_fd, remote_run_take_event, source,
                       &end->error);
  (void)queue_item (source, end);
  return NULL;
}

/* ---- the source ---- */

/* The next item, the source's until it is asked again. */
static const struct item *
remote_run_take_item (struct remote_source *source)
{
  remote_run_item_free (source->taken);
  source->taken = g_async_queue_pop (source->items);
  g_mutex_lock (&source->lock);
  source->queued -= source->taken->bytes;
  g_cond_signal (&source->room);
  g_mutex_unlock (&source->lock);
  return source->taken;
}

/* ITEM is not what was waited for. */
static void
remote_run_fail (const struct item *item, GError **error)
{
  const char *reason = "the daemon went away during the run";
  if (item->kind == ITEM_END && item->error) {
    g_propagate_error (error, g_error_copy (item->error));
    return;
  }
  const char *problem = json_string_value (json_object_get (item->value, "problem"));
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, problem ? problem : reason);
  error_make_printable (error);
}

static gboolean
remote_next (struct event_source *base, struct run_event *ret_event, GError **error)
{
  struct remote_source *source = (struct remote_source *)base;
  const struct item *item = remote_run_take_item (source);
  if (item->kind != ITEM_EVENT) {
    remote_run_fail (item, error);
    return FALSE;
  }
  *ret_event = item->event;
  if (item->event.kind == ADDER_EVENT_RESULT && source->request) {
    json_decref (source->result);
    source->result = json_incref (item->value);
  }
  return TRUE;
}

/* Its result comes, where the daemon can be asked for it; else the stream is given up, which cancels it too.
 */
static void
remote_cancel (struct event_source *base)
{
  struct remote_source *source = (struct remote_source *)base;
  g_mutex_lock (&source->lock);
  source->cancelled = TRUE;
  g_autofree char *id = source->run_id ? g_uri_escape_string (source->run_id, NULL, FALSE) : NULL;
  g_mutex_unlock (&source->lock);
  g_autofree char *path = id ? g_strconcat ("/v1/runs/", id, NULL) : NULL;
  if (!path || !remote_ask_soon ("DELETE", path, NULL))
    (void)eventfd_write (source->stop_fd, 1);
}

static gboolean
remote_interrupt (struct event_source *base)
{
  struct remote_source *source = (struct remote_source *)base;
  g_mutex_lock (&source->lock);
  gboolean started = source->run_id != NULL;
  g_mutex_unlock (&source->lock);
  if (!source->session || !started)
    return FALSE;
  g_autoptr (json_t) nothing = json_object ();
  g_autofree char *name = g_uri_escape_string (source->session, NULL, FALSE);
  g_autofree char *path = g_strdup_printf ("/v1/sessions/%s/interrupt", name);
  return remote_ask_soon ("POST", path, nothing);
}

static json_t *
remote_operation (G_GNUC_UNUSED struct event_source *base, const char *operation, json_t *params,
                  GError **error)
{
  return remote_call (operation, params, -1, NULL, error);
}

/* ---- saving ---- */

/* Gets FILE of the result into the folder, as the number INDEX. The artifact is the caller's. */
static struct artifact *
fetch_file (int folder_fd, const json_t *file, gsize index, GError **error)
{
  struct stat st;
  const char *id = json_string_value (json_object_get (file, "file_id"));
  if (!id) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "the daemon does not keep %s, so it cannot be read over HTTP (docs/files.md)",
                 json_member_text (file, "name"));
    error_make_printable (error);
    return NULL;
  }
  g_autofree char *place = g_strdup_printf ("%" G_GSIZE_FORMAT, index);
  struct remote_content got;
  g_autofree char *escaped = g_uri_escape_string (id, NULL, FALSE);
  g_autofree char *path = g_strdup_printf ("/v1/files/%s/content", escaped);
  autoclose int fd = openat (folder_fd, place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || !remote_download (path, fd, &got, error)) {
    if (fd < 0)
      error_from_errno (error, errno, "cannot make a file in %s", g_get_tmp_dir ());
    return NULL;
  }
  if (got.bytes != (guint64)json_integer_value (json_object_get (file, "bytes")) ||
      strcmp (got.sha256, json_member_text (file, "sha256")) != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "what the daemon sent of %s is not that file",
                 json_member_text (file, "name"));
    error_make_printable (error);
    return NULL;
  }
  if (fstat (fd, &st) < 0) {
    error_from_errno (error, errno, "cannot look at a file in %s", g_get_tmp_dir ());
    return NULL;
  }
  struct artifact *artifact = g_new0 (struct artifact, 1);
  artifact->name = g_strdup (json_member_text (file, "name"));
  artifact->path = g_steal_pointer (&place);
  artifact->bytes = (guint64)st.st_size;
  artifact->changed_ns = (gint64)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
  return artifact;
}

/* All files of RESULT; NULL with ERROR where one cannot be had. */
static GPtrArray *
fetch_files (int folder_fd, const json_t *result, GError **error)
{
  g_autoptr (GPtrArray) artifacts = g_ptr_array_new_with_free_func ((GDestroyNotify)artifact_free);
  gsize index;
  json_t *file;
  json_array_foreach (json_object_get (result, "files"), index, file)
  {
    struct artifact *artifact = fetch_file (folder_fd, file, index, error);
    if (!artifact)
      return NULL;
    g_ptr_array_add (artifacts, artifact);
  }
  return g_steal_pointer (&artifacts);
}

/* Through a folder of our own, since a file may only be written once all of them are there. */
static json_t *
save_through (const struct remote_source *source, int folder_fd, GError **error)
{
  g_autoptr (GPtrArray) artifacts = fetch_files (folder_fd, source->result, error);
  json_t *told = NULL;
  if (artifacts)
    told = save_files (folder_fd, artifacts, submission_directory (source->request),
                       json_is_true (json_object_get (source->request->body, "force")));
  for (gsize i = 0; i < json_array_size (json_object_get (source->result, "files")); i++) {
    g_autofree char *place = g_strdup_printf ("%" G_GSIZE_FORMAT, i);
    (void)unlinkat (folder_fd, place, 0);
  }
  if (told)
    (void)save_check (told, error);
  return told;
}

static json_t *
remote_save (struct event_source *base, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("adder-XXXXXX", error);
  if (!folder)
    return NULL;
  autoclose int folder_fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  json_t *told = NULL;
  if (folder_fd < 0)
    error_from_errno (error, errno, "cannot open the directory %s", folder);
  else
    told = save_through ((struct remote_source *)base, folder_fd, error);
  (void)rmdir (folder);
  return told;
}

/* ---- beginning and end ---- */

/* Its stream ends, if it has not. */
static void
join_thread (struct remote_source *source)
{
  eventfd_t stopped;
  (void)eventfd_write (source->stop_fd, 1);
  g_mutex_lock (&source->lock);
  source->abandoned = TRUE;
  g_cond_signal (&source->room);
  g_mutex_unlock (&source->lock);
  g_clear_pointer (&source->thread, g_thread_join);
  g_clear_pointer (&source->taken, remote_run_item_free);
  for (struct item *item; (item = g_async_queue_try_pop (source->items));)
    remote_run_item_free (item);
  (void)eventfd_read (source->stop_fd, &stopped);
  g_mutex_lock (&source->lock);
  source->abandoned = FALSE;
  source->queued = 0;
  g_mutex_unlock (&source->lock);
}

static gboolean
remote_again (struct event_source *base, const char *id, GError **error)
{
  struct remote_source *source = (struct remote_source *)base;
  join_thread (source);
  g_mutex_lock (&source->lock);
  gboolean cancelled = source->cancelled;
  g_mutex_unlock (&source->lock);
  if (cancelled) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the run was cancelled");
    return FALSE;
  }
  json_object_set_new (source->body, "approval", json_string (id));
  source->thread = g_thread_new ("adder-remote", remote_run_read_events, source);
  return TRUE;
}

static json_t *
remote_finish (struct event_source *base, GError **error)
{
  const struct item *item = remote_run_take_item ((struct remote_source *)base);
  if (item->kind == ITEM_REPORT && json_is_object (json_object_get (item->value, "session")))
    return json_incref (item->value);
  remote_run_fail (item, error);
  return NULL;
}

static void
remote_free (struct event_source *base)
{
  struct remote_source *source = (struct remote_source *)base;
  join_thread (source);
  UNSHARED (remote_source);
  g_async_queue_unref (source->items);
  fd_close (&source->stop_fd);
  g_mutex_clear (&source->lock);
  g_cond_clear (&source->room);
  json_decref (source->result);
  json_decref (source->body);
  g_free (source->path);
  g_free (source->session);
  g_free (source->run_id);
  g_free (source);
}

/* Takes PATH and BODY, where it is no NULL. */
static struct remote_source *
remote_source_new (char *path, json_t *body, const char *session, GError **error)
{
  int stop_fd = body ? eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
  if (stop_fd < 0) {
    if (body)
      error_from_errno (error, errno, "cannot make an event descriptor");
    json_decref (body);
    g_free (path);
    return NULL;
  }
  struct remote_source *source = g_new0 (struct remote_source, 1);
  source->base = (struct event_source){
      .next = remote_next,
      .cancel = remote_cancel,
      .interrupt = remote_interrupt,
      .save = remote_save,
      .call = remote_operation,
      .again = remote_again,
      .finish = remote_finish,
      .free = remote_free,
  };
  source->path = path;
  source->body = body;
  source->session = g_strdup (session);
  source->stop_fd = stop_fd;
  source->items = g_async_queue_new_full (remote_run_item_free);
  g_mutex_init (&source->lock);
  g_cond_init (&source->room);
  json_object_set_new (body, "stream", json_true ());
  source->thread = g_thread_new ("adder-remote", remote_run_read_events, source);
  return source;
}

struct event_source *
remote_run (const struct submission *request, GError **error)
{
  struct remote_source *source =
      remote_source_new (g_strdup ("/v1/runs"), remote_body (request, error),
                         json_string_value (json_object_get (request->body, "session")), error);
  if (source)
    source->request = request;
  return source ? &source->base : NULL;
}

struct event_source *
remote_replay (const json_t *question, const struct submission *options, json_t **ret_answer, GError **error)
{
  static const char *const taken[] = {"name", "from", "keep_going"};
  g_autoptr (json_t) named = json_pack ("{s:O}", "session", json_object_get (question, "session"));
  g_autoptr (json_t) checked = field_check (session_params, NULL, named, error);
  json_t *body = checked ? remote_body (options, error) : NULL;
  for (gsize i = 0; body && i < G_N_ELEMENTS (taken); i++)
    if (json_object_get (question, taken[i]))
      json_object_set (body, taken[i], json_object_get (question, taken[i]));
  g_autofree char *name = g_uri_escape_string (json_member_text (question, "session"), NULL, FALSE);
  struct remote_source *source =
      remote_source_new (g_strdup_printf ("/v1/sessions/%s/replay", name), body, NULL, error);
  if (!source)
    return NULL;
  const struct item *item = remote_run_take_item (source);
  if (item->kind == ITEM_PLAN && json_is_object (json_object_get (item->value, "session"))) {
    *ret_answer = json_incref (item->value);
    return &source->base;
  }
  remote_run_fail (item, error);
  remote_free (&source->base);
  return NULL;
}
