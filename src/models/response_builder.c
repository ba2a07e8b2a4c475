/* SPDX-License-Identifier: Apache-2.0 */
#include "models/response_builder.h"

#include <string.h>

#include "models/json_repair.h"

/* An answer of a model has a handful. */
#define PARTS_MAX 1024

static void
response_builder_part_free (gpointer data)
{
  struct response_part *part = data;
  g_string_free (part->text, TRUE);
  if (part->signature)
    g_string_free (part->signature, TRUE);
  g_free (part->id);
  g_free (part->name);
  json_decref (part->data);
  g_free (part);
}

void
response_builder_init (struct response_builder *builder, enum dialect dialect)
{
  *builder = (struct response_builder){
      .dialect = dialect,
      .parts = g_ptr_array_new_with_free_func (response_builder_part_free),
      .places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
      .usage = {-1, -1, -1, -1},
  };
}

void
response_builder_clear (struct response_builder *builder)
{
  g_ptr_array_free (builder->parts, TRUE);
  g_hash_table_destroy (builder->places);
}

struct response_part *
response_builder_add (struct response_builder *builder, enum response_part_kind kind, gint64 place)
{
  if (builder->parts->len >= PARTS_MAX) {
    builder->is_crowded = TRUE;
    return NULL;
  }
  struct response_part *part = g_new0 (struct response_part, 1);
  part->kind = kind;
  part->place = place;
  part->text = g_string_new (NULL);
  guint at = builder->parts->len;
  while (at > 0 && ((struct response_part *)builder->parts->pdata[at - 1])->place > place)
    at--;
  g_ptr_array_insert (builder->parts, (gint)at, part);
  return part;
}

struct response_part *
response_builder_find (const struct response_builder *builder, enum response_part_kind kind, gint64 place)
{
  for (guint i = builder->parts->len; i-- > 0;) {
    struct response_part *part = builder->parts->pdata[i];
    if (part->place == place && part->kind == kind)
      return part;
  }
  return NULL;
}

struct response_part *
response_builder_get (struct response_builder *builder, enum response_part_kind kind, gint64 place)
{
  struct response_part *part = response_builder_find (builder, kind, place);
  return part ? part : response_builder_add (builder, kind, place);
}

void
response_builder_append (struct response_builder *builder, struct response_part *part, const json_t *text)
{
  if (!part || !json_is_string (text) || json_string_length (text) == 0)
    return;
  g_string_append_len (part->text, json_string_value (text), (gssize)json_string_length (text));
  if (part->kind == RESPONSE_TEXT && builder->saw)
    builder->saw (builder->saw_data, json_string_value (text), json_string_length (text));
}

static void
set_once (char **value, const json_t *text)
{
  if (!*value && json_string_length (text) > 0)
    *value = g_strdup (json_string_value (text));
}

void
response_part_set_name (struct response_part *part, const json_t *id, const json_t *name)
{
  set_once (&part->id, id);
  set_once (&part->name, name);
}

void
response_part_set_arguments (struct response_part *part, const json_t *arguments)
{
  if (json_is_object (arguments)) {
    json_decref (part->data);
    part->data = json_deep_copy (arguments);
  } else if (json_string_length (arguments) > 0) {
    g_string_assign (part->text, json_string_value (arguments));
  }
}

void
response_builder_stop (struct response_builder *builder, enum model_stop stop)
{
  builder->has_stop = TRUE;
  builder->stop = stop;
}

gboolean
response_builder_has_calls (const struct response_builder *builder)
{
  for (guint i = 0; i < builder->parts->len; i++)
    if (((struct response_part *)builder->parts->pdata[i])->kind == RESPONSE_CALL)
      return TRUE;
  return FALSE;
}

/* ---- the message ---- */

static gboolean
is_taken (const json_t *content, const char *id)
{
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    if (g_strcmp0 (json_string_value (json_object_get (part, "id")), id) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Two calls with one id could not be told apart by their results. */
static json_t *
response_builder_id_of (const struct response_builder *builder, const struct response_part *part,
                        const json_t *content)
{
  if (part->id && !is_taken (content, part->id))
    return json_string (part->id);
  return json_sprintf ("call_%u_%zu", builder->questions, json_array_size (content));
}

static json_t *
response_builder_call_of (const struct response_builder *builder, const struct response_part *part,
                          const json_t *content)
{
  json_t *arguments = part->text->len > 0 || !part->data
                          ? json_repair_arguments (part->text->str, part->text->len)
                          : json_incref (part->data);
  json_t *call = json_pack ("{s:s, s:o, s:s, s:o}", "type", "call", "id",
                            response_builder_id_of (builder, part, content), "name",
                            part->name ? part->name : "", "arguments", arguments ? arguments : json_null ());
  if (!arguments)
    json_object_set_new (call, "raw", json_stringn (part->text->str, part->text->len));
  return call;
}

static json_t *
opaque_of (const struct response_builder *builder, const struct response_part *part)
{
  json_t *data = part->data ? json_deep_copy (part->data) : json_object ();
  if (part->member && part->text->len > 0)
    json_object_set_new (data, part->member, json_stringn (part->text->str, part->text->len));
  if (part->signature)
    json_object_set_new (data, "signature", json_stringn (part->signature->str, part->signature->len));
  return json_pack ("{s:s, s:s, s:o}", "type", "opaque", "dialect", model_dialect_names[builder->dialect],
                    "data", data);
}

json_t *
response_builder_message (const struct response_builder *builder)
{
  json_t *content = json_array ();
  for (guint i = 0; i < builder->parts->len; i++) {
    const struct response_part *part = builder->parts->pdata[i];
    if (part->kind == RESPONSE_CALL)
      json_array_append_new (content, response_builder_call_of (builder, part, content));
    else if (part->kind == RESPONSE_OPAQUE)
      json_array_append_new (content, opaque_of (builder, part));
    else if (part->text->len > 0)
      json_array_append_new (content, json_pack ("{s:s, s:o}", "type", "text", "text",
                                                 json_stringn (part->text->str, part->text->len)));
  }
  return json_pack ("{s:s, s:o}", "role", "assistant", "content", content);
}
