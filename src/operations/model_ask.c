/* SPDX-License-Identifier: Apache-2.0 */
/* One question to the daemon's own model ([models] for_tools), for a page or a program that runs the loop of
 * tools itself. The daemon's operator pays, so each owner's questions are counted, together with those of the
 * analyst's tools. */
#include "operations/model_ask.h"

#include <string.h>

#include "common/field_rows.h"
#include "common/hang_up.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "library/library.h"
#include "models/model.h"
#include "operations/operation.h"
#include "policy/rates.h"

#define QUESTION_LEVELS 64

/* ---- what is asked ---- */

static gboolean
question_is_wrong (GError **error, gsize number, const char *what)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "messages: number %" G_GSIZE_FORMAT " %s", number + 1,
               what);
  return FALSE;
}

/* The parts of a message, by who may have them; members as models/message.h has them. */
static const struct part {
  const char *type, *roles;
  struct {
    const char *name;
    guint types;
  } members[4];
} parts[] = {
    {"text", "user assistant tool result", {{"text", FIELD_TEXT}}},
    {"image", "user result", {{"mime", FIELD_TEXT}, {"data", FIELD_TEXT}}},
    {"call",
     "assistant",
     {{"id", FIELD_TEXT}, {"name", FIELD_TEXT}, {"arguments", FIELD_OBJECT | FIELD_NULL}}},
    {"result",
     "tool",
     {{"id", FIELD_TEXT}, {"name", FIELD_TEXT}, {"content", FIELD_LIST}, {"is_error", FIELD_BOOLEAN}}},
    {"opaque", "assistant", {{"dialect", FIELD_TEXT}, {"data", FIELD_ANY}}},
};

static const struct part *
part_find (const json_t *value, const char *role)
{
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strcmp (json_member_text (value, "type"), parts[i].type) == 0)
      return strstr (parts[i].roles, role) ? &parts[i] : NULL;
  return NULL;
}

/* Whether the members of VALUE, a part, are as models/ relies on. */
static gboolean
part_is_well (const json_t *value, const char *role)
{
  const struct part *part = json_is_object (value) ? part_find (value, role) : NULL;
  for (gsize i = 0; part && i < G_N_ELEMENTS (part->members) && part->members[i].name; i++) {
    const json_t *member = json_object_get (value, part->members[i].name);
    if (!member || !field_has_type (member, part->members[i].types))
      return FALSE;
  }
  /* What a model wrote instead of arguments. */
  const json_t *raw = json_object_get (value, "raw");
  return part && (!raw || json_is_null (raw) || json_is_string (raw));
}

/* Also those of a result. */
static gboolean
parts_are_well (const json_t *list, const char *role)
{
  gsize index;
  json_t *part;
  if (json_array_size (list) > MODEL_ASK_PARTS)
    return FALSE;
  json_array_foreach (list, index, part)
  {
    if (!part_is_well (part, role))
      return FALSE;
    json_t *inner = strcmp (role, "tool") == 0 ? json_object_get (part, "content") : NULL;
    if (inner && !parts_are_well (inner, "result"))
      return FALSE;
  }
  return TRUE;
}

static gboolean
question_check_messages (const json_t *messages, GError **error)
{
  gsize index;
  json_t *message;
  json_array_foreach (messages, index, message)
  {
    if (!parts_are_well (json_object_get (message, "content"), json_member_text (message, "role")))
      return question_is_wrong (error, index,
                                "has a part that its role may not have, or that lacks a member of its type");
  }
  const json_t *last = json_array_get (messages, json_array_size (messages) - 1);
  if (strcmp (json_member_text (last, "role"), "assistant") == 0)
    return question_is_wrong (error, json_array_size (messages) - 1,
                              "is the model's: the last is a user's or a tool's");
  return TRUE;
}

static gboolean
question_check_size (const json_t *params, GError **error)
{
  if (!json_is_flat (params, QUESTION_LEVELS)) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the question is nested too deeply");
    return FALSE;
  }
  if (json_dumpb (params, NULL, 0, JSON_COMPACT) <= MODEL_ASK_BYTES)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "the question is longer than %d bytes: leave out early messages or pictures", MODEL_ASK_BYTES);
  return FALSE;
}

/* ---- whom ---- */

/* The name of the model that PARAMS may ask, the configuration's; NULL with ERROR. */
static const char *
question_model (const struct config *config, const char *named, GError **error)
{
  const char *name = config->models_for_tools;
  if (!name)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                         "no model answers here ([models] for_tools of adder.conf names none)");
  else if (strcmp (named, "default") != 0 && strcmp (named, name) != 0) {
    g_autofree char *shown = text_one_line (named, 80);
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
        "the model \"%s\" does not answer here: ask \"default\", which [models] for_tools of adder.conf "
        "names",
        shown);
    name = NULL;
  }
  return name;
}

static gboolean
question_enter (AdderEngine *engine, const char *key, GError **error)
{
  guint again_s = 0;
  const struct config *config = engine->engine->host->config;
  enum rates_answer answer = rates_enter (engine->questions, key, config->models_rate,
                                          config->models_concurrent, g_get_monotonic_time (), &again_s);
  if (answer == RATES_YES)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY, "%s of adder.conf); again in %u s",
               answer == RATES_TOO_MANY
                   ? "too many questions of yours to the model are under way ([models] concurrent"
                   : "you have asked the model as often as you may ([models] rate",
               again_s);
  return FALSE;
}

/* ---- asking ---- */

/* An error of models as one of Adder's. Takes PROBLEM. */
static void
question_propagate (GError **error, GError *problem)
{
  static const int codes[] = {
      [MODEL_ERROR_INVALID] = ADDER_ERROR_INVALID,
      [MODEL_ERROR_KEY] = ADDER_ERROR_UNAVAILABLE,
      [MODEL_ERROR_UNKNOWN] = ADDER_ERROR_UNAVAILABLE,
      [MODEL_ERROR_CONTEXT] = ADDER_ERROR_INVALID,
      [MODEL_ERROR_RATE] = ADDER_ERROR_BUSY,
      [MODEL_ERROR_UNAVAILABLE] = ADDER_ERROR_UNAVAILABLE,
      [MODEL_ERROR_TIMEOUT] = ADDER_ERROR_TIMEOUT,
      [MODEL_ERROR_CANCELLED] = ADDER_ERROR_CANCELLED,
      [MODEL_ERROR_CUT] = ADDER_ERROR_UNAVAILABLE,
      [MODEL_ERROR_MALFORMED] = ADDER_ERROR_UNAVAILABLE,
      [MODEL_ERROR_MISMATCH] = ADDER_ERROR_UNAVAILABLE,
  };
  gboolean known = problem->domain == MODEL_ERROR && (gsize)problem->code < G_N_ELEMENTS (codes);
  g_set_error_literal (error, ADDER_ERROR, known ? codes[problem->code] : ADDER_ERROR_FAILED,
                       problem->message);
  g_error_free (problem);
}

/* What is wrong with the operator's settings is the operator's to know. */
static struct model *
question_open (const char *name, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct model *model = model_open (name, &problem);
  if (model)
    return model;
  log_warning ("the model of [models] for_tools cannot be asked: %s", problem->message);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE,
                       "the model of [models] for_tools cannot be asked; the daemon's log says why");
  return NULL;
}

/* The answer's text as it comes; TEXT NULL: what came is void, and it begins from nothing. */
static void
question_saw (gpointer data, const char *text, gsize length)
{
  const struct operation_caller *caller = data;
  if (text)
    caller->told (caller->told_data, "text", json_pack ("{s:s%}", "text", text, length));
  else
    caller->told (caller->told_data, "again", json_object ());
}

static json_t *
question_ask (const char *name, const struct operation_call *call, GError **error)
{
  GError *problem = NULL;
  struct model_answer answer = {0};
  struct hang_up *watch = hang_up_new (call->caller->watch_fd);
  const struct model_question question = {
      .instructions = operation_text (call, "instructions"),
      .messages = json_object_get (call->params, "messages"),
      .tools = json_array_size (json_object_get (call->params, "tools")) > 0
                   ? json_object_get (call->params, "tools")
                   : NULL,
      .output_tokens = operation_number (call, "output_tokens"),
      .cancel_fd = hang_up_fd (watch),
      .saw = call->caller->told ? question_saw : NULL,
      .saw_data = (gpointer)call->caller,
  };
  struct model *model = question_open (name, error);
  gboolean ok = model && model_ask (model, &question, &answer, &problem);
  model_free (model);
  hang_up_free (watch);
  if (problem)
    question_propagate (error, problem);
  if (!ok)
    return NULL;
  json_t *value = json_pack ("{s:O, s:s, s:o, s:i, s:I}", "message", answer.message, "stop",
                             model_stop_names[answer.stop], "usage", model_usage_json (&answer.usage),
                             "attempts", (int)answer.attempts, "took_ms", (json_int_t)answer.took_ms);
  model_answer_clear (&answer);
  return value;
}

json_t *
model_ask_run (const struct operation_call *call, GError **error)
{
  AdderEngine *engine = call->caller->engine;
  const char *key = call->caller->owner ? call->caller->owner : "";
  const char *name = question_model (engine->engine->host->config, operation_text (call, "model"), error);
  if (!name || !question_check_size (call->params, error) ||
      !question_check_messages (json_object_get (call->params, "messages"), error) ||
      !question_enter (engine, key, error))
    return NULL;
  json_t *value = question_ask (name, call, error);
  rates_leave (engine->questions, key);
  return value;
}

/* ---- the fields ---- */

static const char *const message_roles[] = {"user", "assistant", "tool", NULL};
static const struct field asked_message_fields[] = {
    {.name = "role", .types = FIELD_TEXT, .words = message_roles, .text = "Whose it is."},
    {.name = "content",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .minimum = 0,
     .maximum = MODEL_ASK_PARTS,
     .text =
         "Its parts: {\"type\": \"text\", \"text\"}; of a user, or in a result, {\"type\": \"image\", "
         "\"mime\", \"data\"}; of the model {\"type\": \"call\", \"id\", \"name\", \"arguments\"} and "
         "{\"type\": \"opaque\", \"dialect\", \"data\"}, as it gave them; of a tool {\"type\": \"result\", "
         "\"id\", \"name\", \"content\": [text and image parts], \"is_error\"}."},
    FIELD_END ("ModelMessage"),
};
static const struct field asked_tool_fields[] = {
    {.name = "name",
     .types = FIELD_TEXT,
     .pattern = "^[A-Za-z0-9_.-]{1,64}$",
     .pattern_words = "a tool's name",
     .text = "Its name."},
    {.name = "description", .types = FIELD_TEXT, .maximum = 100000, .text = "What it does."},
    {.name = "parameters",
     .types = FIELD_OBJECT,
     .items = FIELD_ANY,
     .text = "JSON Schema of its arguments."},
    FIELD_END ("ModelTool"),
};
const struct field model_ask_params[] = {
    {.name = "model",
     .types = FIELD_TEXT,
     .minimum = 1,
     .maximum = 4096,
     .text = "\"default\", or the name in `[models] for_tools`."},
    {.name = "messages",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = asked_message_fields,
     .minimum = 1,
     .maximum = MODEL_ASK_MESSAGES,
     .text = "The conversation so far, at most 4 MiB; the last message is a user's or a tool's."},
    ASK_TEXT ("instructions", 100000, "The system prompt."),
    {.name = "tools",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = asked_tool_fields,
     .optional = TRUE,
     .maximum = MODEL_ASK_TOOLS,
     .text = "The tools that it may call, which the caller then does."},
    {.name = "output_tokens",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "0",
     .maximum = 1000000,
     .text = "The most that it may write; 0: as set for the model."},
    {0},
};

static const struct field usage_fields[] = {
    WHOLE_0 ("input_tokens", "What it read."),
    WHOLE_0 ("cached_tokens", "Of these, from its cache."),
    WHOLE_0 ("output_tokens", "What it wrote."),
    REAL_0 ("cost", "In the currency of the model's prices."),
    FIELD_END ("ModelUsage"),
};
static const struct field answered_message_fields[] = {
    TEXT ("role", "assistant."),
    {.name = "content",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .text = "Its parts: text, call and opaque. It is to be the next of `messages`, as it is."},
    FIELD_END ("ModelReply"),
};
static const struct field model_answer_fields[] = {
    PART ("message", answered_message_fields, "What it says."),
    TEXT ("stop", "end, calls (it waits for results), length or refusal."),
    PART ("usage", usage_fields, "Null where it is not known."),
    WHOLE ("attempts", "That it took."),
    WHOLE ("took_ms", "How long that was."),
    FIELD_END ("ModelAnswer"),
};
const struct field *const model_ask_replies[] = {model_answer_fields, NULL};
