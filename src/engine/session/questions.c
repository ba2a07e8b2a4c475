/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to sessions: each is sent, awaited for a bounded time, and its answer checked. */
#include "engine/session/questions.h"

#include "adder_types.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/request/answer.h"
#include "engine/request/message.h"
#include "engine/session/sessions_private.h"
#include "runner/wire.h"

/* The time for an answer: users' own representations are code as well. */
#define ANSWER_US (10 * G_USEC_PER_SEC)

/* While somebody types. */
#define TYPING_US  (2 * G_USEC_PER_SEC)

#define NAME_SHOWN 80

struct question {
  const char *what;      /* as runner/python/session.py knows it */
  const json_t *details; /* its other members; or NULL */
  enum session_use
      use; /* SESSION_TYPING: it does not wait for the session; SESSION_CHANGE: variables are reset */
  gint64 most_us;
  gboolean partial; /* an answer with an error counts */
  /* The answer checked and copied, NULL when it is malformed. BOUND is the question's. */
  json_t *(*read) (const json_t *answer, guint64 bound);
  guint64 bound;
};

/* Sets ERROR to ADDER_ERROR_ENDED, with the reason for which the session ends, where its answer is
 * malformed. */
static json_t *
question_exchange (struct session *session, const struct question *question, struct interrupt *interrupt,
                   GError **error)
{
  gsize length;
  g_autofree char *text = message_write_question (question->what, question->details, &length);
  g_autoptr (json_t) answer =
      session_exchange (session, WIRE_ASK, text, length, question->most_us, interrupt, error);
  if (!answer)
    return NULL;
  g_autofree char *problem = question->partial ? NULL : answer_problem (answer);
  json_t *value = problem ? NULL : question->read (answer, question->bound);
  if (problem)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the session could not answer: %s", problem);
  else if (!value)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_ENDED, "it sent a message that Adder does not know");
  return value;
}

static json_t *
session_ask (struct session *session, const struct question *question, GError **error)
{
  struct interrupt interrupt;
  GError *problem = NULL;
  if (!interrupt_init (&interrupt, -1, error))
    return NULL;
  json_t *value = NULL;
  if (sessions_begin (session, question->use != SESSION_TYPING, question->use, &interrupt, &problem)) {
    value = question_exchange (session, question, &interrupt, &problem);
    gboolean ended = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_ENDED);
    const json_t *count = json_object_get (value, "count");
    struct session_result done = {.reason = ended ? g_strdup (problem->message) : NULL,
                                  .counted = count != NULL,
                                  .reset = value && question->use == SESSION_CHANGE,
                                  .variables = (guint64)json_integer_value (count)};
    sessions_finish (session, &done);
    if (ended) {
      g_clear_error (&problem);
      sessions_set_ended (session, &problem);
    }
  }
  interrupt_clear (&interrupt);
  if (problem)
    g_propagate_error (error, problem);
  return value;
}

/* ---- variables ---- */

json_t *
session_variables (struct session *session, const char *const *names, GError **error)
{
  struct question question = {.what = "variables",
                              .use = SESSION_QUESTION,
                              .most_us = ANSWER_US,
                              .partial = TRUE,
                              .read = answer_read_variables};
  if (!names)
    return session_ask (session, &question, error);
  /* One answer has all values, and JSON may need six bytes for one. */
  gsize count = MAX (g_strv_length ((char **)(guintptr)names), 1);
  question.bound = MIN (session->limits.value[LIMIT_VALUE], WIRE_ANSWER_MAX / 8 / count);
  g_autoptr (json_t) details =
      json_pack ("{s:o, s:I}", "names", json_of_texts (names), "value_bytes", (json_int_t)question.bound);
  question.details = details;
  return session_ask (session, &question, error);
}

json_t *
session_reset (struct session *session, GError **error)
{
  const struct question question = {.what = "reset",
                                    .most_us = ANSWER_US,
                                    .partial = TRUE,
                                    .read = answer_read_variables,
                                    .use = SESSION_CHANGE};
  return session_ask (session, &question, error);
}

/* ---- tables ---- */

json_t *
session_rows (struct session *session, const json_t *page, GError **error)
{
  const struct question question = {
      .what = "rows",
      .use = SESSION_QUESTION,
      .details = page,
      .most_us = ANSWER_US,
      .read = answer_read_rows,
      .bound = (guint64)json_integer_value (json_object_get (page, "limit")),
  };
  g_autoptr (json_t) rows = session_ask (session, &question, error);
  g_autofree char *name = text_one_line (json_member_text (page, "name"), NAME_SHOWN);
  g_autofree char *what = g_strdup_printf ("the variable %s", name);
  return rows && !answer_rows_refused (rows, what, error) ? g_steal_pointer (&rows) : NULL;
}

/* ---- comparison ---- */

static json_t *
read_digests (const json_t *answer, G_GNUC_UNUSED guint64 bound)
{
  json_t *list = answer_read_digests (answer);
  return list ? json_pack ("{s:o}", "variables", list) : NULL;
}

static json_t *
session_digests (struct session *session, GError **error)
{
  const struct question question = {
      .what = "digests", .use = SESSION_QUESTION, .most_us = ANSWER_US, .read = read_digests};
  return session_ask (session, &question, error);
}

static json_t *
read_state (const json_t *answer, G_GNUC_UNUSED guint64 bound)
{
  return answer_read_state (answer);
}

json_t *
session_state (struct session *session, GError **error)
{
  const struct question question = {
      .what = "state", .use = SESSION_QUESTION, .most_us = ANSWER_US, .read = read_state};
  return session_ask (session, &question, error);
}

enum likeness { LIKE_SAME, LIKE_DIFFERING, LIKE_UNKNOWN };

/* Digests of different types or shapes need not be looked at. */
static enum likeness
compare_variables (const json_t *here, const json_t *there)
{
  static const char *const facts[] = {"type", "shape"};
  for (gsize i = 0; i < G_N_ELEMENTS (facts); i++)
    if (!json_equal (json_object_get (here, facts[i]), json_object_get (there, facts[i])))
      return LIKE_DIFFERING;
  const json_t *one = json_object_get (here, "digest"), *other = json_object_get (there, "digest");
  if (!json_is_string (one) || !json_is_string (other))
    return LIKE_UNKNOWN;
  return json_equal (one, other) ? LIKE_SAME : LIKE_DIFFERING;
}

/* VARIABLE as session.variables has it. */
static json_t *
without_digest (const json_t *variable)
{
  json_t *copy = json_copy ((json_t *)(guintptr)variable);
  json_object_del (copy, "digest");
  return copy;
}

/* The variables of LIST by name; the list's. Of equal names the last counts. */
static GHashTable *
by_name (const json_t *list)
{
  GHashTable *table = g_hash_table_new (g_str_hash, g_str_equal);
  gsize index;
  json_t *variable;
  json_array_foreach (list, index, variable)
      g_hash_table_replace (table, (char *)(guintptr)json_member_text (variable, "name"), variable);
  return table;
}

/* Those of LIST whose names are not in OTHERS. */
static json_t *
only_in (const json_t *list, GHashTable *others)
{
  json_t *only = json_array ();
  gsize index;
  json_t *variable;
  json_array_foreach (list, index, variable)
  {
    if (!g_hash_table_contains (others, json_member_text (variable, "name")))
      json_array_append_new (only, without_digest (variable));
  }
  return only;
}

static json_t *
compare_lists (const json_t *here, const json_t *there)
{
  g_autoptr (GHashTable) mine = by_name (here), others = by_name (there);
  json_t *differing = json_array (), *unknown = json_array ();
  json_int_t same = 0;
  gsize index;
  json_t *variable;
  json_array_foreach (here, index, variable)
  {
    const char *name = json_member_text (variable, "name");
    const json_t *other = g_hash_table_lookup (others, name);
    if (!other || g_hash_table_lookup (mine, name) != variable)
      continue;
    enum likeness likeness = compare_variables (variable, other);
    if (likeness == LIKE_UNKNOWN)
      json_array_append_new (unknown, json_string (name));
    else if (likeness == LIKE_DIFFERING)
      json_array_append_new (differing,
                             json_pack ("{s:s, s:o, s:o}", "name", name, "here", without_digest (variable),
                                        "there", without_digest (other)));
    else
      same++;
  }
  return json_pack ("{s:o, s:o, s:o, s:I, s:o}", "only_here", only_in (here, others), "only_there",
                    only_in (there, mine), "differing", differing, "same", same, "unknown", unknown);
}

json_t *
session_compare (struct session *session, struct session *other, GError **error)
{
  g_autoptr (json_t) here = session_digests (session, error);
  g_autoptr (json_t) there = here ? session_digests (other, error) : NULL;
  return there ? compare_lists (json_object_get (here, "variables"), json_object_get (there, "variables"))
               : NULL;
}

/* ---- while somebody types ---- */

static json_t *
read_inspection (const json_t *answer, G_GNUC_UNUSED guint64 bound)
{
  return answer_read_inspection (answer);
}

/* The value of QUESTION about CURSOR in CODE. What cannot be answered, since code fails or the session is in
 * use, is an answer with NOTHING, which is taken over. */
static json_t *
ask_typing (struct session *session, const char *code, guint64 cursor, struct question *question,
            json_t *nothing, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) none = nothing;
  g_autoptr (json_t) details = json_pack ("{s:s, s:I}", "code", code, "cursor", (json_int_t)cursor);
  question->details = details;
  question->use = SESSION_TYPING;
  question->most_us = TYPING_US;
  json_t *value = session_ask (session, question, &problem);
  gboolean busy = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY);
  if (!value && !busy && !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_FAILED)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  if (!value)
    value = g_steal_pointer (&none);
  json_object_set_new (value, "busy", json_boolean (busy));
  return value;
}

json_t *
session_complete (struct session *session, const char *code, guint64 cursor, GError **error)
{
  struct question question = {
      .what = "complete", .read = answer_read_matches, .bound = (guint64)g_utf8_strlen (code, -1)};
  cursor = MIN (cursor, question.bound);
  json_t *nothing = json_pack ("{s:I, s:I, s:[], s:b}", "start", (json_int_t)cursor, "end",
                               (json_int_t)cursor, "matches", "more", FALSE);
  return ask_typing (session, code, cursor, &question, nothing, error);
}

json_t *
session_inspect (struct session *session, const char *code, guint64 cursor, GError **error)
{
  struct question question = {.what = "inspect", .read = read_inspection};
  json_t *nothing = json_pack ("{s:b, s:s, s:s, s:n, s:n, s:n}", "found", FALSE, "name", "", "type", "",
                               "signature", "documentation", "value");
  return ask_typing (session, code, cursor, &question, nothing, error);
}
