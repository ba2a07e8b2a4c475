/* SPDX-License-Identifier: Apache-2.0 */
/* What the dialects share. */
#include "models/dialect.h"

#include <string.h>

#include "common/json.h"

/* What every one of the APIs takes as the name of a tool and as the id of a call. */
#define NAME_BYTES 64

const struct dialect_class *
dialect_of (enum dialect dialect)
{
  static const struct dialect_class *const classes[] = {
      [DIALECT_CHAT] = &dialect_chat,
      [DIALECT_RESPONSES] = &dialect_responses,
      [DIALECT_MESSAGES] = &dialect_messages,
  };
  return classes[dialect];
}

const char *
dialect_type (const json_t *part)
{
  return json_member_text (part, "type");
}

const json_t *
dialect_error (const json_t *data)
{
  const json_t *error = json_object_get (data, "error");
  if (!error)
    error = json_object_get (json_object_get (data, "response"), "error");
  if (json_is_object (error) || json_is_string (error))
    return error;
  if (strcmp (dialect_type (data), "error") == 0 || strcmp (json_member_text (data, "object"), "error") == 0)
    return data;
  return NULL;
}

/* ---- questions ---- */

static gboolean
dialect_invalid (GError **error, const char *what)
{
  g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_INVALID, what);
  return FALSE;
}

static gboolean
dialect_has_tool (const json_t *tools, const char *name)
{
  gsize index;
  json_t *tool;
  json_array_foreach (tools, index, tool)
  {
    if (strcmp (json_member_text (tool, "name"), name) == 0)
      return TRUE;
  }
  return FALSE;
}

gboolean
dialect_check (const struct dialect_question *question, GError **error)
{
  const json_t *messages = question->question->messages, *tools = question->question->tools;
  const char *tool = question->question->tool;
  gsize count = json_array_size (messages);
  const char *role = json_member_text (json_array_get (messages, count - 1), "role");
  if (count == 0 || (strcmp (role, "user") != 0 && strcmp (role, "tool") != 0))
    return dialect_invalid (error, "the last message of a question must be a user's or a tool's");
  if (tool && tool[0] && !dialect_has_tool (tools, tool))
    return dialect_invalid (error, "the tool that must be called is not among those that are given");
  return !tool || json_array_size (tools) > 0 ||
         dialect_invalid (error, "a tool must be called, but none is given");
}

/* ---- parts ---- */

static char *
fit_name (const char *text, const char *otherwise)
{
  char *name = g_strndup (text[0] ? text : otherwise, NAME_BYTES);
  for (char *at = name; *at; at++)
    if (!g_ascii_isalnum (*at) && *at != '_' && *at != '-')
      *at = '_';
  return name;
}

char *
dialect_id (const json_t *part)
{
  return fit_name (json_member_text (part, "id"), "call");
}

char *
dialect_name (const json_t *part)
{
  return fit_name (json_member_text (part, "name"), "unnamed");
}

json_t *
dialect_arguments (const json_t *call)
{
  json_t *arguments = json_object_get (call, "arguments");
  if (json_is_object (arguments))
    return json_incref (arguments);
  return json_pack ("{s:s}", "malformed_arguments", json_member_text (call, "raw"));
}

char *
dialect_text (const json_t *content, gboolean pictures)
{
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    gboolean is_image = strcmp (dialect_type (part), "image") == 0;
    if (text->len > 0 && (!is_image || pictures))
      g_string_append_c (text, '\n');
    if (!is_image)
      g_string_append (text, json_member_text (part, "text"));
    else if (pictures)
      g_string_append_printf (text, "[a picture, %s, that cannot be shown here]",
                              json_member_text (part, "mime"));
  }
  return g_string_free (text, FALSE);
}

json_t *
dialect_data_url (const json_t *image)
{
  return json_sprintf ("data:%s;base64,%s", json_member_text (image, "mime"),
                       json_member_text (image, "data"));
}

gboolean
dialect_has_image (const json_t *content)
{
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    if (strcmp (dialect_type (part), "image") == 0)
      return TRUE;
  }
  return FALSE;
}

const json_t *
dialect_opaque (const json_t *part, enum dialect dialect)
{
  if (strcmp (dialect_type (part), "opaque") != 0 ||
      strcmp (json_member_text (part, "dialect"), model_dialect_names[dialect]) != 0)
    return NULL;
  return json_object_get (part, "data");
}

void
dialect_count (const json_t *object, const char *name, gint64 *count)
{
  const json_t *value = json_object_get (object, name);
  if (json_is_integer (value) && json_integer_value (value) >= 0)
    *count = MIN (json_integer_value (value), MODEL_TOKENS_MAX);
}

/* ---- schemas ---- */

/* Keywords that all servers with strict tools know. */
static const char *const strict_words[] = {
    "type",     "description",          "title", "enum",  "const", "properties",
    "required", "additionalProperties", "items", "anyOf",
};

static gboolean requires (const json_t *required, const char *name)
{
  gsize index;
  json_t *word;
  json_array_foreach (required, index, word)
  {
    if (g_strcmp0 (json_string_value (word), name) == 0)
      return TRUE;
  }
  return FALSE;
}

static gboolean is_strict (const json_t *schema, guint depth);

static gboolean
has_strict_members (const json_t *schema, guint depth)
{
  const char *name;
  json_t *member;
  if (!json_is_false (json_object_get (schema, "additionalProperties")))
    return FALSE;
  json_object_foreach (json_object_get (schema, "properties"), name, member)
  {
    if (!requires (json_object_get (schema, "required"), name) || !is_strict (member, depth))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_strict_word (const char *word)
{
  for (gsize i = 0; i < G_N_ELEMENTS (strict_words); i++)
    if (strcmp (word, strict_words[i]) == 0)
      return TRUE;
  return FALSE;
}

/* DEPTH: how much deeper it may go; servers take five. */
static gboolean
is_strict (const json_t *schema, guint depth)
{
  const char *word;
  json_t *value;
  gsize index;
  if (!json_is_object (schema) || depth == 0)
    return FALSE;
  json_object_foreach ((json_t *)schema, word, value)
  {
    if (!is_strict_word (word))
      return FALSE;
  }
  const json_t *items = json_object_get (schema, "items");
  if (items && !is_strict (items, depth - 1))
    return FALSE;
  json_array_foreach (json_object_get (schema, "anyOf"), index, value)
  {
    if (!is_strict (value, depth - 1))
      return FALSE;
  }
  gboolean is_object =
      json_object_get (schema, "properties") || strcmp (dialect_type (schema), "object") == 0;
  return !is_object || has_strict_members (schema, depth - 1);
}

gboolean
dialect_is_strict (const json_t *schema)
{
  return json_object_get (schema, "properties") && is_strict (schema, 5);
}

void
dialect_read_event (const struct dialect_reader *readers, gsize count, struct response_builder *builder,
                    const char *name, const json_t *data)
{
  const char *type = dialect_type (data);
  for (gsize i = 0; i < count; i++)
    if (strcmp (type[0] ? type : name, readers[i].type) == 0)
      readers[i].read (builder, data);
}
