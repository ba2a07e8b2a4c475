/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks MCP on the local socket: from the body of MCP to a caller. */
#include "interfaces/socket/server_mcp.h"

#include "base/fd.h"
#include "common/field_rows.h"
#include "interfaces/socket/server_tools.h"

static const struct field fields[] = {
    MAY_TEXT ("toolset"),
    MAY_TEXT ("role"),
    MAY_FLAG ("read_only"),
    {.name = "conversation", .types = FIELD_TEXT, .optional = TRUE, .maximum = ADDER_CONVERSATION_BYTES},
    MAY_TEXT ("directory"),
    {.name = "variables", .types = FIELD_OBJECT, .items = FIELD_TEXT, .optional = TRUE},
    MAY_TEXT ("python"),
    {0},
};

static const char *
server_mcp_text_of (const json_t *question, const char *name)
{
  return json_string_value (json_object_get (question, name));
}

static gboolean
set_principal (struct mcp_caller *caller, const json_t *question, GError **error)
{
  struct principal *principal = caller->principal;
  const char *role = server_mcp_text_of (question, "role"),
             *toolset = server_mcp_text_of (question, "toolset");
  principal->read_only = json_is_true (json_object_get (question, "read_only"));
  /* Whoever is at the local socket is the user, or what they started. */
  principal->may_decide = TRUE;
  caller->toolset = g_strdup (toolset);
  return (!toolset || toolset_find (toolset, error)) && (!role || role_parse (role, &principal->role, error));
}

struct mcp_caller *
server_mcp_caller (const struct config *config, const char *owner, const json_t *question, int *directory_fd,
                   GError **error)
{
  json_t *checked = field_check (fields, "the request", question, error);
  struct mcp_caller *caller = NULL;
  if (checked && server_tools_has_directory (checked, *directory_fd, error)) {
    caller = mcp_caller_new (principal_new (config, owner), "mcp");
    caller->directory_fd = fd_steal (directory_fd);
    caller->directory = g_strdup (server_mcp_text_of (checked, "directory"));
    caller->python = g_strdup (server_mcp_text_of (checked, "python"));
    caller->conversation = g_strdup (server_mcp_text_of (checked, "conversation"));
    json_t *variables = json_object_get (checked, "variables");
    caller->variables = json_is_object (variables) ? json_incref (variables) : NULL;
    if (!set_principal (caller, checked, error))
      g_clear_pointer (&caller, mcp_caller_unref);
  }
  json_decref (checked);
  return caller;
}
