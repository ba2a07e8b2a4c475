/* SPDX-License-Identifier: Apache-2.0 */
/* All tasks, in order of creation, and the finished ones in order of their end. One lock; waiters for an
 * answer wait with it. */
#include "interfaces/mcp/task_table.h"

#include <string.h>
#include <sys/socket.h>

#include "adder.h"
#include "base/fd.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/owner_usage.h"
#include "common/text.h"
#include "engine/host/id.h"
#include "interfaces/mcp/form.h"

#define POLL_MS    1000
#define SAID_BYTES 200

enum task_status { TASK_WORKING, TASK_INPUT, TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED };

static const char *const status_words[] = {
    [TASK_WORKING] = "working", [TASK_INPUT] = "input_required", [TASK_COMPLETED] = "completed",
    [TASK_FAILED] = "failed",   [TASK_CANCELLED] = "cancelled",
};

struct task {
  struct task_table *table;
  char id[ID_BYTES], *owner;
  enum task_status status;
  gint64 created_us, changed_us; /* of the wall clock, for people */
  gint64 begun_us, ended_us;     /* monotonic; the latter 0 while it has not ended */
  gboolean held;                 /* by the thread that carries it out */
  char *said;
  json_t *result, *error;
  json_t *pending; /* {key: {method, params}} */
  json_t *answers; /* {key: answer} */
  gsize bytes;     /* of result or error, as text */
  int cancel_fd;
  GList link; /* in `living` or `ended` */
};

LOCK_CLASS (task_table);

struct task_table {
  const struct config *config;
  task_changed changed;
  gpointer data;
  MUTEX (task_table) lock;
  GCond answered;
  GUARDED_BY (task_table) GHashTable *by_id; /* owns them */
  GUARDED_BY (task_table) GQueue living, ended;
  GUARDED_BY (task_table) struct owner_usage *counts, *bytes;
};

static void
task_free (gpointer data)
{
  struct task *task = data;
  fd_close (&task->cancel_fd);
  json_decref (task->result);
  json_decref (task->error);
  json_decref (task->pending);
  json_decref (task->answers);
  g_free (task->said);
  g_free (task->owner);
  g_free (task);
}

struct task_table *
task_table_new (const struct config *config, task_changed changed, gpointer data)
{
  struct task_table *table = g_new0 (struct task_table, 1);
  table->config = config;
  table->changed = changed;
  table->data = data;
  g_mutex_init (&table->lock);
  table->counts = owner_usage_new ();
  table->bytes = owner_usage_new ();
  g_cond_init (&table->answered);
  table->by_id = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, task_free);
  return table;
}

void
task_table_free (struct task_table *table)
{
  if (!table)
    return;
  UNSHARED (task_table);
  g_hash_table_unref (table->by_id);
  owner_usage_free (table->counts);
  owner_usage_free (table->bytes);
  g_cond_clear (&table->answered);
  g_mutex_clear (&table->lock);
  g_free (table);
}

/* ---- under the lock ---- */

static gboolean
task_table_has_ended (const struct task *task)
{
  return task->status >= TASK_COMPLETED;
}

REQUIRES (task_table)
static void
task_table_forget (struct task *task)
{
  struct task_table *table = task->table;
  owner_usage_remove (table->bytes, task->owner, task->bytes);
  owner_usage_remove (table->counts, task->owner, 1);
  g_queue_unlink (&table->ended, &task->link);
  g_hash_table_remove (table->by_id, task->id);
}

/* When it may be forgotten, monotonic. */
static gint64
expiry_us (const struct task *task)
{
  return task->ended_us + (gint64)task->table->config->mcp_task_age_ms * 1000;
}

/* The earliest finished one of OWNER (NULL: of all) that nobody holds, or NULL. */
REQUIRES (task_table)
static struct task *
first_ended (const struct task_table *table, const char *owner)
{
  for (GList *at = table->ended.head; at; at = at->next) {
    struct task *task = at->data;
    if (!task->held && (!owner || strcmp (task->owner, owner) == 0))
      return task;
  }
  return NULL;
}

/* The one to drop at the limit of bytes or tasks in all: of the owner with the most, so that nobody loses
 * tasks to another owner. NULL: none of theirs has ended. */
REQUIRES (task_table)
static struct task *
first_of_greatest (const struct task_table *table, const struct owner_usage *usage)
{
  const char *owner = owner_usage_greatest (usage);
  return owner ? first_ended (table, owner) : NULL;
}

REQUIRES (task_table)
static void
task_table_expire (struct task_table *table)
{
  struct task *task;
  gint64 now = g_get_monotonic_time ();
  while ((task = first_ended (table, NULL)) && expiry_us (task) <= now)
    task_table_forget (task);
  while (owner_usage_sum (table->bytes) > table->config->max_mcp_tasks_bytes &&
         (task = first_of_greatest (table, table->bytes)))
    task_table_forget (task);
}

REQUIRES (task_table)
static gboolean
task_table_make_room (struct task_table *table, const char *owner, GError **error)
{
  const struct config *config = table->config;
  struct task *old = NULL;
  task_table_expire (table);
  if (owner_usage_of (table->counts, owner) >= config->max_mcp_tasks_owner)
    old = first_ended (table, owner);
  else if (owner_usage_sum (table->counts) >= config->max_mcp_tasks) {
    old = first_of_greatest (table, table->counts);
    old = old ? old : first_ended (table, NULL);
  }
  if (old)
    task_table_forget (old);
  if (owner_usage_of (table->counts, owner) < config->max_mcp_tasks_owner &&
      owner_usage_sum (table->counts) < config->max_mcp_tasks)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY, "there are too many tasks that have not ended");
  return FALSE;
}

static void
task_table_set_status (struct task *task, enum task_status status)
{
  struct task_table *table = task->table;
  task->status = status;
  task->changed_us = g_get_real_time ();
  if (task_table_has_ended (task) && task->ended_us == 0) {
    task->ended_us = g_get_monotonic_time ();
    json_object_clear (task->pending);
    g_queue_unlink (&table->living, &task->link);
    g_queue_push_tail_link (&table->ended, &task->link);
  }
  g_cond_broadcast (&table->answered);
  table->changed (table->data, task->owner, task->id);
}

REQUIRES (task_table)
static struct task *
task_table_find (struct task_table *table, const char *owner, const char *id)
{
  task_table_expire (table);
  struct task *task = g_hash_table_lookup (table->by_id, id);
  return task && strcmp (task->owner, owner) == 0 ? task : NULL;
}

/* {taskId, status, ...}. The caller's. */
static json_t *
task_table_describe (const struct task *task)
{
  g_autofree char *created = text_time (task->created_us), *changed = text_time (task->changed_us);
  gint64 lived_ms = task->ended_us > 0 ? (task->ended_us - task->begun_us) / 1000 : 0;
  json_int_t ttl_ms = (gint64)task->table->config->mcp_task_age_ms + lived_ms;
  return json_pack ("{s:s, s:s, s:s*, s:s, s:s, s:I, s:i}", "taskId", task->id, "status",
                    status_words[task->status], "statusMessage", task->said, "createdAt", created,
                    "lastUpdatedAt", changed, "ttlMs", ttl_ms, "pollIntervalMs", POLL_MS);
}

/* ---- by the thread that carries it out ---- */

struct task *
task_new (struct task_table *table, const char *owner, int cancel_fd, GError **error)
{
  g_mutex_lock (&table->lock);
  if (!task_table_make_room (table, owner, error)) {
    g_mutex_unlock (&table->lock);
    return NULL;
  }
  struct task *task = g_new0 (struct task, 1);
  task->table = table;
  id_make (task->id);
  task->owner = g_strdup (owner);
  task->created_us = task->changed_us = g_get_real_time ();
  task->begun_us = g_get_monotonic_time ();
  task->held = TRUE;
  task->pending = json_object ();
  task->answers = json_object ();
  task->cancel_fd = cancel_fd;
  task->link.data = task;
  g_queue_push_tail_link (&table->living, &task->link);
  g_hash_table_insert (table->by_id, task->id, task);
  owner_usage_add (table->counts, owner, 1);
  g_mutex_unlock (&table->lock);
  return task;
}

const char *
task_id (const struct task *task)
{
  return task->id;
}

json_t *
task_describe (struct task *task)
{
  g_mutex_lock (&task->table->lock);
  json_t *described = task_table_describe (task);
  g_mutex_unlock (&task->table->lock);
  return described;
}

void
task_say (struct task *task, const char *text)
{
  gsize line = strcspn (text, "\r\n");
  g_autofree char *first = g_strndup (text, line), *said = text_one_line (first, SAID_BYTES);
  g_mutex_lock (&task->table->lock);
  if (!task_table_has_ended (task) && g_strcmp0 (task->said, said) != 0) {
    g_free (task->said);
    task->said = g_steal_pointer (&said);
    task_table_set_status (task, task->status);
  }
  g_mutex_unlock (&task->table->lock);
}

/* KEY, or another if it was asked by that before. The caller's. */
static char *
free_key (const struct task *task, const char *key)
{
  char *free_one = g_strdup (key);
  for (guint i = 2; json_object_get (task->answers, free_one) || json_object_get (task->pending, free_one);
       i++) {
    g_free (free_one);
    free_one = g_strdup_printf ("%s-%u", key, i);
  }
  return free_one;
}

REQUIRES (task_table)
static gboolean
task_table_wait_for (struct task *task, char **keys, gsize count, gint64 deadline_us, GError **error)
{
  for (;;) {
    gsize have = 0;
    for (gsize i = 0; i < count; i++)
      have += json_object_get (task->answers, keys[i]) != NULL;
    if (have == count)
      return TRUE;
    if (task_table_has_ended (task)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the task was cancelled");
      return FALSE;
    }
    if (!g_cond_wait_until (&task->table->answered, &task->table->lock, deadline_us)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT, "nobody answered in time");
      return FALSE;
    }
  }
}

gboolean
task_ask (struct task *task, struct mcp_ask *asks, gsize count, guint64 wait_ms, GError **error)
{
  g_auto (GStrv) keys = g_new0 (char *, count + 1);
  g_mutex_lock (&task->table->lock);
  for (gsize i = 0; i < count; i++) {
    keys[i] = free_key (task, asks[i].key);
    json_object_set_new (task->pending, keys[i],
                         json_pack ("{s:s, s:O}", "method", asks[i].method, "params", asks[i].params));
  }
  if (!task_table_has_ended (task))
    task_table_set_status (task, TASK_INPUT);
  gboolean have =
      task_table_wait_for (task, keys, count, g_get_monotonic_time () + (gint64)wait_ms * 1000, error);
  for (gsize i = 0; i < count; i++) {
    json_object_del (task->pending, keys[i]);
    asks[i].answer = json_object_get (task->answers, keys[i]);
  }
  if (task->status == TASK_INPUT) /* some are unanswered */
    task_table_set_status (task, TASK_WORKING);
  g_mutex_unlock (&task->table->lock);
  return have;
}

void
task_end (struct task *task, json_t *result, json_t *error)
{
  struct task_table *table = task->table;
  g_autofree char *text = json_to_text (result ? result : error);
  g_mutex_lock (&table->lock);
  task->held = FALSE;
  if (task_table_has_ended (task)) {
    json_decref (result);
    json_decref (error);
  } else {
    task->result = result;
    task->error = error;
    task->bytes = strlen (text);
    owner_usage_add (table->bytes, task->owner, task->bytes);
    task_table_set_status (task, error ? TASK_FAILED : TASK_COMPLETED);
  }
  g_mutex_unlock (&table->lock);
}

/* ---- by its owner ---- */

json_t *
task_show (struct task_table *table, const char *owner, const char *id)
{
  g_mutex_lock (&table->lock);
  const struct task *task = task_table_find (table, owner, id);
  json_t *shown = task ? task_table_describe (task) : NULL;
  if (task && task->result)
    json_object_set (shown, "result", task->result);
  else if (task && task->error)
    json_object_set (shown, "error", task->error);
  else if (task && task->status == TASK_INPUT) /* changes during the wait */
    json_object_set_new (shown, "inputRequests", json_copy (task->pending));
  g_mutex_unlock (&table->lock);
  return shown;
}

static gboolean
task_table_take_answer (struct task *task, const char *key, json_t *answer, GError **error)
{
  const json_t *asked = json_object_get (task->pending, key);
  if (!asked || task_table_has_ended (task))
    return TRUE;
  if (!mcp_answer_check (json_member_text (asked, "method"), json_object_get (asked, "params"), answer,
                         error))
    return FALSE;
  json_object_set (task->answers, key, answer);
  json_object_del (task->pending, key);
  task_table_set_status (task, json_object_size (task->pending) > 0 ? TASK_INPUT : TASK_WORKING);
  return TRUE;
}

gboolean
task_update (struct task_table *table, const char *owner, const char *id, const json_t *answers,
             GError **error)
{
  g_autoptr (GError) problem = NULL;
  const char *key;
  json_t *answer;
  g_mutex_lock (&table->lock);
  struct task *task = task_table_find (table, owner, id);
  if (!task)
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no such task");
  json_object_foreach ((json_t *)(guintptr)answers, key, answer)
  {
    g_autoptr (GError) fault = NULL;
    if (task && !task_table_take_answer (task, key, answer, &fault) && !problem)
      problem = g_steal_pointer (&fault);
  }
  g_mutex_unlock (&table->lock);
  if (!problem)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

REQUIRES (task_table)
static void
task_table_cancel (struct task *task)
{
  if (task_table_has_ended (task))
    return;
  shutdown (task->cancel_fd, SHUT_RDWR);
  task_table_set_status (task, TASK_CANCELLED);
}

gboolean
task_cancel (struct task_table *table, const char *owner, const char *id)
{
  g_mutex_lock (&table->lock);
  struct task *task = task_table_find (table, owner, id);
  if (task)
    task_table_cancel (task);
  g_mutex_unlock (&table->lock);
  return task != NULL;
}

void
task_cancel_all (struct task_table *table)
{
  g_mutex_lock (&table->lock);
  for (GList *at = table->living.head, *next; at; at = next) {
    next = at->next;
    task_table_cancel (at->data);
  }
  g_mutex_unlock (&table->lock);
}
