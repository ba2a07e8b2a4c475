/* SPDX-License-Identifier: Apache-2.0 */
/* From the body of CALL to the tool table and back. */
#include "frontends/server_tools.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "frontends/submission.h"

json_t *
server_tools_question (const char *tool, const char *toolset, json_t *arguments,
                       const struct tool_caller *caller)
{
  json_t *question = json_pack ("{s:s, s:s*, s:o, s:s*, s:s*, s:b}", "tool", tool, "toolset", toolset,
                                "arguments", arguments, "conversation", caller->conversation, "role",
                                caller->role, "read_only", caller->read_only);
  if (question && caller->approval)
    json_object_set_new (question, "approval", json_text_or_null (caller->approval));
  if (question && caller->accept_all)
    json_object_set_new (question, "accept_all", json_true ());
  if (question && caller->directory) {
    json_object_set_new (question, "directory", json_string (caller->directory));
    json_object_set (question, "variables", (json_t *)(guintptr)caller->variables);
    if (caller->python)
      json_object_set_new (question, "python", json_text_or_null (caller->python));
  }
  return question;
}

/* ---- fields ---- */

static gboolean
is_texts (const json_t *value)
{
  const char *name;
  json_t *item;
  json_object_foreach ((json_t *)(guintptr)value, name, item)
  {
    if (!json_is_string (item))
      return FALSE;
  }
  return json_is_object (value);
}

enum kind { KIND_TEXT, KIND_BOOLEAN, KIND_OBJECT, KIND_TEXTS };
static const char *const kind_words[] = {"text", "true or false", "an object", "an object of texts"};

static const struct {
  const char *name;
  enum kind kind;
} fields[] = {
    {"tool", KIND_TEXT},          {"toolset", KIND_TEXT},     {"arguments", KIND_OBJECT},
    {"conversation", KIND_TEXT},  {"role", KIND_TEXT},        {"read_only", KIND_BOOLEAN},
    {"directory", KIND_TEXT},     {"variables", KIND_TEXTS},  {"approval", KIND_TEXT},
    {"accept_all", KIND_BOOLEAN}, {"progress", KIND_BOOLEAN}, {"python", KIND_TEXT},
};

static gboolean
is_kind (const json_t *value, enum kind kind)
{
  switch (kind) {
  case KIND_TEXT:
    return json_is_string (value);
  case KIND_BOOLEAN:
    return json_is_boolean (value);
  case KIND_OBJECT:
    return json_is_object (value);
  case KIND_TEXTS:
  default:
    return is_texts (value);
  }
}

static gboolean
check_field (const char *name, const json_t *value, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    if (strcmp (fields[i].name, name) == 0)
      return is_kind (value, fields[i].kind) ||
             submission_wrong_type (name, kind_words[fields[i].kind], error);
  g_autofree char *shown = text_one_line (name, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the request has the unknown field \"%s\"", shown);
  return FALSE;
}

static gboolean
check_question (const json_t *question, const struct tool_caller *caller, GError **error)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)question, name, value)
  {
    if (!check_field (name, value, error))
      return FALSE;
  }
  if (!json_object_get (question, "tool"))
    return submission_wrong_type ("tool", "text", error);
  if ((json_object_get (question, "directory") != NULL) == (caller->directory_fd >= 0))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "a directory and its descriptor come together or not at all");
  return FALSE;
}

/* ---- the call ---- */

static const char *
text_of (const json_t *question, const char *name)
{
  return json_string_value (json_object_get (question, name));
}

json_t *
server_tools_call (struct tools *tools, const struct tool_caller *caller, const json_t *question,
                   GError **error)
{
  if (!check_question (question, caller, error))
    return NULL;
  struct tool_caller asking = *caller;
  asking.conversation = text_of (question, "conversation");
  asking.role = text_of (question, "role");
  asking.read_only = json_is_true (json_object_get (question, "read_only"));
  asking.approval = text_of (question, "approval");
  asking.accept_all = json_is_true (json_object_get (question, "accept_all"));
  asking.directory = text_of (question, "directory");
  asking.variables = json_object_get (question, "variables");
  asking.python = text_of (question, "python");
  if (!json_is_true (json_object_get (question, "progress")))
    asking.progressed = NULL;
  g_autoptr (json_t) none = json_object ();
  const json_t *arguments = json_object_get (question, "arguments");
  struct tool_reply reply;
  tools_call (tools, text_of (question, "toolset"), text_of (question, "tool"), arguments ? arguments : none,
              &asking, &reply);
  return json_pack ("{s:o, s:i, s:b}", "reply", reply.value, "exit_code", reply.exit_code, "fault",
                    reply.is_fault);
}
