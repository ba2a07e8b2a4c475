/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about what is kept: tables from the word to the library's function. */
#include "frontends/server_store.h"

#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "frontends/server_store_private.h"
#include "frontends/submission.h"

static const struct store_op *const tables[] = {
    server_store_files,
    server_store_output,
    server_store_records,
    server_store_tables,
};

static const struct store_op *
find_op (const json_t *question, GError **error)
{
  const char *op = json_string_value (json_object_get (question, "op"));
  for (gsize i = 0; op && i < G_N_ELEMENTS (tables); i++)
    for (const struct store_op *row = tables[i]; row->op; row++)
      if (strcmp (row->op, op) == 0)
        return row;
  g_autofree char *shown = op ? text_one_line (op, 40) : NULL;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no question \"%s\" about what is kept",
               shown ? shown : "");
  return NULL;
}

/* ---- fields ---- */

static gboolean
has_type (const json_t *value, enum store_field_type type)
{
  switch (type) {
  case STORE_TEXT:
    return json_is_string (value);
  case STORE_NUMBER:
    return json_is_integer (value) && json_integer_value (value) >= 0;
  case STORE_FLAG:
    return json_is_boolean (value);
  case STORE_OBJECT:
    return json_is_object (value);
  case STORE_ARRAY:
    return json_is_array (value);
  }
  return FALSE;
}

static const char *const type_names[] = {
    [STORE_TEXT] = "text",        [STORE_NUMBER] = "a number", [STORE_FLAG] = "true or false",
    [STORE_OBJECT] = "an object", [STORE_ARRAY] = "an array",
};

static const struct store_field *
find_field (const struct store_op *row, const char *name)
{
  static const struct store_field everywhere[] = {{"op", STORE_TEXT, TRUE}, {"owner", STORE_TEXT, FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS (everywhere); i++)
    if (strcmp (everywhere[i].name, name) == 0)
      return &everywhere[i];
  for (gsize i = 0; i < G_N_ELEMENTS (row->fields) && row->fields[i].name; i++)
    if (strcmp (row->fields[i].name, name) == 0)
      return &row->fields[i];
  return NULL;
}

static gboolean
check_fields (const struct store_op *row, const json_t *question, GError **error)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)question, name, value)
  {
    const struct store_field *field = find_field (row, name);
    if (!field) {
      g_autofree char *shown = text_one_line (name, 40);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the request has the unknown field \"%s\"",
                   shown);
      return FALSE;
    }
    if (!has_type (value, field->type) && !(json_is_null (value) && !field->needed))
      return submission_wrong_type (name, type_names[field->type], error);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (row->fields) && row->fields[i].name; i++)
    if (row->fields[i].needed && !json_object_get (question, row->fields[i].name))
      return submission_wrong_type (row->fields[i].name, type_names[row->fields[i].type], error);
  return TRUE;
}

const char *
store_call_text (const struct store_call *call, const char *name)
{
  return json_string_value (json_object_get (call->question, name));
}

gint64
store_call_number (const struct store_call *call, const char *name)
{
  return json_integer_value (json_object_get (call->question, name));
}

gboolean
store_call_is_set (const struct store_call *call, const char *name)
{
  return json_is_true (json_object_get (call->question, name));
}

/* ---- answering ---- */

/* Whose things CALLER means. */
static const char *
resolve_owner (const char *caller, const json_t *question)
{
  const char *named = json_string_value (json_object_get (question, "owner"));
  if (!named)
    return caller;
  return strcmp (named, "all") == 0 ? NULL : named;
}

char *
server_store_ask (AdderEngine *engine, const char *caller, int watch_fd, const json_t *question, int *fds,
                  gsize fd_count, int *ret_fd, GError **error)
{
  const struct store_op *row = find_op (question, error);
  if (!row || !check_fields (row, question, error))
    return NULL;
  if (fd_count > row->fds_most) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%zu descriptors came with the question \"%s\": it takes %zu at most", fd_count, row->op,
                 row->fds_most);
    return NULL;
  }
  autoclose int fd = -1;
  const struct store_call call = {
      .engine = engine,
      .caller = caller,
      .owner = resolve_owner (caller, question),
      .watch_fd = watch_fd,
      .question = question,
      .fds = fds,
      .fd_count = fd_count,
      .ret_fd = &fd,
  };
  char *text = row->answer (&call, error);
  if (text)
    *ret_fd = fd_steal (&fd);
  /* cppcheck-suppress returnDanglingLifetime ; the answer is a text of its own */
  return text;
}

char *
server_store_answer (AdderEngine *engine, const char *caller, int watch_fd, struct protocol_message *message,
                     int *ret_fd, GError **error)
{
  g_autoptr (json_t) question = json_parse_object (message->data, message->length, "the request", error);
  if (!question)
    return NULL;
  return server_store_ask (engine, caller, watch_fd, question, message->fds, message->fd_count, ret_fd,
                           error);
}
