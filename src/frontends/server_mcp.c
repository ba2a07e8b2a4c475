/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks MCP on the local socket: from the body of MCP to a caller. */
#include "frontends/server_mcp.h"

#include "base/fd.h"
#include "tools/arguments.h"

static const struct field fields[] = {
    {.name = "toolset", .types = FIELD_TEXT, .optional = TRUE},
    {.name = "role", .types = FIELD_TEXT, .optional = TRUE},
    {.name = "read_only", .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "false"},
    {.name = "conversation", .types = FIELD_TEXT, .optional = TRUE, .maximum = TOOL_CONVERSATION_MOST},
    {.name = "directory", .types = FIELD_TEXT, .optional = TRUE},
    {.name = "variables", .types = FIELD_OBJECT, .items = FIELD_TEXT, .optional = TRUE},
    {.name = "python", .types = FIELD_TEXT, .optional = TRUE},
    {0},
};

static const char *
text_of (const json_t *question, const char *name)
{
  return json_string_value (json_object_get (question, name));
}

static gboolean
check (const json_t *question, int directory_fd, GError **error)
{
  if ((text_of (question, "directory") != NULL) == (directory_fd >= 0))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "a directory and its descriptor come together or not at all");
  return FALSE;
}

static gboolean
set_principal (struct mcp_caller *caller, const json_t *question, GError **error)
{
  struct principal *principal = caller->principal;
  const char *role = text_of (question, "role"), *toolset = text_of (question, "toolset");
  principal->read_only = json_is_true (json_object_get (question, "read_only"));
  /* Whoever is at the local socket is the user himself, or what he started. */
  principal->may_decide = TRUE;
  caller->toolset = g_strdup (toolset);
  return (!toolset || toolset_find (toolset, error)) && (!role || role_parse (role, &principal->role, error));
}

struct mcp_caller *
server_mcp_caller (const struct config *config, const char *owner, const json_t *question, int *directory_fd,
                   GError **error)
{
  json_t *checked = arguments_check_fields (fields, "the request", question, error);
  struct mcp_caller *caller = NULL;
  if (checked && check (checked, *directory_fd, error)) {
    caller = mcp_caller_new (principal_new (config, owner), "mcp");
    caller->directory_fd = fd_steal (directory_fd);
    caller->directory = g_strdup (text_of (checked, "directory"));
    caller->python = g_strdup (text_of (checked, "python"));
    caller->conversation = g_strdup (text_of (checked, "conversation"));
    json_t *variables = json_object_get (checked, "variables");
    caller->variables = json_is_object (variables) ? json_incref (variables) : NULL;
    if (!set_principal (caller, checked, error))
      g_clear_pointer (&caller, mcp_caller_unref);
  }
  json_decref (checked);
  return caller;
}
