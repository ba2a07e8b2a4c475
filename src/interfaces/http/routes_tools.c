/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/tools: the table of tools, and calls of them. */
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "interfaces/http/http_operations.h"
#include "interfaces/http/run_reply.h"
#include "interfaces/http/shapes.h"
#include "tools/call.h"
#include "tools/format.h"
#include "tools/installed.h"

/* ---- visible tools ---- */

static gboolean
routes_tools_is_offered (struct http_request *request, const struct toolset *toolset, const struct tool *tool)
{
  const struct principal *who = http_who (request);
  const struct tools *tools = http_service (request)->tools;
  const struct role_caller caller = {who->role, who->read_only};
  return tool_is_available (tools->config, tools->enablement, &caller, toolset, tool, NULL);
}

/* The toolsets that the caller may use. */
static json_t *
toolset_names (const struct principal *who)
{
  json_t *names = json_array ();
  for (gsize i = 0; toolsets[i]; i++)
    if (!who->toolset || strcmp (who->toolset, toolsets[i]->name) == 0)
      json_array_append_new (names, json_string (toolsets[i]->name));
  return names;
}

/* The toolset that NAME means for the caller; NULL: theirs, or the first. */
static const struct toolset *
find_toolset (const struct principal *who, const char *name, GError **error)
{
  const struct toolset *toolset = toolset_find (name ? name : who->toolset, error);
  if (!toolset || !who->toolset || strcmp (who->toolset, toolset->name) == 0)
    return toolset;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "the toolset %s is not for you: yours is %s",
               toolset->name, who->toolset);
  return NULL;
}

static void
handle_list (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *name = json_string_value (json_object_get (http_query (request), "toolset"));
  const struct toolset *toolset = find_toolset (http_who (request), name, &problem);
  if (!toolset) {
    http_reply_problem (request, problem);
    return;
  }
  enum tool_format format = TOOL_FORMAT_MCP;
  const char *asked = json_string_value (json_object_get (http_query (request), "format"));
  if (asked && !tool_format_parse (asked, &format, &problem)) {
    http_reply_problem (request, problem);
    return;
  }
  json_t *list = json_array ();
  for (gsize i = 0; i < toolset->count; i++) {
    const struct tool *tool = &toolset->tools[i];
    if (!routes_tools_is_offered (request, toolset, tool))
      continue;
    g_autofree char *description =
        installed_describe (toolset, tool, http_service (request)->tools->config, NULL);
    json_array_append_new (list, tool_describe (tool, format, description));
  }
  http_reply_json (request, 200,
                   json_pack ("{s:s, s:o, s:o}", "toolset", toolset->name, "toolsets",
                              toolset_names (http_who (request)), "tools", list));
}

/* ---- a call ---- */

/* One call with all that it needs after its request is gone. */
struct calling {
  struct service *service;
  struct principal *who;
  const struct toolset *toolset;
  const struct tool *tool;
  json_t *body;
  char *directory;
  int directory_fd;
  struct http_stream *stream; /* or NULL, and then so are */
  struct run_events *events;  /* those of runs on it */
  gboolean gone, at_terminal;
};

static void
calling_free (gpointer data)
{
  struct calling *calling = data;
  service_end (calling->service);
  principal_unref (calling->who);
  json_decref (calling->body);
  g_free (calling->directory);
  fd_close (&calling->directory_fd);
  g_free (calling);
}

static gboolean
find_tool (struct http_request *request, const struct toolset **ret_toolset, const struct tool **ret_tool,
           GError **error)
{
  const struct principal *who = http_who (request);
  const char *name = http_parameter (request, "tool");
  const char *named = json_string_value (json_object_get (http_body (request), "toolset"));
  const struct toolset *toolset = NULL;
  if (named || who->toolset)
    toolset = find_toolset (who, named, error);
  else if (!strchr (name, '.'))
    toolset = toolsets[0];
  if (!toolset && (named || who->toolset))
    return FALSE;
  if (!tool_find (toolset, name, ret_toolset, ret_tool, error))
    return FALSE;
  const struct tools *tools = http_service (request)->tools;
  const struct role_caller caller = {who->role, who->read_only};
  return tool_is_available (tools->config, tools->enablement, &caller, *ret_toolset, *ret_tool, error);
}

/* The directory that the call may work in; nothing if it named none. */
static gboolean
routes_tools_open_directory (struct http_request *request, struct calling *calling, GError **error)
{
  const json_t *place = json_object_get (calling->body, "workdir");
  if (!json_is_object (place))
    return TRUE;
  calling->directory_fd = http_open_root (request, place, "rw", &calling->directory, error);
  return calling->directory_fd >= 0;
}

/* NULL with ERROR. */
static struct calling *
routes_tools_begin (struct http_request *request, GError **error)
{
  const struct toolset *toolset;
  const struct tool *tool;
  struct service *service = http_service (request);
  if (!find_tool (request, &toolset, &tool, error) || !service_begin (service, error))
    return NULL;
  struct calling *calling = g_new0 (struct calling, 1);
  calling->service = service;
  calling->who = principal_ref ((struct principal *)(guintptr)http_who (request));
  calling->at_terminal = http_at_terminal (request);
  calling->toolset = toolset;
  calling->tool = tool;
  calling->body = json_incref ((json_t *)(guintptr)http_body (request));
  calling->directory_fd = -1;
  if (routes_tools_open_directory (request, calling, error))
    return calling;
  calling_free (calling);
  return NULL;
}

static void
see (gpointer data, AdderRun *run, const AdderEvent *event)
{
  struct calling *calling = data;
  if (calling->gone || run_events_send (calling->events, run, event))
    return;
  calling->gone = TRUE;
  adder_run_cancel (run);
}

/* The watch on the client's socket notices that it is gone. */
static void
routes_tools_progressed (gpointer data, const struct tool_progress *progress)
{
  struct calling *calling = data;
  calling->gone =
      calling->gone || !run_events_tell (calling->stream, "progress", tool_progress_to_json (progress));
}

/* {"reply", "is_error", "exit_code"}: the caller's. *RET_AGAIN_S as the tool's reply has it. */
static json_t *
routes_tools_call (struct calling *calling, int watch_fd, guint *ret_again_s)
{
  const struct principal *who = calling->who;
  struct tool_reply reply;
  const struct tool_caller caller = {
      .owner = who->owner,
      .front_end = "http",
      .at_terminal = calling->at_terminal,
      .conversation = json_string_value (json_object_get (calling->body, "conversation")),
      .role = role_name (who->role),
      .approval = json_string_value (json_object_get (calling->body, "approval")),
      .read_only = who->read_only,
      .directory_fd = calling->directory_fd,
      .directory = calling->directory,
      .variables = json_object_get (calling->body, "variables"),
      .watch_fd = watch_fd,
      .saw = calling->events ? see : NULL,
      .progressed = calling->stream ? routes_tools_progressed : NULL,
      .saw_data = calling,
      .profiles = (const char *const *)who->profiles,
      .toolset = who->toolset,
  };
  tools_call (calling->service->tools, calling->toolset->name, calling->tool->name,
              json_object_get (calling->body, "arguments"), &caller, &reply);
  json_t *told = json_pack ("{s:O, s:b, s:i}", "reply", reply.value, "is_error", reply.is_error, "exit_code",
                            reply.exit_code);
  *ret_again_s = reply.again_s;
  tool_reply_clear (&reply);
  return told;
}

static void
routes_tools_produce (struct http_stream *stream, gpointer data)
{
  struct calling *calling = data;
  guint again_s;
  calling->stream = stream;
  calling->events = run_events_new (stream, FALSE, NULL);
  json_t *told = routes_tools_call (calling, http_stream_watch_fd (stream), &again_s);
  run_events_flush (calling->events);
  run_events_tell (stream, "reply", told);
  run_events_free (calling->events);
}

static void
reply_call (struct http_request *request, struct calling *calling)
{
  guint again_s;
  json_t *told = routes_tools_call (calling, http_watch_fd (request), &again_s);
  char seconds[16];
  (void)g_snprintf (seconds, sizeof seconds, "%u", again_s);
  if (again_s > 0)
    http_set_header (request, "Retry-After", seconds);
  http_reply_json (request, 200, told);
  calling_free (calling);
}

static void
routes_tools_handle_call (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  struct calling *calling = routes_tools_begin (request, &problem);
  if (!calling)
    http_reply_problem (request, problem);
  else if (json_is_true (json_object_get (calling->body, "stream")))
    http_reply_produced (request, routes_tools_produce, calling, calling_free);
  else
    reply_call (request, calling);
}

/* ---- the table ---- */

static const struct field list_query[] = {
    ASK_TEXT ("toolset", 64, "Which; the caller's own, or the first."),
    {.name = "format",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .words = FIELD_WORDS ("mcp", "openai", "anthropic"),
     .text = "For whom the tools are described: MCP, or what goes into the field tools of a model's API."},
    {0},
};
static const struct field call_parameters[] = {
    {.name = "tool",
     .types = FIELD_TEXT,
     .pattern = "^[A-Za-z0-9_-]{1,64}([.][A-Za-z0-9_-]{1,64})?$",
     .pattern_words = "a tool's name, or TOOLSET.TOOL",
     .text = "The tool's name, also with its toolset and a dot before it."},
    {0},
};
static const struct field place_fields[] = {
    {.name = "root", .types = FIELD_TEXT, .minimum = 1, .maximum = 64, .text = "See POST /v1/runs."},
    ASK_TEXT ("path", 4096, "A folder below it."),
    FIELD_END ("ToolDirectory"),
};
static const struct field call_body[] = {
    {.name = "arguments",
     .types = FIELD_OBJECT,
     .items = FIELD_ANY,
     .optional = TRUE,
     .standard = "{}",
     .text = "As the tool's inputSchema says."},
    ASK_TEXT ("toolset", 64, "Whose tool it is; the caller's own, or the first."),
    ASK_CONVERSATION,
    ASK_TEXT ("approval", 36, "The approval that the call was given."),
    {.name = "workdir",
     .types = FIELD_OBJECT,
     .members = place_fields,
     .optional = TRUE,
     .text = "Where the caller works, for tools that work there too."},
    {.name = "variables",
     .types = FIELD_OBJECT,
     .items = FIELD_TEXT,
     .optional = TRUE,
     .standard = "{}",
     .maximum = 1024,
     .text = "Of their environment, for the same tools."},
    ASK_FLAG ("stream", "Whether the reply is a stream of events."),
    {0},
};

static const struct field tool_fields[] = {
    TEXT ("name", "By which it is called."),
    TEXT ("title", "A few words."),
    TEXT ("description", "For a model."),
    MAP ("inputSchema", FIELD_ANY, "JSON Schema of its arguments."),
    MAP ("outputSchema", FIELD_ANY, "JSON Schema of its replies."),
    MAP ("annotations", FIELD_ANY, "What it may do, as MCP says it."),
    MAP ("_meta", FIELD_ANY, "The role that it needs."),
    FIELD_END ("Tool"),
};
static const struct field anthropic_fields[] = {
    TEXT ("name", "By which it is called."),
    TEXT ("description", "For a model."),
    MAP ("input_schema", FIELD_ANY, "JSON Schema of its arguments."),
    FIELD_END ("AnthropicTool"),
};
static const struct field function_fields[] = {
    TEXT ("name", "By which it is called."),
    TEXT ("description", "For a model."),
    MAP ("parameters", FIELD_ANY, "JSON Schema of its arguments, each of which must be there."),
    FLAG ("strict", "That the model keeps to it."),
    FIELD_END ("OpenaiFunction"),
};
static const struct field openai_fields[] = {
    TEXT ("type", "function"),
    PART ("function", function_fields, "What it is."),
    FIELD_END ("OpenaiTool"),
};
#define LISTED(fields, title)                                                                                \
  {                                                                                                          \
    TEXT ("toolset", "Whose tools these are."), TEXTS ("toolsets", "Those that the caller may use."),        \
        LIST ("tools", fields, "Those that the caller may call."), FIELD_END (title),                        \
  }
static const struct field list_openai_fields[] = LISTED (openai_fields, "OpenaiToolList");
static const struct field list_anthropic_fields[] = LISTED (anthropic_fields, "AnthropicToolList");
static const struct field list_fields[] = LISTED (tool_fields, "ToolList");
static const struct field call_fields[] = {
    MAP ("reply", FIELD_ANY, "As the tool's outputSchema says."),
    FLAG ("is_error", "Whether the tool could not do it, or its code failed."),
    WHOLE ("exit_code", "0; of code that failed 1, or as results have it."),
    FIELD_END ("ToolReply"),
};
static const struct field *const list_replies[] = {list_fields, list_openai_fields, list_anthropic_fields,
                                                   NULL};
static const struct field *const call_replies[] = {call_fields, NULL};

const struct http_route http_routes_tools[] = {
    {
        .method = "GET",
        .path = "/v1/tools",
        .operation = "listTools",
        .tag = "tools",
        .title = "List the tools",
        .text = "Those of one toolset that the caller may call, with schemas, in the form of MCP or of a "
                "model's API.",
        .role = ROLE_GUEST,
        .query = list_query,
        .replies = list_replies,
        .status = 200,
        .handle = handle_list,
    },
    {
        .method = "POST",
        .path = "/v1/tools/{tool}",
        .operation = "callTool",
        .tag = "tools",
        .title = "Call a tool",
        .text = "What the tool replies, also where that is an error for the model. With `stream` the events "
                "are `started`, `stdout`, `stderr`, `display`, of work that is no run `progress` {text, "
                "done, of}, "
                "and, as the last, `reply`.",
        .role = ROLE_GUEST,
        .flags = HTTP_STREAMS | HTTP_LOOKS,
        .parameters = call_parameters,
        .body = call_body,
        .replies = call_replies,
        .status = 200,
        .handle = routes_tools_handle_call,
    },
    {0},
};
