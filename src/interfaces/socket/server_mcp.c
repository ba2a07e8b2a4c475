/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks MCP on the local socket: from the body of MCP to a caller. */
#include "interfaces/socket/server_mcp.h"

#include "base/fd.h"
#include "common/field_rows.h"
#include "common/json.h"
#include "interfaces/mcp/output.h"

static const struct field fields[] = {
    MAY_TEXT ("toolset"),
    MAY_TEXT ("role"),
    MAY_FLAG ("read_only"),
    {.name = "conversation", .types = FIELD_TEXT, .optional = TRUE, .maximum = ADDER_CONVERSATION_BYTES},
    MAY_TEXT ("directory"),
    {.name = "variables", .types = FIELD_OBJECT, .items = FIELD_TEXT, .optional = TRUE},
    MAY_TEXT ("python"),
    MAY_FLAG ("files"),
    MCP_OUTPUT_FIELDS,
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
  if (!toolset_find_view (toolset, &caller->is_whole, error))
    return FALSE;
  caller->toolset = caller->is_whole ? NULL : g_strdup (toolset);
  return (!role || role_parse (role, &principal->role, error));
}

struct mcp_caller *
server_mcp_caller (const struct config *config, const char *owner, const json_t *question, int *fds,
                   gsize count, GError **error)
{
  g_autoptr (json_t) checked = field_check (fields, "the request", question, error);
  if (!checked)
    return NULL;
  gboolean opens = json_is_true (json_object_get (checked, "files"));
  gboolean has_directory = json_is_string (json_object_get (checked, "directory"));
  if (count != (gsize)has_directory + (gsize)opens) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "a directory, and a channel for files, come with their descriptors or not at all");
    return NULL;
  }
  struct mcp_caller *caller = mcp_caller_new (principal_new (config, owner), "mcp");
  if (has_directory)
    caller->directory_fd = fd_steal (&fds[0]);
  if (opens) {
    UNSHARED (mcp_caller_files);
    caller->files_fd = fd_steal (&fds[count - 1]);
  }
  caller->directory = g_strdup (server_mcp_text_of (checked, "directory"));
  caller->python = g_strdup (server_mcp_text_of (checked, "python"));
  mcp_output_ask (caller, checked);
  caller->conversation = g_strdup (server_mcp_text_of (checked, "conversation"));
  json_t *variables = json_object_get (checked, "variables");
  caller->variables = json_is_object (variables) ? json_incref (variables) : NULL;
  if (!set_principal (caller, checked, error))
    g_clear_pointer (&caller, mcp_caller_unref);
  return caller;
}
