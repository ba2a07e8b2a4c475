/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/steps.h"

#include <string.h>

#include "adder.h"
#include "apps/agent/prompts.h"
#include "common/json.h"
#include "common/text.h"

#define SHOWN_BYTES 200

/* ---- the tool ---- */

/* One of the functions. A list of one name, since not every API that holds models to schemas knows "const".
 */
static json_t *
choice (const json_t *tool)
{
  return json_pack ("{s:s, s:O, s:{s:{s:s, s:[O]}, s:O}, s:[s, s], s:b}", "type", "object", "description",
                    json_object_get (tool, "description"), "properties", "name", "type", "string", "enum",
                    json_object_get (tool, "name"), "arguments", json_object_get (tool, "parameters"),
                    "required", "name", "arguments", "additionalProperties", 0);
}

json_t *
steps_tools (const json_t *tools)
{
  json_t *choices = json_array ();
  gsize index;
  json_t *tool;
  json_array_foreach ((json_t *)(guintptr)tools, index, tool) json_array_append_new (choices, choice (tool));
  json_t *schema =
      json_pack ("{s:s, s:{s:{s:s, s:s}, s:{s:o, s:s}}, s:[s, s], s:b}", "type", "object", "properties",
                 "current_state", "type", "string", "description", prompt_text (PROMPT_STATE), "function",
                 "anyOf", choices, "description", prompt_text (PROMPT_FUNCTION), "required", "current_state",
                 "function", "additionalProperties", 0);
  return json_pack ("[{s:s, s:s, s:o}]", "name", STEPS_TOOL, "description", prompt_text (PROMPT_NEXT_STEP),
                    "parameters", schema);
}

/* ---- what a model made of it ---- */

static gboolean steps_refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
steps_refuse (GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, text);
  return FALSE;
}

static gboolean
steps_check_arguments (const json_t *call, GError **error)
{
  if (json_is_object (json_object_get (call, "arguments")))
    return TRUE;
  g_autofree char *raw = text_one_line (json_member_text (call, "raw"), SHOWN_BYTES);
  return steps_refuse (error, "the arguments of the call are not one JSON object: %s", raw);
}

static gboolean
steps_check_members (const json_t *object, const char *what, const char *first, const char *second,
                     GError **error)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)object, name, value)
  {
    if (strcmp (name, first) != 0 && strcmp (name, second) != 0) {
      g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
      return steps_refuse (error, "%s has %s and %s and nothing else, and no \"%s\"", what, first, second,
                           shown);
    }
  }
  return TRUE;
}

static gboolean
read_typed (struct step *step, GError **error)
{
  const json_t *arguments = json_object_get (step->call, "arguments");
  const json_t *function = json_object_get (arguments, "function");
  const char *called = json_member_text (step->call, "name");
  if (strcmp (called, STEPS_TOOL) != 0) {
    g_autofree char *shown = text_one_line (called, SHOWN_BYTES);
    return steps_refuse (
        error, "there is no tool \"%s\" to call: call " STEPS_TOOL ", and name the function in it", shown);
  }
  step->state = json_string_value (json_object_get (arguments, "current_state"));
  step->name = json_string_value (json_object_get (function, "name"));
  step->arguments = json_object_get (function, "arguments");
  if (!json_is_object (step->arguments))
    step->arguments = NULL;
  if (!steps_check_arguments (step->call, error) ||
      !steps_check_members (arguments, "a step", "current_state", "function", error))
    return FALSE;
  if (!step->state)
    return steps_refuse (error, "current_state has to be a text");
  if (!json_is_object (function))
    return steps_refuse (error, "function has to be one object with name and arguments");
  if (!step->name)
    return steps_refuse (error, "function.name has to be the name of one function");
  if (!step->arguments)
    return steps_refuse (error, "function.arguments has to be an object");
  return steps_check_members (function, "function", "name", "arguments", error);
}

gboolean
steps_read (const json_t *call, gboolean typed, struct step *ret_step, GError **error)
{
  *ret_step = (struct step){.call = call};
  if (typed)
    return read_typed (ret_step, error);
  ret_step->name = json_string_value (json_object_get (call, "name"));
  if (!steps_check_arguments (call, error))
    return FALSE;
  ret_step->arguments = json_object_get (call, "arguments");
  return ret_step->name || steps_refuse (error, "the call names no tool");
}
