/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: whose they are, how many, how long, and what waits for answers. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/mcp/task_table.h"
#include "suite.h"

static struct config config;
static gint changes;

static void
changed (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED const char *owner, G_GNUC_UNUSED const char *id)
{
  g_atomic_int_inc (&changes);
}

static struct task_table *
set_up (void)
{
  config = (struct config){
      .max_mcp_tasks = 3,
      .max_mcp_tasks_owner = 2,
      .max_mcp_tasks_bytes = 1000,
      .mcp_task_age_ms = 3600 * 1000,
  };
  changes = 0;
  return task_table_new (&config, changed, NULL);
}

static struct task *
begin (struct task_table *table, const char *owner)
{
  return task_new (table, owner, -1, NULL);
}

static json_t *
some_result (gsize length)
{
  g_autofree char *text = g_strnfill (length, 'x');
  return json_pack ("{s:s}", "text", text);
}

static gboolean
has_status (struct task_table *table, const char *owner, const char *id, const char *status)
{
  g_autoptr (json_t) shown = task_show (table, owner, id);
  return shown && strcmp (json_member_text (shown, "status"), status) == 0;
}

static gboolean
is_there (struct task_table *table, const char *owner, const char *id)
{
  g_autoptr (json_t) shown = task_show (table, owner, id);
  return shown != NULL;
}

static void
test_life (void)
{
  struct task_table *table = set_up ();
  struct task *task = begin (table, "a");
  g_autofree char *id = g_strdup (task_id (task));
  g_assert_true (has_status (table, "a", id, "working"));
  g_assert_false (is_there (table, "b", id));
  g_assert_false (task_cancel (table, "b", id));
  task_say (task, "first\nsecond");
  g_autoptr (json_t) shown = task_show (table, "a", id);
  g_assert_cmpstr (json_member_text (shown, "statusMessage"), ==, "first");
  task_end (task, some_result (1), NULL);
  g_assert_true (has_status (table, "a", id, "completed"));
  g_assert_true (task_cancel (table, "a", id)); /* too late */
  g_assert_true (has_status (table, "a", id, "completed"));
  g_assert_cmpint (changes, ==, 2);
  task_table_free (table);
}

static void
test_failed (void)
{
  struct task_table *table = set_up ();
  struct task *task = begin (table, "a");
  g_autofree char *id = g_strdup (task_id (task));
  task_end (task, NULL, json_pack ("{s:i, s:s}", "code", -32603, "message", "x"));
  g_autoptr (json_t) shown = task_show (table, "a", id);
  g_assert_cmpstr (json_member_text (shown, "status"), ==, "failed");
  g_assert_nonnull (json_object_get (shown, "error"));
  g_assert_null (json_object_get (shown, "result"));
  task_table_free (table);
}

static void
test_cancelled (void)
{
  struct task_table *table = set_up ();
  int ends[2];
  char byte;
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
  struct task *task = task_new (table, "a", ends[0], NULL);
  g_autofree char *id = g_strdup (task_id (task));
  g_assert_true (task_cancel (table, "a", id));
  g_assert_cmpint (read (ends[1], &byte, 1), ==, 0); /* who carries it out sees it */
  /* What still comes of it counts for nothing. */
  task_end (task, some_result (1), NULL);
  g_assert_true (has_status (table, "a", id, "cancelled"));
  close (ends[1]);
  task_table_free (table);
}

static void
test_bounds (void)
{
  struct task_table *table = set_up ();
  g_autoptr (GError) error = NULL;
  struct task *first = begin (table, "a"), *second = begin (table, "a");
  g_autofree char *first_id = g_strdup (task_id (first)), *second_id = g_strdup (task_id (second));
  g_assert_null (task_new (table, "a", -1, &error)); /* the owner's are too many, and none has ended */
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  struct task *other = begin (table, "b");
  g_assert_nonnull (other);
  g_assert_null (begin (table, "c")); /* all are too many */
  task_end (first, some_result (1), NULL);
  struct task *third = begin (table, "a"); /* makes room by the one that ended */
  g_assert_nonnull (third);
  g_assert_false (is_there (table, "a", first_id));
  g_assert_true (is_there (table, "a", second_id));
  /* One that was cancelled stays as long as somebody is still at work on it. */
  g_assert_true (task_cancel (table, "a", second_id));
  g_assert_null (begin (table, "a"));
  g_assert_true (is_there (table, "a", second_id));
  task_end (second, some_result (1), NULL);
  struct task *fourth = begin (table, "a");
  g_assert_nonnull (fourth);
  task_cancel_all (table);
  task_end (third, some_result (1), NULL);
  task_end (fourth, some_result (1), NULL);
  task_end (other, some_result (1), NULL);
  task_table_free (table);
}

static void
test_bytes (void)
{
  struct task_table *table = set_up ();
  struct task *first = begin (table, "a"), *second = begin (table, "a");
  g_autofree char *first_id = g_strdup (task_id (first)), *second_id = g_strdup (task_id (second));
  task_end (first, some_result (600), NULL);
  g_assert_true (is_there (table, "a", first_id));
  task_end (second, some_result (600), NULL);
  g_assert_false (is_there (table, "a", first_id));
  g_assert_true (is_there (table, "a", second_id));
  task_table_free (table);
}

/* Where there is too much in all, what goes is of who has the most of it. */
static void
test_owners (void)
{
  struct task_table *table = set_up ();
  struct task *task = begin (table, "a");
  g_autofree char *first_id = g_strdup (task_id (task));
  task_end (task, some_result (300), NULL);
  g_autofree char *last_id = NULL;
  for (guint i = 0; i < 2; i++) {
    task = begin (table, "b");
    g_free (last_id);
    last_id = g_strdup (task_id (task));
    task_end (task, some_result (500), NULL);
  }
  g_assert_true (is_there (table, "a", first_id));
  g_assert_true (is_there (table, "b", last_id));
  /* By their number as by their bytes. */
  task_end (begin (table, "b"), some_result (1), NULL);
  task = begin (table, "c");
  g_assert_nonnull (task);
  g_assert_true (is_there (table, "a", first_id));
  g_assert_false (is_there (table, "b", last_id));
  task_end (task, some_result (1), NULL);
  task_table_free (table);
}

static void
test_age (void)
{
  struct task_table *table = set_up ();
  config.mcp_task_age_ms = 0;
  struct task *task = begin (table, "a");
  g_autofree char *id = g_strdup (task_id (task));
  g_assert_true (is_there (table, "a", id)); /* not while it works */
  task_end (task, some_result (1), NULL);
  g_assert_false (is_there (table, "a", id));
  task_table_free (table);
}

/* ---- questions ---- */

#define FORM                                                                                                 \
  "{\"requestedSchema\": {\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"integer\"}}, "          \
  "\"required\": [\"n\"]}}"

struct asking {
  struct task *task;
  guint64 wait_ms;
  gboolean have;
  AdderError code;
  json_int_t answers[2];
};

static gpointer
ask (gpointer data)
{
  struct asking *asking = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) form = json_loads (FORM, 0, NULL);
  struct mcp_ask asks[] = {{"one", "elicitation/create", form, NULL},
                           {"two", "elicitation/create", form, NULL}};
  asking->have = task_ask (asking->task, asks, 2, asking->wait_ms, &error);
  for (gsize i = 0; asking->have && i < 2; i++)
    asking->answers[i] =
        json_integer_value (json_object_get (json_object_get (asks[i].answer, "content"), "n"));
  asking->code = error ? (AdderError)error->code : ADDER_ERROR_FAILED;
  return NULL;
}

static gboolean
answer (struct task_table *table, const char *id, const char *text)
{
  g_autoptr (json_t) answers = json_loads (text, 0, NULL);
  g_assert_nonnull (answers);
  return task_update (table, "a", id, answers, NULL);
}

static void
wait_until_asked (struct task_table *table, const char *id)
{
  while (!has_status (table, "a", id, "input_required"))
    g_usleep (1000);
}

static void
assert_pending (struct task_table *table, const char *id, const char *first, const char *second)
{
  g_autoptr (json_t) shown = task_show (table, "a", id);
  const json_t *pending = json_object_get (shown, "inputRequests");
  g_assert_cmpuint (json_object_size (pending), ==, second ? 2 : 1);
  g_assert_nonnull (json_object_get (pending, first));
  g_assert_true (!second || json_object_get (pending, second));
}

static void
test_questions (void)
{
  struct task_table *table = set_up ();
  struct asking asking = {.task = begin (table, "a"), .wait_ms = 3600 * 1000};
  g_autofree char *id = g_strdup (task_id (asking.task));
  GThread *thread = g_thread_new ("asking", ask, &asking);
  wait_until_asked (table, id);
  assert_pending (table, id, "one", "two");
  g_assert_false (answer (table, id, "{\"one\": {\"action\": \"accept\", \"content\": {\"n\": \"x\"}}}"));
  g_assert_true (answer (table, id, "{\"three\": 3}")); /* nobody asked for it */
  g_assert_true (answer (table, id, "{\"one\": {\"action\": \"accept\", \"content\": {\"n\": 1}}}"));
  assert_pending (table, id, "two", NULL);
  /* The first is answered once and for all; the second is none, but that is said. */
  g_assert_true (answer (table, id, "{\"one\": {\"action\": \"accept\", \"content\": {\"n\": 7}}}"));
  g_assert_true (answer (table, id, "{\"two\": {\"action\": \"accept\", \"content\": {\"n\": 2}}}"));
  g_thread_join (thread);
  g_assert_true (asking.have && asking.answers[0] == 1 && asking.answers[1] == 2);
  g_assert_true (has_status (table, "a", id, "working"));

  /* The same keys once more are other questions. */
  thread = g_thread_new ("asking", ask, &asking);
  wait_until_asked (table, id);
  assert_pending (table, id, "one-2", "two-2");
  g_assert_true (task_cancel (table, "a", id));
  g_thread_join (thread);
  g_assert_false (asking.have);
  g_assert_cmpint (asking.code, ==, ADDER_ERROR_CANCELLED);
  task_end (asking.task, some_result (1), NULL);
  task_table_free (table);
}

static void
test_never_answered (void)
{
  struct task_table *table = set_up ();
  struct asking asking = {.task = begin (table, "a"), .wait_ms = 1};
  g_autofree char *id = g_strdup (task_id (asking.task));
  ask (&asking);
  g_assert_false (asking.have);
  g_assert_cmpint (asking.code, ==, ADDER_ERROR_TIMEOUT);
  g_assert_true (has_status (table, "a", id, "working"));
  task_end (asking.task, some_result (1), NULL);
  task_table_free (table);
}

UNIT_SUITE (mcp_tasks)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/tasks/life", test_life);
  g_test_add_func ("/mcp/tasks/failed", test_failed);
  g_test_add_func ("/mcp/tasks/cancelled", test_cancelled);
  g_test_add_func ("/mcp/tasks/bounds", test_bounds);
  g_test_add_func ("/mcp/tasks/bytes", test_bytes);
  g_test_add_func ("/mcp/tasks/owners", test_owners);
  g_test_add_func ("/mcp/tasks/age", test_age);
  g_test_add_func ("/mcp/tasks/questions", test_questions);
  g_test_add_func ("/mcp/tasks/never-answered", test_never_answered);
  return g_test_run ();
}
