/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about sessions: one table from the word to the library's function. */
#include "frontends/server_session.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "frontends/submission.h"

struct call {
  AdderEngine *engine;
  const char *owner;
  const char *session; /* NULL where the row has none */
  const json_t *body;
  const struct protocol_message *message; /* for its descriptors */
  int watch_fd;
  struct session_reply *reply; /* for what is more than a text */
};

void
session_reply_clear (struct session_reply *reply)
{
  g_free (reply->text);
  adder_replay_free (reply->replay);
}

/* A text or NULL. */
static gboolean
take_text (const struct call *call, const char *field, const char **ret_text, GError **error)
{
  const json_t *value = json_object_get (call->body, field);
  if (value && !json_is_null (value) && !json_is_string (value)) {
    submission_wrong_type (field, "text", error);
    return FALSE;
  }
  *ret_text = json_string_value (value);
  return TRUE;
}

/* ---- the questions ---- */

/* The field "options", with the caller as owner. */
static AdderRequest *
take_options (const struct call *call, GError **error)
{
  json_t *options = json_object_get (call->body, "options");
  if (options && !json_is_object (options)) {
    submission_wrong_type ("options", "an object", error);
    return NULL;
  }
  g_autoptr (json_t) none = json_object ();
  struct submission asked = {.body = options ? options : none, .fd_count = call->message->fd_count};
  memcpy (asked.fds, call->message->fds, sizeof asked.fds);
  AdderRequest *request = submission_build (&asked, error);
  if (request)
    adder_request_set_owner (request, call->owner,
                             json_string_value (json_object_get (asked.body, "conversation")));
  return request;
}

static char *
answer_new (const struct call *call, GError **error)
{
  const char *name;
  if (!take_text (call, "name", &name, error))
    return NULL;
  g_autoptr (AdderRequest) options = take_options (call, error);
  return options ? adder_session_new (call->engine, options, name, error) : NULL;
}

static char *
answer_replay (const struct call *call, GError **error)
{
  const char *name;
  const json_t *from = json_object_get (call->body, "from");
  const json_t *keep_going = json_object_get (call->body, "keep_going");
  if (!take_text (call, "name", &name, error))
    return NULL;
  if ((from && (!json_is_integer (from) || json_integer_value (from) < 0)) ||
      (keep_going && !json_is_boolean (keep_going))) {
    submission_wrong_type ("from", "a number, and keep_going true or false", error);
    return NULL;
  }
  g_autoptr (AdderRequest) options = take_options (call, error);
  if (!options)
    return NULL;
  adder_request_set_watch (options, call->watch_fd);
  AdderReplay *replay =
      adder_session_replay (call->engine, options, call->session, (guint64)json_integer_value (from), name,
                            json_is_false (keep_going) ? ADDER_REPLAY_STOP : ADDER_REPLAY_NEW, error);
  if (!replay)
    return NULL;
  call->reply->replay = replay;
  return g_strdup (adder_replay_json (replay));
}

static char *
answer_list (const struct call *call, GError **error)
{
  return adder_session_list (call->engine, call->owner, error);
}

static char *
answer_show (const struct call *call, GError **error)
{
  return adder_session_show (call->engine, call->owner, call->session, error);
}

static char *
answer_variables (const struct call *call, GError **error)
{
  const json_t *names = json_object_get (call->body, "names");
  if (!names || json_is_null (names))
    return adder_session_variables (call->engine, call->owner, call->session, NULL, error);
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  gsize i;
  json_t *item;
  json_array_foreach (names, i, item) if (json_is_string (item))
      g_ptr_array_add (texts, (char *)json_string_value (item));
  if (!json_is_array (names) || texts->len != json_array_size (names)) {
    submission_wrong_type ("names", "a list of texts", error);
    return NULL;
  }
  g_ptr_array_add (texts, NULL);
  return adder_session_variables (call->engine, call->owner, call->session, (const char *const *)texts->pdata,
                                  error);
}

static char *
answer_history (const struct call *call, GError **error)
{
  return adder_session_history (call->engine, call->owner, call->session, error);
}

static char *
answer_reset (const struct call *call, GError **error)
{
  gboolean ok = adder_session_reset (call->engine, call->owner, call->session, error);
  return ok ? answer_show (call, error) : NULL;
}

static char *
answer_interrupt (const struct call *call, GError **error)
{
  gboolean ok = adder_session_interrupt (call->engine, call->owner, call->session, error);
  return ok ? answer_show (call, error) : NULL;
}

static char *
answer_end (const struct call *call, GError **error)
{
  gboolean ok = adder_session_end (call->engine, call->owner, call->session, error);
  return ok ? answer_show (call, error) : NULL;
}

/* The field "checkpoint", which must be there unless it MAY be missing. */
static gboolean
take_checkpoint (const struct call *call, gboolean may, const char **ret_name, GError **error)
{
  if (!take_text (call, "checkpoint", ret_name, error))
    return FALSE;
  return *ret_name || may || submission_wrong_type ("checkpoint", "text", error);
}

static char *
answer_checkpoint (const struct call *call, GError **error)
{
  const char *name;
  if (!take_text (call, "name", &name, error))
    return NULL;
  return adder_session_checkpoint (call->engine, call->owner, call->session, name, error);
}

static char *
answer_rollback (const struct call *call, GError **error)
{
  const char *checkpoint;
  if (!take_checkpoint (call, FALSE, &checkpoint, error) ||
      !adder_session_rollback (call->engine, call->owner, call->session, checkpoint, error))
    return NULL;
  return answer_show (call, error);
}

static char *
answer_forget (const struct call *call, GError **error)
{
  const char *checkpoint;
  if (!take_checkpoint (call, FALSE, &checkpoint, error) ||
      !adder_session_forget (call->engine, call->owner, call->session, checkpoint, error))
    return NULL;
  return answer_show (call, error);
}

static char *
answer_branch (const struct call *call, GError **error)
{
  const char *checkpoint;
  const json_t *count = json_object_get (call->body, "count");
  if (!take_checkpoint (call, TRUE, &checkpoint, error))
    return NULL;
  if (count &&
      (!json_is_integer (count) || json_integer_value (count) < 0 || json_integer_value (count) > G_MAXINT)) {
    submission_wrong_type ("count", "a number", error);
    return NULL;
  }
  return adder_session_branch (call->engine, call->owner, call->session, checkpoint,
                               count ? (unsigned)json_integer_value (count) : 1, error);
}

/* ---- the table ---- */

struct row {
  const char *op;
  const char *fields[5]; /* beside "op" */
  char *(*answer) (const struct call *call, GError **error);
};

/* clang-format off */
static const struct row row_table[] = {
    {"new", {"options", "name"}, answer_new},
    {"list", {NULL}, answer_list},
    {"show", {"session"}, answer_show},
    {"variables", {"session", "names"}, answer_variables},
    {"history", {"session"}, answer_history},
    {"reset", {"session"}, answer_reset},
    {"interrupt", {"session"}, answer_interrupt},
    {"end", {"session"}, answer_end},
    {"checkpoint", {"session", "name"}, answer_checkpoint},
    {"rollback", {"session", "checkpoint"}, answer_rollback},
    {"forget", {"session", "checkpoint"}, answer_forget},
    {"branch", {"session", "checkpoint", "count"}, answer_branch},
    {"replay", {"session", "options", "name", "from", "keep_going"}, answer_replay},
};
/* clang-format on */

static gboolean
has_field (const struct row *row, const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (row->fields) && row->fields[i]; i++)
    if (strcmp (row->fields[i], name) == 0)
      return TRUE;
  return FALSE;
}

static const struct row *
find_row (const json_t *body, GError **error)
{
  const char *op = json_string_value (json_object_get (body, "op"));
  for (gsize i = 0; op && i < G_N_ELEMENTS (row_table); i++)
    if (strcmp (row_table[i].op, op) == 0)
      return &row_table[i];
  g_autofree char *shown = op ? text_one_line (op, 40) : NULL;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no question \"%s\" about sessions",
               shown ? shown : "");
  return NULL;
}

static gboolean
check_fields (const struct row *row, const json_t *body, GError **error)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)body, name, value)
  {
    if (strcmp (name, "op") == 0 || has_field (row, name))
      continue;
    g_autofree char *shown = text_one_line (name, 40);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the request has the unknown field \"%s\"", shown);
    return FALSE;
  }
  return TRUE;
}

gboolean
server_session_answer (AdderEngine *engine, const char *owner, int watch_fd,
                       const struct protocol_message *message, struct session_reply *ret_reply,
                       GError **error)
{
  g_autoptr (json_t) body = json_parse_object (message->data, message->length, "the request", error);
  const struct row *row = body ? find_row (body, error) : NULL;
  if (!row || !check_fields (row, body, error))
    return FALSE;
  struct session_reply reply = {0};
  struct call call = {engine, owner, NULL, body, message, watch_fd, &reply};
  if (has_field (row, "session")) {
    if (!take_text (&call, "session", &call.session, error))
      return FALSE;
    if (!call.session) {
      submission_wrong_type ("session", "text", error);
      return FALSE;
    }
  }
  if (!has_field (row, "options") && message->fd_count > 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "descriptors came with a question that takes none");
    return FALSE;
  }
  reply.text = row->answer (&call, error);
  if (reply.text)
    *ret_reply = reply;
  return reply.text != NULL;
}
