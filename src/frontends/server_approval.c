/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about approvals: one table from the word to the library's function. Who comes by the local socket
 * is a person: the kernel says who, and no conversation confines him. */
#include "frontends/server_approval.h"

#include <string.h>

#include "common/text.h"
#include "frontends/submission.h"

struct call {
  AdderEngine *engine;
  const char *owner;
  const char *id; /* NULL where the row has none */
  const char *reason;
  gboolean always;
  guint64 wait_ms;
  int watch_fd;
};

static char *
answer_list (const struct call *call, GError **error)
{
  return adder_approval_list (call->engine, call->owner, error);
}

static char *
answer_show (const struct call *call, GError **error)
{
  return adder_approval_show (call->engine, call->owner, call->id, error);
}

static char *
answer_approve (const struct call *call, GError **error)
{
  return adder_approval_approve (call->engine, call->owner, NULL, call->id, call->always, error);
}

static char *
answer_deny (const struct call *call, GError **error)
{
  return adder_approval_deny (call->engine, call->owner, NULL, call->id, call->reason, error);
}

static char *
answer_wait (const struct call *call, GError **error)
{
  return adder_approval_wait (call->engine, call->owner, call->id, call->watch_fd, call->wait_ms, error);
}

struct row {
  const char *op;
  const char *fields[2]; /* beside "op"; the first must be there */
  char *(*answer) (const struct call *call, GError **error);
};

static const struct row row_table[] = {
    {"list", {NULL}, answer_list},
    {"show", {"id"}, answer_show},
    {"approve", {"id", "always"}, answer_approve},
    {"deny", {"id", "reason"}, answer_deny},
    {"wait", {"id", "wait_ms"}, answer_wait},
};

/* ---- fields ---- */

static gboolean
take_id (struct call *call, const json_t *value, GError **error)
{
  call->id = json_string_value (value);
  return call->id || submission_wrong_type ("id", "text", error);
}

static gboolean
take_always (struct call *call, const json_t *value, GError **error)
{
  call->always = json_is_true (value);
  return json_is_boolean (value) || submission_wrong_type ("always", "true or false", error);
}

static gboolean
take_reason (struct call *call, const json_t *value, GError **error)
{
  call->reason = json_string_value (value);
  return call->reason || json_is_null (value) || submission_wrong_type ("reason", "text", error);
}

static gboolean
take_wait (struct call *call, const json_t *value, GError **error)
{
  call->wait_ms = (guint64)json_integer_value (value);
  return (json_is_integer (value) && json_integer_value (value) >= 0) ||
         submission_wrong_type ("wait_ms", "a number", error);
}

static const struct {
  const char *name;
  gboolean (*take) (struct call *call, const json_t *value, GError **error);
} field_table[] = {
    {"id", take_id},
    {"always", take_always},
    {"reason", take_reason},
    {"wait_ms", take_wait},
};

static gboolean
has_field (const struct row *row, const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (row->fields); i++)
    if (g_strcmp0 (row->fields[i], name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
take_field (struct call *call, const struct row *row, const char *name, const json_t *value, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (field_table); i++)
    if (strcmp (field_table[i].name, name) == 0 && has_field (row, name))
      return field_table[i].take (call, value, error);
  g_autofree char *shown = text_one_line (name, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the request has the unknown field \"%s\"", shown);
  return FALSE;
}

static const struct row *
find_row (const json_t *question, GError **error)
{
  const char *op = json_string_value (json_object_get (question, "op"));
  for (gsize i = 0; op && i < G_N_ELEMENTS (row_table); i++)
    if (strcmp (row_table[i].op, op) == 0)
      return &row_table[i];
  g_autofree char *shown = op ? text_one_line (op, 40) : NULL;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no question \"%s\" about approvals",
               shown ? shown : "");
  return NULL;
}

char *
server_approval_answer (AdderEngine *engine, const char *owner, int watch_fd, const json_t *question,
                        GError **error)
{
  const struct row *row = find_row (question, error);
  struct call call = {.engine = engine, .owner = owner, .watch_fd = watch_fd};
  const char *name;
  json_t *value;
  if (!row)
    return NULL;
  json_object_foreach ((json_t *)(guintptr)question, name, value)
  {
    if (strcmp (name, "op") != 0 && !take_field (&call, row, name, value, error))
      return NULL;
  }
  if (row->fields[0] && !call.id) {
    submission_wrong_type ("id", "text", error);
    return NULL;
  }
  /* cppcheck-suppress returnDanglingLifetime ; the answer is a text of its own */
  return row->answer (&call, error);
}
