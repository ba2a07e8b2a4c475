/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAI's Chat Completions, and everybody's who is compatible with it.
 *
 * Results are text alone there: their pictures follow in a user's message, after the last result of the turn.
 * Reasoning, under whichever name it comes, is opaque, and so is what some servers hang on calls ("calls", by
 * id). Both go back with the calls that they led to. */
#include <string.h>

#include "common/json.h"
#include "models/dialect.h"
#include "models/json_repair.h"

/* Where parts stand. Calls follow by index, and those that share one by arrival. */
#define PLACE_OPAQUE (-1)
#define PLACE_TEXT   0
#define PLACE_CALLS  1

/* In what is opaque: what servers hang on calls, by their ids. */
#define CALLS "calls"

/* The greatest index that a call may have. */
#define INDEX_MAX 1023

/* ---- the question ---- */

static json_t *
text_part (const char *text)
{
  return json_pack ("{s:s, s:s}", "type", "text", "text", text);
}

static json_t *
image_part (const json_t *image)
{
  return json_pack ("{s:s, s:{s:o}}", "type", "image_url", "image_url", "url", dialect_data_url (image));
}

static void
append_images (json_t *parts, const json_t *content)
{
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    if (strcmp (dialect_type (part), "image") == 0)
      json_array_append_new (parts, image_part (part));
  }
}

/* What a user says: plain text, where it is nothing else, since some servers know no parts. */
static json_t *
user_content (const struct dialect_question *question, const json_t *content)
{
  if (!question->sees || !dialect_has_image (content)) {
    g_autofree char *text = dialect_text (content, TRUE);
    return json_string (text);
  }
  json_t *parts = json_array ();
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    if (strcmp (dialect_type (part), "text") == 0)
      json_array_append_new (parts, text_part (json_member_text (part, "text")));
    else if (strcmp (dialect_type (part), "image") == 0)
      json_array_append_new (parts, image_part (part));
  }
  return parts;
}

/* Pictures of results that wait for a user's message. */
static void
dialect_chat_flush_pictures (json_t *messages, json_t **pictures)
{
  if (json_array_size (*pictures) == 0)
    return;
  json_array_insert_new (*pictures, 0, text_part ("These are the pictures of the results above."));
  json_array_append_new (messages, json_pack ("{s:s, s:o}", "role", "user", "content", *pictures));
  *pictures = json_array ();
}

/* Many templates of local models know no two messages of a user in a row. */
static void
dialect_chat_append_user (const struct dialect_question *question, json_t *messages, const json_t *content,
                          json_t **pictures)
{
  json_t *said = user_content (question, content);
  if (json_array_size (*pictures) == 0) {
    json_array_append_new (messages, json_pack ("{s:s, s:o}", "role", "user", "content", said));
    return;
  }
  dialect_chat_flush_pictures (messages, pictures);
  json_t *parts = json_object_get (json_array_get (messages, json_array_size (messages) - 1), "content");
  if (json_is_array (said))
    json_array_extend (parts, said);
  else
    json_array_append_new (parts, text_part (json_string_value (said)));
  json_decref (said);
}

static void
dialect_chat_append_results (const struct dialect_question *question, json_t *messages, const json_t *results,
                             json_t *pictures)
{
  gsize index;
  json_t *result;
  json_array_foreach (results, index, result)
  {
    const json_t *content = json_object_get (result, "content");
    g_autofree char *id = dialect_id (result), *text = dialect_text (content, !question->sees);
    if (question->sees)
      append_images (pictures, content);
    json_array_append_new (
        messages, json_pack ("{s:s, s:s, s:s}", "role", "tool", "tool_call_id", id, "content", text));
  }
}

static json_t *
call_object (const json_t *call, const json_t *extras)
{
  g_autofree char *id = dialect_id (call), *name = dialect_name (call);
  g_autoptr (json_t) arguments = dialect_arguments (call);
  g_autofree char *text = json_to_text (arguments);
  json_t *object = json_pack ("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function", "name",
                              name, "arguments", text);
  json_object_update (object, json_object_get (extras, json_member_text (call, "id")));
  return object;
}

static void
dialect_chat_append_assistant (json_t *messages, const json_t *message)
{
  const json_t *opaque = NULL, *content = json_object_get (message, "content");
  g_autofree char *text = message_all_text (message);
  json_t *calls = json_array ();
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part)
  {
    if (!opaque)
      opaque = dialect_opaque (part, DIALECT_CHAT);
    if (strcmp (dialect_type (part), "call") == 0)
      json_array_append_new (calls, call_object (part, json_object_get (opaque, CALLS)));
  }
  json_t *object = json_pack ("{s:s, s:s}", "role", "assistant", "content", text);
  if (json_array_size (calls) > 0) {
    if (text[0] == '\0')
      json_object_set_new (object, "content", json_null ());
    json_object_set (object, "tool_calls", calls);
    json_object_update_missing (object, (json_t *)opaque);
    json_object_del (object, CALLS);
  }
  json_decref (calls);
  json_array_append_new (messages, object);
}

static json_t *
dialect_chat_messages_of (const struct dialect_question *question)
{
  json_t *messages = json_array (), *pictures = json_array (), *message;
  const char *instructions = question->question->instructions;
  if (instructions && instructions[0])
    json_array_append_new (messages, json_pack ("{s:s, s:s}", "role", "system", "content", instructions));
  gsize index;
  json_array_foreach (question->question->messages, index, message)
  {
    const char *role = json_member_text (message, "role");
    const json_t *content = json_object_get (message, "content");
    if (strcmp (role, "tool") == 0) {
      dialect_chat_append_results (question, messages, content, pictures);
    } else if (strcmp (role, "user") == 0) {
      dialect_chat_append_user (question, messages, content, &pictures);
    } else {
      dialect_chat_flush_pictures (messages, &pictures);
      dialect_chat_append_assistant (messages, message);
    }
  }
  dialect_chat_flush_pictures (messages, &pictures);
  json_decref (pictures);
  return messages;
}

static json_t *
dialect_chat_tool_object (const struct dialect_question *question, const json_t *tool)
{
  json_t *parameters = json_object_get (tool, "parameters");
  json_t *function = json_pack ("{s:s, s:s, s:O}", "name", json_member_text (tool, "name"), "description",
                                json_member_text (tool, "description"), "parameters", parameters);
  if (dialect_is_strict (parameters) && !(question->quirks & QUIRK_NO_STRICT))
    json_object_set_new (function, "strict", json_true ());
  return json_pack ("{s:s, s:o}", "type", "function", "function", function);
}

/* One tool is forced by sending no other: llama.cpp takes the object that names one for "auto", and
 * "required" is understood by all. */
static void
dialect_chat_set_tools (const struct dialect_question *question, json_t *body)
{
  const json_t *tools = question->question->tools;
  const char *tool = question->question->tool;
  if (json_array_size (tools) == 0)
    return;
  json_t *objects = json_array (), *each;
  gsize index;
  json_array_foreach (tools, index, each)
  {
    if (!tool || tool[0] == '\0' || strcmp (json_member_text (each, "name"), tool) == 0)
      json_array_append_new (objects, dialect_chat_tool_object (question, each));
  }
  json_object_set_new (body, "tools", objects);
  if (tool)
    json_object_set_new (body, "tool_choice", json_string ("required"));
  /* Models of the one format call several tools without having seen what the first returned. */
  if (!(question->quirks & QUIRK_NO_PARALLEL))
    json_object_set_new (body, "parallel_tool_calls", json_false ());
}

static json_t *
chat_ask (const struct dialect_question *question, GError **error)
{
  if (!dialect_check (question, error))
    return NULL;
  json_t *body =
      json_pack ("{s:s, s:o}", "model", question->model, "messages", dialect_chat_messages_of (question));
  dialect_chat_set_tools (question, body);
  if (question->output_tokens > 0)
    json_object_set_new (body,
                         question->quirks & QUIRK_MAX_COMPLETION ? "max_completion_tokens" : "max_tokens",
                         json_integer ((json_int_t)question->output_tokens));
  json_object_set_new (body, "stream", json_boolean (question->stream));
  if (question->stream && !(question->quirks & QUIRK_NO_USAGE))
    json_object_set_new (body, "stream_options", json_pack ("{s:b}", "include_usage", 1));
  return body;
}

/* ---- the answer ---- */

/* What is gathered of reasoning, and under which name: part by part where it is text. */
static void
read_reasoning (struct response_builder *builder, const json_t *delta)
{
  static const char *const names[] = {"reasoning_content", "reasoning"};
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    const json_t *text = json_object_get (delta, names[i]);
    if (json_string_length (text) == 0)
      continue;
    struct response_part *part = response_builder_get (builder, RESPONSE_OPAQUE, PLACE_OPAQUE);
    if (part && !part->member)
      part->member = names[i];
    /* Servers that send it under both names send the same. */
    if (part && part->member == names[i])
      response_builder_append (builder, part, text);
  }
  const json_t *details = json_object_get (delta, "reasoning_details");
  struct response_part *part =
      json_array_size (details) > 0 ? response_builder_get (builder, RESPONSE_OPAQUE, PLACE_OPAQUE) : NULL;
  if (!part)
    return;
  if (!part->data)
    part->data = json_pack ("{s:[]}", "reasoning_details");
  json_array_extend (json_object_get (part->data, "reasoning_details"), (json_t *)details);
}

static void
read_content (struct response_builder *builder, const json_t *content)
{
  gsize index;
  json_t *part;
  if (json_string_length (content) > 0)
    response_builder_append (builder, response_builder_get (builder, RESPONSE_TEXT, PLACE_TEXT), content);
  json_array_foreach (content, index, part)
  {
    if (json_is_string (json_object_get (part, "text")))
      response_builder_append (builder, response_builder_get (builder, RESPONSE_TEXT, PLACE_TEXT),
                               json_object_get (part, "text"));
  }
}

/* The part that the fragment CALL, the POSITION-th of its event, belongs to. Servers leave out the index, or
 * send whole calls that all have the first: another id and another name are another call. */
static struct response_part *
find_call (struct response_builder *builder, const json_t *call, gsize position)
{
  const json_t *index = json_object_get (call, "index"), *id = json_object_get (call, "id");
  gint64 at = json_is_integer (index) ? CLAMP (json_integer_value (index), 0, INDEX_MAX) : (gint64)position;
  struct response_part *part = response_builder_find (builder, RESPONSE_CALL, PLACE_CALLS + at);
  gboolean is_other = part && part->id && json_string_length (id) > 0 &&
                      strcmp (part->id, json_string_value (id)) != 0 &&
                      json_string_length (json_object_get (json_object_get (call, "function"), "name")) > 0;
  return part && !is_other ? part : response_builder_add (builder, RESPONSE_CALL, PLACE_CALLS + at);
}

/* What a server hangs on a call beyond what everybody does, such as a signature of its reasoning. */
static void
read_extra (struct response_builder *builder, const struct response_part *call, const json_t *extra)
{
  struct response_part *part =
      extra && call->id ? response_builder_get (builder, RESPONSE_OPAQUE, PLACE_OPAQUE) : NULL;
  if (!part)
    return;
  if (!part->data)
    part->data = json_object ();
  json_t *calls = json_object_get (part->data, CALLS);
  if (!calls) {
    calls = json_object ();
    json_object_set_new (part->data, CALLS, calls);
  }
  json_object_set_new (calls, call->id, json_pack ("{s:O}", "extra_content", extra));
}

static void
read_call (struct response_builder *builder, const json_t *call, gsize position)
{
  struct response_part *part = find_call (builder, call, position);
  const json_t *function = json_object_get (call, "function");
  const json_t *arguments = json_object_get (function, "arguments");
  if (!part)
    return;
  response_part_set_name (part, json_object_get (call, "id"), json_object_get (function, "name"));
  if (json_is_object (arguments))
    response_part_set_arguments (part, arguments);
  else
    response_builder_append (builder, part, arguments);
  read_extra (builder, part, json_object_get (call, "extra_content"));
}

static void
read_calls (struct response_builder *builder, const json_t *delta)
{
  gsize index;
  json_t *call;
  json_array_foreach (json_object_get (delta, "tool_calls"), index, call)
  {
    read_call (builder, call, index);
  }
}

static void
read_message (struct response_builder *builder, const json_t *delta)
{
  const json_t *refusal = json_object_get (delta, "refusal");
  read_reasoning (builder, delta);
  read_content (builder, json_object_get (delta, "content"));
  read_calls (builder, delta);
  if (json_string_length (refusal) > 0) {
    read_content (builder, refusal);
    response_builder_stop (builder, MODEL_STOP_REFUSAL);
  }
}

static void
read_finish (struct response_builder *builder, const char *reason)
{
  static const struct {
    const char *reason;
    enum model_stop stop;
  } stops[] = {
      {"length", MODEL_STOP_LENGTH},
      {"max_tokens", MODEL_STOP_LENGTH},
      {"content_filter", MODEL_STOP_REFUSAL},
  };
  enum model_stop stop = builder->has_stop ? builder->stop : MODEL_STOP_END;
  for (gsize i = 0; i < G_N_ELEMENTS (stops); i++)
    if (strcmp (reason, stops[i].reason) == 0)
      stop = stops[i].stop;
  response_builder_stop (builder, stop);
  builder->is_over = TRUE;
}

static void
dialect_chat_read_usage (struct response_builder *builder, const json_t *usage)
{
  struct model_usage *counts = &builder->usage;
  dialect_count (usage, "prompt_tokens", &counts->input_tokens);
  dialect_count (usage, "completion_tokens", &counts->output_tokens);
  dialect_count (usage, "prompt_cache_hit_tokens", &counts->cached_tokens);
  dialect_count (json_object_get (usage, "prompt_tokens_details"), "cached_tokens", &counts->cached_tokens);
}

/* Events and whole answers have one shape, but for the name of what is said. */
static gboolean
dialect_chat_read_answer (struct response_builder *builder, const json_t *data)
{
  const json_t *choice = json_array_get (json_object_get (data, "choices"), 0);
  const json_t *delta = json_object_get (choice, "delta");
  const char *reason = json_string_value (json_object_get (choice, "finish_reason"));
  const json_t *message = delta ? delta : json_object_get (choice, "message");
  read_message (builder, message);
  if (reason && reason[0])
    read_finish (builder, reason);
  dialect_chat_read_usage (builder, json_object_get (data, "usage"));
  return message != NULL;
}

static void
chat_event (struct response_builder *builder, const char *name, const json_t *data)
{
  (void)name;
  (void)dialect_chat_read_answer (builder, data);
}

static gboolean
chat_body (struct response_builder *builder, const json_t *body)
{
  return dialect_chat_read_answer (builder, body);
}

static const char *const no_headers[] = {NULL};

const struct dialect_class dialect_chat = {
    .title = "OpenAI Chat Completions",
    .path = "/chat/completions",
    .key_header = "Authorization: Bearer ",
    .headers = no_headers,
    .ask = chat_ask,
    .event = chat_event,
    .body = chat_body,
};
