/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAI's Responses, without anything being kept at the server: the whole conversation goes there each time,
 * with the reasoning (opaque) that came back encrypted. */
#include <string.h>

#include "common/json.h"
#include "models/dialect.h"

/* An output item has so many places, one for each of its contents. */
#define PLACES_OF_ITEM 1024
#define ITEMS_MAX      1024

/* ---- the question ---- */

/* What a user or a tool says, as a list of parts. */
static json_t *
input_content (const json_t *content, gboolean sees)
{
  json_t *parts = json_array ();
  if (!sees || !dialect_has_image (content)) {
    g_autofree char *text = dialect_text (content, TRUE);
    json_array_append_new (parts, json_pack ("{s:s, s:s}", "type", "input_text", "text", text));
    return parts;
  }
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    if (strcmp (dialect_type (part), "text") == 0)
      json_array_append_new (
          parts, json_pack ("{s:s, s:s}", "type", "input_text", "text", json_member_text (part, "text")));
    else if (strcmp (dialect_type (part), "image") == 0)
      json_array_append_new (parts, json_pack ("{s:s, s:s, s:o}", "type", "input_image", "detail", "auto",
                                               "image_url", dialect_data_url (part)));
  }
  return parts;
}

static void
dialect_responses_append_user (const struct dialect_question *question, json_t *input, const json_t *content)
{
  json_array_append_new (input, json_pack ("{s:s, s:s, s:o}", "type", "message", "role", "user", "content",
                                           input_content (content, question->sees)));
}

static void
dialect_responses_append_result (const struct dialect_question *question, json_t *input, const json_t *result)
{
  const json_t *content = json_object_get (result, "content");
  g_autofree char *id = dialect_id (result);
  gboolean shows = question->sees && dialect_has_image (content) && !(question->quirks & QUIRK_TEXT_RESULTS);
  json_t *output = NULL;
  if (shows) {
    output = input_content (content, TRUE);
  } else {
    g_autofree char *text = dialect_text (content, !question->sees);
    output = json_string (text);
  }
  json_array_append_new (
      input, json_pack ("{s:s, s:s, s:o}", "type", "function_call_output", "call_id", id, "output", output));
}

/* Where results are text alone, their pictures follow all of them. */
static json_t *
dialect_responses_pictures_of (const struct dialect_question *question, const json_t *results)
{
  json_t *pictures = json_array (), *result, *part;
  gsize index, inner;
  if (!question->sees || !(question->quirks & QUIRK_TEXT_RESULTS))
    return pictures;
  json_array_foreach (results, index, result)
  {
    json_array_foreach (json_object_get (result, "content"), inner, part)
    {
      if (strcmp (dialect_type (part), "image") == 0)
        json_array_append (pictures, part);
    }
  }
  return pictures;
}

static void
dialect_responses_append_results (const struct dialect_question *question, json_t *input, json_t *waiting,
                                  const json_t *results)
{
  gsize index;
  json_t *result;
  json_array_foreach (results, index, result)
  {
    dialect_responses_append_result (question, input, result);
  }
  g_autoptr (json_t) pictures = dialect_responses_pictures_of (question, results);
  json_array_extend (waiting, pictures);
}

static void
dialect_responses_flush_pictures (const struct dialect_question *question, json_t *input, json_t *waiting)
{
  if (json_array_size (waiting) == 0)
    return;
  json_array_insert_new (waiting, 0, message_text ("These are the pictures of the results above."));
  dialect_responses_append_user (question, input, waiting);
  json_array_clear (waiting);
}

/* Ids of items are left out: the server keeps none that it could find by them. */
static json_t *
said_item (const json_t *part)
{
  return json_pack ("{s:s, s:s, s:s, s:[{s:s, s:s, s:[]}]}", "type", "message", "role", "assistant", "status",
                    "completed", "content", "type", "output_text", "text", json_member_text (part, "text"),
                    "annotations");
}

static json_t *
call_item (const json_t *call)
{
  g_autofree char *id = dialect_id (call), *name = dialect_name (call);
  g_autoptr (json_t) arguments = dialect_arguments (call);
  g_autofree char *text = json_to_text (arguments);
  return json_pack ("{s:s, s:s, s:s, s:s}", "type", "function_call", "call_id", id, "name", name, "arguments",
                    text);
}

/* Reasoning that is neither encrypted nor readable is only a name of something that no server kept. */
static gboolean
can_go_back (const json_t *item)
{
  return strcmp (dialect_type (item), "reasoning") != 0 ||
         json_is_string (json_object_get (item, "encrypted_content")) ||
         json_array_size (json_object_get (item, "content")) > 0;
}

static void
dialect_responses_append_assistant (json_t *input, const json_t *content)
{
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    const json_t *item = dialect_opaque (part, DIALECT_RESPONSES);
    if (strcmp (dialect_type (part), "text") == 0)
      json_array_append_new (input, said_item (part));
    else if (strcmp (dialect_type (part), "call") == 0)
      json_array_append_new (input, call_item (part));
    else if (item && can_go_back (item))
      json_array_append_new (input, json_deep_copy (item));
  }
}

static json_t *
input_of (const struct dialect_question *question)
{
  json_t *input = json_array (), *waiting = json_array (), *message;
  gsize index;
  json_array_foreach (question->question->messages, index, message)
  {
    const char *role = json_member_text (message, "role");
    const json_t *content = json_object_get (message, "content");
    if (strcmp (role, "tool") == 0) {
      dialect_responses_append_results (question, input, waiting, content);
      continue;
    }
    dialect_responses_flush_pictures (question, input, waiting);
    if (strcmp (role, "user") == 0)
      dialect_responses_append_user (question, input, content);
    else
      dialect_responses_append_assistant (input, content);
  }
  dialect_responses_flush_pictures (question, input, waiting);
  json_decref (waiting);
  return input;
}

/* Tools are strict there unless something else is said. */
static json_t *
dialect_responses_tool_object (const struct dialect_question *question, const json_t *tool)
{
  json_t *parameters = json_object_get (tool, "parameters");
  json_t *object =
      json_pack ("{s:s, s:s, s:s, s:O}", "type", "function", "name", json_member_text (tool, "name"),
                 "description", json_member_text (tool, "description"), "parameters", parameters);
  if (!(question->quirks & QUIRK_NO_STRICT))
    json_object_set_new (object, "strict", json_boolean (dialect_is_strict (parameters)));
  return object;
}

static void
dialect_responses_set_tools (const struct dialect_question *question, json_t *body)
{
  const json_t *tools = question->question->tools;
  const char *tool = question->question->tool;
  if (json_array_size (tools) == 0)
    return;
  json_t *objects = json_array (), *each;
  gsize index;
  json_array_foreach (tools, index, each)
  {
    json_array_append_new (objects, dialect_responses_tool_object (question, each));
  }
  json_object_set_new (body, "tools", objects);
  if (tool)
    json_object_set_new (body, "tool_choice",
                         tool[0] ? json_pack ("{s:s, s:s}", "type", "function", "name", tool)
                                 : json_string ("required"));
}

static json_t *
responses_ask (const struct dialect_question *question, GError **error)
{
  if (!dialect_check (question, error))
    return NULL;
  const char *instructions = question->question->instructions;
  json_t *body = json_pack ("{s:s}", "model", question->model);
  if (instructions && instructions[0])
    json_object_set_new (body, "instructions", json_string (instructions));
  json_object_set_new (body, "input", input_of (question));
  dialect_responses_set_tools (question, body);
  if (question->output_tokens > 0)
    json_object_set_new (body, "max_output_tokens", json_integer ((json_int_t)question->output_tokens));
  json_object_set_new (body, "store", json_false ());
  if (!(question->quirks & QUIRK_NO_ENCRYPTED))
    json_object_set_new (body, "include", json_pack ("[s]", "reasoning.encrypted_content"));
  json_object_set_new (body, "stream", json_boolean (question->stream));
  return body;
}

/* ---- the answer ---- */

/* Where the item that DATA speaks of stands. Some servers give its id alone, others its index. */
static gint64
dialect_responses_place_of (struct response_builder *builder, const json_t *data, const char *id)
{
  const json_t *index = json_object_get (data, "output_index");
  gpointer known = NULL;
  if (id[0] && g_hash_table_lookup_extended (builder->places, id, NULL, &known))
    return (gint64)GPOINTER_TO_INT (known) * PLACES_OF_ITEM;
  guint count = g_hash_table_size (builder->places);
  int at =
      (int)(json_is_integer (index) ? CLAMP (json_integer_value (index), 0, ITEMS_MAX) : (json_int_t)count);
  if (id[0] && count < ITEMS_MAX)
    g_hash_table_insert (builder->places, g_strdup (id), GINT_TO_POINTER (at));
  return (gint64)at * PLACES_OF_ITEM;
}

static gint64
place_of_event (struct response_builder *builder, const json_t *data)
{
  return dialect_responses_place_of (builder, data, json_member_text (data, "item_id"));
}

static gint64
place_of_content (struct response_builder *builder, const json_t *data)
{
  const json_t *index = json_object_get (data, "content_index");
  return place_of_event (builder, data) +
         (json_is_integer (index) ? CLAMP (json_integer_value (index), 0, PLACES_OF_ITEM - 1) : 0);
}

/* All of a text, of which nothing or all was told already. */
static void
dialect_responses_read_whole (struct response_builder *builder, gint64 place, const json_t *text)
{
  if (!response_builder_find (builder, RESPONSE_TEXT, place))
    response_builder_append (builder, response_builder_add (builder, RESPONSE_TEXT, place), text);
}

static void
read_contents (struct response_builder *builder, gint64 place, const json_t *contents)
{
  gsize index;
  json_t *content;
  json_array_foreach (contents, index, content)
  {
    gint64 at = place + (gint64)MIN (index, PLACES_OF_ITEM - 1);
    const char *type = dialect_type (content);
    if (strcmp (type, "refusal") == 0)
      response_builder_stop (builder, MODEL_STOP_REFUSAL);
    if (strcmp (type, "refusal") == 0 || strcmp (type, "output_text") == 0)
      dialect_responses_read_whole (
          builder, at, json_object_get (content, strcmp (type, "refusal") == 0 ? "refusal" : "text"));
  }
}

/* An item that began, or (IS_WHOLE) is complete. */
static void
dialect_responses_read_item (struct response_builder *builder, gint64 place, const json_t *item,
                             gboolean is_whole)
{
  const char *type = dialect_type (item);
  if (strcmp (type, "message") == 0) {
    read_contents (builder, place, json_object_get (item, "content"));
  } else if (strcmp (type, "function_call") == 0) {
    struct response_part *call = response_builder_get (builder, RESPONSE_CALL, place);
    const json_t *id = json_object_get (item, "call_id");
    if (!call)
      return;
    response_part_set_name (call, json_string_length (id) > 0 ? id : json_object_get (item, "id"),
                            json_object_get (item, "name"));
    if (is_whole)
      response_part_set_arguments (call, json_object_get (item, "arguments"));
  } else if (is_whole && type[0]) {
    struct response_part *opaque = response_builder_get (builder, RESPONSE_OPAQUE, place);
    if (opaque && !opaque->data)
      opaque->data = json_deep_copy (item);
  }
}

static void
on_item (struct response_builder *builder, const json_t *data, gboolean is_whole)
{
  const json_t *item = json_object_get (data, "item");
  dialect_responses_read_item (
      builder, dialect_responses_place_of (builder, data, json_member_text (item, "id")), item, is_whole);
}

static void
on_item_added (struct response_builder *builder, const json_t *data)
{
  on_item (builder, data, FALSE);
}

static void
on_item_done (struct response_builder *builder, const json_t *data)
{
  on_item (builder, data, TRUE);
}

static void
on_text (struct response_builder *builder, const json_t *data)
{
  response_builder_append (builder,
                           response_builder_get (builder, RESPONSE_TEXT, place_of_content (builder, data)),
                           json_object_get (data, "delta"));
}

static void
on_text_done (struct response_builder *builder, const json_t *data)
{
  dialect_responses_read_whole (builder, place_of_content (builder, data), json_object_get (data, "text"));
}

static void
on_refusal (struct response_builder *builder, const json_t *data)
{
  on_text (builder, data);
  response_builder_stop (builder, MODEL_STOP_REFUSAL);
}

static void
on_arguments (struct response_builder *builder, const json_t *data)
{
  response_builder_append (builder,
                           response_builder_get (builder, RESPONSE_CALL, place_of_event (builder, data)),
                           json_object_get (data, "delta"));
}

static void
on_arguments_done (struct response_builder *builder, const json_t *data)
{
  struct response_part *call = response_builder_get (builder, RESPONSE_CALL, place_of_event (builder, data));
  if (call)
    response_part_set_arguments (call, json_object_get (data, "arguments"));
}

static void
dialect_responses_read_usage (struct response_builder *builder, const json_t *usage)
{
  struct model_usage *counts = &builder->usage;
  dialect_count (usage, "input_tokens", &counts->input_tokens);
  dialect_count (usage, "output_tokens", &counts->output_tokens);
  dialect_count (json_object_get (usage, "input_tokens_details"), "cached_tokens", &counts->cached_tokens);
}

static void
dialect_responses_read_output (struct response_builder *builder, const json_t *output)
{
  gsize index;
  json_t *item;
  json_array_foreach (output, index, item)
  {
    dialect_responses_read_item (builder, (gint64)MIN (index, ITEMS_MAX) * PLACES_OF_ITEM, item, TRUE);
  }
}

/* The response as a whole. Its items are looked at only where none came by themselves: they might stand
 * elsewhere. */
static void
read_response (struct response_builder *builder, const json_t *response)
{
  const char *status = json_member_text (response, "status");
  const json_t *details = json_object_get (response, "incomplete_details");
  if (builder->parts->len == 0)
    dialect_responses_read_output (builder, json_object_get (response, "output"));
  dialect_responses_read_usage (builder, json_object_get (response, "usage"));
  if (strcmp (status, "incomplete") == 0)
    response_builder_stop (builder, strcmp (json_member_text (details, "reason"), "content_filter") == 0
                                        ? MODEL_STOP_REFUSAL
                                        : MODEL_STOP_LENGTH);
  else if (!builder->has_stop)
    response_builder_stop (builder, MODEL_STOP_END);
  builder->is_over = TRUE;
}

static void
dialect_responses_on_end (struct response_builder *builder, const json_t *data)
{
  read_response (builder, json_object_get (data, "response"));
  builder->is_done = TRUE;
}

/* Events that say more than that something goes on. */
static const struct dialect_reader response_events[] = {
    {"response.output_item.added", on_item_added},
    {"response.output_item.done", on_item_done},
    {"response.output_text.delta", on_text},
    {"response.output_text.done", on_text_done},
    {"response.refusal.delta", on_refusal},
    {"response.function_call_arguments.delta", on_arguments},
    {"response.function_call_arguments.done", on_arguments_done},
    {"response.completed", dialect_responses_on_end},
    {"response.incomplete", dialect_responses_on_end},
};

static void
responses_event (struct response_builder *builder, const char *name, const json_t *data)
{
  dialect_read_event (response_events, G_N_ELEMENTS (response_events), builder, name, data);
}

static gboolean
responses_body (struct response_builder *builder, const json_t *body)
{
  if (!json_is_array (json_object_get (body, "output")))
    return FALSE;
  read_response (builder, body);
  return TRUE;
}

static const char *const no_headers[] = {NULL};

const struct dialect_class dialect_responses = {
    .title = "OpenAI Responses",
    .path = "/responses",
    .key_header = "Authorization: Bearer ",
    .headers = no_headers,
    .ask = responses_ask,
    .event = responses_event,
    .body = responses_body,
};
