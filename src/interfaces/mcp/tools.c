/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of the tool table, for each caller: listed and called according to their role, toolset and the
 * tools enabled. */
#include "interfaces/mcp/tools.h"

#include <string.h>

#include "common/json.h"
#include "interfaces/mcp/local_files.h"
#include "interfaces/mcp/mcp_private.h"
#include "interfaces/mcp/output.h"
#include "interfaces/mcp/progress.h"
#include "interfaces/mcp/reply.h"
#include "tools/call.h"
#include "tools/format.h"
#include "tools/installed.h"

#define CONVERSATION "conversation"
#define SESSION      "session"

/* ---- which ---- */

/* The toolset that they were bound to when they were admitted or started; NULL: none. */
static const char *
bound_to (const struct mcp_request *request)
{
  const struct mcp_caller *caller = request->caller;
  return caller->principal->toolset ? caller->principal->toolset : caller->toolset;
}

const struct toolset *
mcp_toolset (const struct mcp_request *request)
{
  const struct toolset *toolset = toolset_find (bound_to (request), NULL);
  return toolset ? toolset : toolsets[0];
}

static gboolean
tools_is_offered (const struct toolset *toolset, const struct tool *tool, void *data)
{
  const struct mcp_request *request = data;
  const struct principal *principal = request->caller->principal;
  const struct tools *tools = mcp_server_service (request->server)->tools;
  const struct role_caller caller = {principal->role, principal->read_only};
  return toolset_shows (toolset, tool, request->caller->is_whole) &&
         tool_is_available (tools->config, tools->enablement, &caller, toolset, tool, NULL);
}

/* A plain name belongs to the toolset shown; a contract's dotted name may be of any, unless the caller is
 * bound to one. */
static gboolean
tools_find (const struct mcp_request *request, const char *name, const struct toolset **ret_toolset,
            const struct tool **ret_tool)
{
  gboolean any = !bound_to (request) && strchr (name, '.');
  return tool_find (any ? NULL : mcp_toolset (request), name, ret_toolset, ret_tool, NULL);
}

char *
mcp_tools_prompt (struct mcp_request *request)
{
  return tool_prompt (mcp_toolset (request), tools_is_offered, request);
}

/* ---- the list ---- */

/* Whether a call may name its conversation: not if that is fixed for all. */
static gboolean
may_name_conversation (const struct mcp_request *request)
{
  return !request->caller->conversation;
}

/* Whether only the basic tools are offered, described briefly. */
static gboolean
tools_are_basic (const struct mcp_request *request)
{
  return mcp_toolset (request)->basic && !request->caller->is_whole;
}

static json_t *
tools_describe (const struct mcp_request *request, const struct tool *tool)
{
  gboolean is_basic = tools_are_basic (request);
  g_autofree char *description = installed_describe (
      mcp_toolset (request), tool, mcp_server_service (request->server)->config, request->caller->python);
  json_t *row =
      is_basic ? tool_describe_basic (tool, description) : tool_describe (tool, TOOL_FORMAT_MCP, description);
  json_t *properties = json_object_get (json_object_get (row, "inputSchema"), "properties");
  if (!mcp_output_of (request).schemas)
    json_object_del (row, "outputSchema");
  if (!mcp_speaks (request, MCP_TITLES_VERSION)) {
    json_object_del (row, "title");
    json_object_del (row, "_meta");
  }
  if ((tool->hints & TOOL_LOCAL_FILES) && mcp_local_files_are_open (request))
    json_object_set_new (
        json_object_get (properties, "files"), "description",
        json_string ("Files that the code finds in its current directory: paths of local files "
                     "in the client's directory, or ids of stored files."));
  json_t *session = json_object_get (properties, SESSION);
  if (is_basic && session)
    json_object_set_new (
        session, "description",
        json_string ("A name of your choice: calls with the same one share variables, imports "
                     "and files. It is made when first named, and ends when unused for a while. "
                     "Without one nothing stays for the next call."));
  /* Read-only tools remember nothing, so a short list omits the argument there. */
  if (may_name_conversation (request) && (!is_basic || (tool->hints & TOOL_EXECUTES)) &&
      !json_object_get (properties, CONVERSATION))
    json_object_set_new (
        properties, CONVERSATION,
        json_pack ("{s:[{s:s, s:i}, {s:s}], s:s}", "anyOf", "type", "string", "maxLength",
                   ADDER_CONVERSATION_BYTES, "type", "null", "description",
                   "Any id of your choice for this conversation, the same in each call: what calls remember "
                   "for each other is kept by it. Without one, each call is on its own."));
  return row;
}

static json_t *
tools_list_tools (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  const struct toolset *toolset = mcp_toolset (request);
  json_t *rows = json_array ();
  for (gsize i = 0; i < toolset->count; i++)
    if (tools_is_offered (toolset, &toolset->tools[i], request))
      json_array_append_new (rows, tools_describe (request, &toolset->tools[i]));
  return mcp_page (request, rows, cursor, most, ret_cursor);
}

/* ---- a call ---- */

static gboolean
has_no_conversation (const struct tool *tool)
{
  return !field_find (tool->parameters, CONVERSATION);
}

/* ARGUMENTS without the conversation, which becomes CALLER's. Some clients send null for every omitted
 * argument, so null is no name. The caller's. */
static json_t *
take_conversation (const struct mcp_request *request, const struct tool *tool, json_t *arguments,
                   struct tool_caller *caller)
{
  const json_t *given = json_object_get (arguments, CONVERSATION);
  const char *named = json_string_value (given);
  gboolean taken = named ? may_name_conversation (request) : json_is_null (given);
  if (!taken || !has_no_conversation (tool))
    return json_incref (arguments);
  json_t *rest = json_copy (arguments);
  if (named)
    caller->conversation = named;
  json_object_del (rest, CONVERSATION);
  return rest;
}

static gboolean
tools_call_tool (struct mcp_request *request, const char *name, json_t *arguments)
{
  const struct toolset *toolset;
  const struct tool *tool;
  if (!tools_find (request, name, &toolset, &tool))
    return FALSE;
  struct tool_caller caller;
  struct tool_reply reply;
  struct mcp_watched watched;
  mcp_tool_caller (request, &caller);
  caller.makes_sessions = tools_are_basic (request);
  mcp_progress_watch (&watched, request, &caller);
  g_autoptr (json_t) rest = take_conversation (request, tool, arguments, &caller);
  g_autoptr (GError) problem = NULL;
  struct mcp_local_files files = {0};
  gboolean done =
      !(tool->hints & TOOL_LOCAL_FILES) || mcp_local_files_take (request, rest, &files, &caller, &problem);
  if (done)
    done = mcp_approved_call (request, toolset->name, tool->name, rest, &caller, &reply);
  else if (problem) {
    reply = (struct tool_reply){
        .value = json_pack ("{s:o, s:n}", "error", json_text_or_null (problem->message), "run_id"),
        .is_error = TRUE};
    done = TRUE;
  }
  mcp_local_files_clear (&files);
  mcp_progress_end (&watched);
  if (!done)
    return TRUE;
  mcp_result (request, mcp_reply_result (request, &reply));
  tool_reply_clear (&reply);
  return TRUE;
}

/* Running code may take long; everything else is done at once. */
static enum mcp_tasking
tasking (struct mcp_request *request, const char *name)
{
  const struct toolset *toolset;
  const struct tool *tool;
  return tools_find (request, name, &toolset, &tool) && (tool->hints & TOOL_EXECUTES) ? MCP_TASK_LATE
                                                                                      : MCP_TASK_NEVER;
}

const struct mcp_provider mcp_provider_tools = {
    .name = "tools",
    .list_tools = tools_list_tools,
    .call_tool = tools_call_tool,
    .tasking = tasking,
};
