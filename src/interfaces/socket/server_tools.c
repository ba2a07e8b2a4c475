/* SPDX-License-Identifier: Apache-2.0 */
/* From the body of CALL to the tool table and back. */
#include "interfaces/socket/server_tools.h"

#include "common/field_rows.h"
#include "common/json.h"

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

static const struct field fields[] = {
    MUST_TEXT ("tool"),
    MAY_TEXT ("toolset"),
    {.name = "arguments", .types = FIELD_OBJECT, .optional = TRUE, .standard = "{}"},
    MAY_TEXT ("conversation"),
    MAY_TEXT ("role"),
    MAY_FLAG ("read_only"),
    MAY_TEXT ("directory"),
    {.name = "variables", .types = FIELD_OBJECT, .items = FIELD_TEXT, .optional = TRUE},
    MAY_TEXT ("approval"),
    MAY_FLAG ("accept_all"),
    MAY_FLAG ("progress"),
    MAY_TEXT ("python"),
    {0},
};

gboolean
server_tools_has_directory (const json_t *question, int directory_fd, GError **error)
{
  if (json_is_string (json_object_get (question, "directory")) == (directory_fd >= 0))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "a directory and its descriptor come together or not at all");
  return FALSE;
}

/* ---- the call ---- */

static const char *
server_tools_text_of (const json_t *question, const char *name)
{
  return json_string_value (json_object_get (question, name));
}

static json_t *
call (struct tools *tools, const struct tool_caller *caller, const json_t *question)
{
  struct tool_caller asking = *caller;
  asking.conversation = server_tools_text_of (question, "conversation");
  asking.role = server_tools_text_of (question, "role");
  asking.read_only = json_is_true (json_object_get (question, "read_only"));
  asking.approval = server_tools_text_of (question, "approval");
  asking.accept_all = json_is_true (json_object_get (question, "accept_all"));
  asking.directory = server_tools_text_of (question, "directory");
  const json_t *variables = json_object_get (question, "variables");
  asking.variables = json_is_object (variables) ? variables : NULL;
  asking.python = server_tools_text_of (question, "python");
  if (!json_is_true (json_object_get (question, "progress")))
    asking.progressed = NULL;
  struct tool_reply reply;
  tools_call (tools, server_tools_text_of (question, "toolset"), server_tools_text_of (question, "tool"),
              json_object_get (question, "arguments"), &asking, &reply);
  return json_pack ("{s:o, s:i, s:b}", "reply", reply.value, "exit_code", reply.exit_code, "fault",
                    reply.is_fault);
}

json_t *
server_tools_call (struct tools *tools, const struct tool_caller *caller, const json_t *question,
                   GError **error)
{
  g_autoptr (json_t) checked = field_check (fields, "the request", question, error);
  return checked && server_tools_has_directory (checked, caller->directory_fd, error)
             ? call (tools, caller, checked)
             : NULL;
}
