/* SPDX-License-Identifier: Apache-2.0 */
/* Anthropic's Messages. Blocks of thinking, which are signed, are opaque and go back as they came; so do
 * blocks that nothing is known of. What does not change from question to question is marked, so that the
 * server need not read it again. */
#include <string.h>

#include "common/json.h"
#include "models/dialect.h"

/* The API wants a limit: what is asked for where nobody says. */
#define OUTPUT_TOKENS 8192

/* ---- the question ---- */

/* Text that is blank is refused there. */
static void
append_text (json_t *blocks, const char *text)
{
  g_autofree char *copy = g_strstrip (g_strdup (text));
  if (copy[0])
    json_array_append_new (blocks, json_pack ("{s:s, s:s}", "type", "text", "text", text));
}

static json_t *
image_block (const json_t *image)
{
  return json_pack ("{s:s, s:{s:s, s:s, s:s}}", "type", "image", "source", "type", "base64", "media_type",
                    json_member_text (image, "mime"), "data", json_member_text (image, "data"));
}

/* Text and pictures of a user or of a result. */
static void
append_said (const struct dialect_question *question, json_t *blocks, const json_t *content)
{
  gsize index;
  json_t *part;
  if (!question->sees) {
    g_autofree char *text = dialect_text (content, TRUE);
    append_text (blocks, text);
    return;
  }
  json_array_foreach (content, index, part)
  {
    if (strcmp (dialect_type (part), "text") == 0)
      append_text (blocks, json_member_text (part, "text"));
    else if (strcmp (dialect_type (part), "image") == 0)
      json_array_append_new (blocks, image_block (part));
  }
}

static void
dialect_messages_append_results (const struct dialect_question *question, json_t *blocks,
                                 const json_t *results)
{
  gsize index;
  json_t *result;
  json_array_foreach (results, index, result)
  {
    g_autofree char *id = dialect_id (result);
    json_t *said = json_array ();
    append_said (question, said, json_object_get (result, "content"));
    json_t *block = json_pack ("{s:s, s:s, s:o}", "type", "tool_result", "tool_use_id", id, "content", said);
    if (json_is_true (json_object_get (result, "is_error")))
      json_object_set_new (block, "is_error", json_true ());
    json_array_append_new (blocks, block);
  }
}

static json_t *
call_block (const json_t *call)
{
  g_autofree char *id = dialect_id (call), *name = dialect_name (call);
  return json_pack ("{s:s, s:s, s:s, s:o}", "type", "tool_use", "id", id, "name", name, "input",
                    dialect_arguments (call));
}

static void
dialect_messages_append_assistant (json_t *blocks, const json_t *content)
{
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    const json_t *opaque = dialect_opaque (part, DIALECT_MESSAGES);
    if (strcmp (dialect_type (part), "text") == 0)
      append_text (blocks, json_member_text (part, "text"));
    else if (strcmp (dialect_type (part), "call") == 0)
      json_array_append_new (blocks, call_block (part));
    else if (opaque)
      json_array_append_new (blocks, json_deep_copy (opaque));
  }
}

/* The blocks of the message that goes on: roles take turns, so what follows in the same one is the same
 * message, and the results of a turn come before what the user says then. */
static json_t *
blocks_of (json_t *messages, const char *role)
{
  json_t *last = json_array_get (messages, json_array_size (messages) - 1);
  if (last && strcmp (json_member_text (last, "role"), role) == 0)
    return json_object_get (last, "content");
  json_t *blocks = json_array ();
  json_array_append_new (messages, json_pack ("{s:s, s:o}", "role", role, "content", blocks));
  return blocks;
}

static json_t *
dialect_messages_of (const struct dialect_question *question)
{
  json_t *messages = json_array (), *message;
  gsize index;
  json_array_foreach (question->question->messages, index, message)
  {
    const char *role = json_member_text (message, "role");
    const json_t *content = json_object_get (message, "content");
    g_autoptr (json_t) blocks = json_array ();
    if (strcmp (role, "tool") == 0)
      dialect_messages_append_results (question, blocks, content);
    else if (strcmp (role, "user") == 0)
      append_said (question, blocks, content);
    else
      dialect_messages_append_assistant (blocks, content);
    /* A message without a block is refused there. */
    if (json_array_size (blocks) > 0)
      json_array_extend (blocks_of (messages, strcmp (role, "assistant") == 0 ? "assistant" : "user"),
                         blocks);
  }
  return messages;
}

/* What comes before BLOCK, and itself, need not be read again by the server. */
static void
dialect_messages_mark (const struct dialect_question *question, json_t *block)
{
  if (!(question->quirks & QUIRK_NO_CACHE))
    json_object_set_new (block, "cache_control", json_pack ("{s:s}", "type", "ephemeral"));
}

static void
set_system (const struct dialect_question *question, json_t *body)
{
  const char *instructions = question->question->instructions;
  json_t *blocks = json_array ();
  append_text (blocks, instructions ? instructions : "");
  if (json_array_size (blocks) > 0) {
    dialect_messages_mark (question, json_array_get (blocks, 0));
    json_object_set (body, "system", blocks);
  }
  json_decref (blocks);
}

static void
dialect_messages_set_tools (const struct dialect_question *question, json_t *body)
{
  const json_t *tools = question->question->tools;
  const char *tool = question->question->tool;
  if (json_array_size (tools) == 0)
    return;
  json_t *objects = json_array (), *each;
  gsize index;
  json_array_foreach (tools, index, each)
  {
    json_array_append_new (objects, json_pack ("{s:s, s:s, s:O}", "name", json_member_text (each, "name"),
                                               "description", json_member_text (each, "description"),
                                               "input_schema", json_object_get (each, "parameters")));
  }
  json_object_set_new (body, "tools", objects);
  if (!tool)
    return;
  json_t *choice = json_pack ("{s:s, s:b}", "type", tool[0] ? "tool" : "any", "disable_parallel_tool_use", 1);
  if (tool[0])
    json_object_set_new (choice, "name", json_string (tool));
  json_object_set_new (body, "tool_choice", choice);
}

static json_t *
messages_ask (const struct dialect_question *question, GError **error)
{
  if (!dialect_check (question, error))
    return NULL;
  guint64 tokens = question->output_tokens ? question->output_tokens : OUTPUT_TOKENS;
  json_t *messages = dialect_messages_of (question);
  json_t *body = json_pack ("{s:s, s:I}", "model", question->model, "max_tokens", (json_int_t)tokens);
  set_system (question, body);
  json_object_set_new (body, "messages", messages);
  const json_t *last = json_object_get (json_array_get (messages, json_array_size (messages) - 1), "content");
  dialect_messages_mark (question, json_array_get (last, json_array_size (last) - 1));
  dialect_messages_set_tools (question, body);
  json_object_set_new (body, "stream", json_boolean (question->stream));
  return body;
}

/* ---- the answer ---- */

/* A block of an answer, or the beginning of one. */
static void
dialect_messages_read_block (struct response_builder *builder, gint64 place, const json_t *block)
{
  const char *type = dialect_type (block);
  if (strcmp (type, "text") == 0) {
    response_builder_append (builder, response_builder_get (builder, RESPONSE_TEXT, place),
                             json_object_get (block, "text"));
  } else if (strcmp (type, "tool_use") == 0) {
    struct response_part *call = response_builder_get (builder, RESPONSE_CALL, place);
    if (!call)
      return;
    response_part_set_name (call, json_object_get (block, "id"), json_object_get (block, "name"));
    response_part_set_arguments (call, json_object_get (block, "input"));
  } else if (type[0]) {
    struct response_part *opaque = response_builder_add (builder, RESPONSE_OPAQUE, place);
    if (opaque)
      opaque->data = json_deep_copy (block);
  }
}

static gint64
dialect_messages_place_of (const json_t *data)
{
  return json_integer_value (json_object_get (data, "index"));
}

static void
on_block (struct response_builder *builder, const json_t *data)
{
  dialect_messages_read_block (builder, dialect_messages_place_of (data),
                               json_object_get (data, "content_block"));
}

static void
grow_opaque (struct response_builder *builder, const json_t *data, const char *member, const json_t *text)
{
  struct response_part *part =
      response_builder_find (builder, RESPONSE_OPAQUE, dialect_messages_place_of (data));
  if (!part)
    return;
  if (!part->member) {
    part->member = member;
    g_string_assign (part->text, json_member_text (part->data, member));
  }
  response_builder_append (builder, part, text);
}

static void
sign_opaque (const struct response_builder *builder, const json_t *data, const json_t *signature)
{
  struct response_part *part =
      response_builder_find (builder, RESPONSE_OPAQUE, dialect_messages_place_of (data));
  if (!part || !json_is_string (signature))
    return;
  if (!part->signature)
    part->signature = g_string_new (json_member_text (part->data, "signature"));
  g_string_append_len (part->signature, json_string_value (signature),
                       (gssize)json_string_length (signature));
}

static void
on_delta (struct response_builder *builder, const json_t *data)
{
  const json_t *delta = json_object_get (data, "delta");
  const char *type = dialect_type (delta);
  if (strcmp (type, "text_delta") == 0)
    response_builder_append (builder,
                             response_builder_get (builder, RESPONSE_TEXT, dialect_messages_place_of (data)),
                             json_object_get (delta, "text"));
  else if (strcmp (type, "input_json_delta") == 0)
    response_builder_append (builder,
                             response_builder_find (builder, RESPONSE_CALL, dialect_messages_place_of (data)),
                             json_object_get (delta, "partial_json"));
  else if (strcmp (type, "thinking_delta") == 0)
    grow_opaque (builder, data, "thinking", json_object_get (delta, "thinking"));
  else if (strcmp (type, "signature_delta") == 0)
    sign_opaque (builder, data, json_object_get (delta, "signature"));
}

static void
read_stop (struct response_builder *builder, const char *reason)
{
  static const struct {
    const char *reason;
    enum model_stop stop;
  } stops[] = {
      {"max_tokens", MODEL_STOP_LENGTH},
      {"model_context_window_exceeded", MODEL_STOP_LENGTH},
      {"refusal", MODEL_STOP_REFUSAL},
  };
  enum model_stop stop = MODEL_STOP_END;
  if (!reason)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (stops); i++)
    if (strcmp (reason, stops[i].reason) == 0)
      stop = stops[i].stop;
  response_builder_stop (builder, stop);
  builder->is_over = TRUE;
}

/* What is read from the cache and what is put there is not in input_tokens. The last of several says it best,
 * but not each has each. */
static void
dialect_messages_read_usage (struct response_builder *builder, const json_t *usage)
{
  gint64 input = -1, made = 0;
  dialect_count (usage, "output_tokens", &builder->usage.output_tokens);
  dialect_count (usage, "input_tokens", &input);
  if (input < 0)
    return;
  gint64 cached = 0;
  dialect_count (usage, "cache_read_input_tokens", &cached);
  dialect_count (usage, "cache_creation_input_tokens", &made);
  /* At the end some servers give 0 for what they gave at the beginning. */
  if (input == 0 && cached == 0 && made == 0 && builder->usage.input_tokens > 0)
    return;
  builder->usage.cached_tokens = cached;
  builder->usage.input_tokens =
      MIN (input, G_MAXINT64 / 4) + MIN (cached, G_MAXINT64 / 4) + MIN (made, G_MAXINT64 / 4);
}

static void
on_start (struct response_builder *builder, const json_t *data)
{
  dialect_messages_read_usage (builder, json_object_get (json_object_get (data, "message"), "usage"));
}

static void
on_message_delta (struct response_builder *builder, const json_t *data)
{
  read_stop (builder, json_string_value (json_object_get (json_object_get (data, "delta"), "stop_reason")));
  dialect_messages_read_usage (builder, json_object_get (data, "usage"));
}

static void
dialect_messages_on_end (struct response_builder *builder, const json_t *data)
{
  (void)data;
  builder->is_over = builder->is_done = TRUE;
}

static const struct dialect_reader message_events[] = {
    {"message_start", on_start},
    {"content_block_start", on_block},
    {"content_block_delta", on_delta},
    {"message_delta", on_message_delta},
    {"message_stop", dialect_messages_on_end},
};

static void
messages_event (struct response_builder *builder, const char *name, const json_t *data)
{
  dialect_read_event (message_events, G_N_ELEMENTS (message_events), builder, name, data);
}

static gboolean
messages_body (struct response_builder *builder, const json_t *body)
{
  const json_t *content = json_object_get (body, "content");
  gsize index;
  json_t *block;
  if (!json_is_array (content))
    return FALSE;
  json_array_foreach (content, index, block)
  {
    dialect_messages_read_block (builder, (gint64)index, block);
  }
  read_stop (builder, json_string_value (json_object_get (body, "stop_reason")));
  dialect_messages_read_usage (builder, json_object_get (body, "usage"));
  return TRUE;
}

static const char *const messages_headers[] = {"anthropic-version: 2023-06-01", NULL};

const struct dialect_class dialect_messages = {
    .title = "Anthropic Messages",
    .always_v1 = TRUE,
    .path = "/messages",
    .key_header = "x-api-key: ",
    .headers = messages_headers,
    .ask = messages_ask,
    .event = messages_event,
    .body = messages_body,
};
