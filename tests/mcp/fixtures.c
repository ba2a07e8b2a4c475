/* SPDX-License-Identifier: Apache-2.0 */
/* A server of MCP for the conformance suite: what is shipped, with the tools, prompts and resources that the
 * suite expects beside ours. Listens on 127.0.0.1, prints its URL, and ends with its standard input. Nobody
 * is asked who they are: the suite has no token, so that its checks of Host and Origin are about those. */
#include "fixtures.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "fixtures_data.h"
#include "fixtures_tools.h"
#include "interfaces/http/http_server.h"
#include "interfaces/mcp/mcp_http.h"

#define ROUTES_MAX 8

/* ---- texts with arguments in them ---- */

static json_t *
fill (json_t *value, const json_t *values)
{
  const char *name;
  json_t *item;
  size_t i;

  if (json_is_array (value)) {
    json_t *filled = json_array ();
    json_array_foreach (value, i, item) json_array_append_new (filled, fill (item, values));
    return filled;
  }
  if (json_is_object (value)) {
    json_t *filled = json_object ();
    json_object_foreach (value, name, item) json_object_set_new (filled, name, fill (item, values));
    return filled;
  }
  if (!json_is_string (value))
    return json_incref (value);
  g_autoptr (GString) text = g_string_new (json_string_value (value));
  json_object_foreach ((json_t *)(guintptr)values, name, item)
  {
    g_autofree char *mark = g_strdup_printf ("{%s}", name);
    if (json_is_string (item))
      g_string_replace (text, mark, json_string_value (item), 0);
  }
  return json_string (text->str);
}

json_t *
fixture_json (const char *text, const json_t *values)
{
  json_error_t fault;
  g_autoptr (json_t) value = json_loads (text, JSON_DECODE_ANY, &fault);

  if (value == NULL)
    g_error ("a fixture is no JSON: %s: %s", fault.text, text);
  return fill (value, values);
}

/* ---- resources ---- */

static const struct resource {
  const char *uri, *name, *text, *type, *content, *blob;
} resources[] = {
    {"test://static-text", "static-text", "A text that stays.", "text/plain",
     .content = "This is the content of the static text resource."},
    {"test://static-binary", "static-binary", "A picture that stays.", "image/png", .blob = FIXTURE_PNG},
    {"test://watched-resource", "watched-resource", "A text that may change.", "text/plain",
     .content = "This is the content of the watched resource."},
};

#define TEMPLATE_BEGIN "test://template/"
#define TEMPLATE_END   "/data"

static json_t *
list_resources (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  json_t *rows = json_array ();

  for (gsize i = 0; i < G_N_ELEMENTS (resources); i++)
    json_array_append_new (rows, json_pack ("{s:s, s:s, s:s, s:s}", "uri", resources[i].uri, "name",
                                            resources[i].name, "description", resources[i].text, "mimeType",
                                            resources[i].type));
  return mcp_page (request, rows, cursor, most, ret_cursor);
}

static json_t *
list_templates (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  json_t *rows =
      json_pack ("[{s:s, s:s, s:s, s:s}]", "uriTemplate", TEMPLATE_BEGIN "{id}" TEMPLATE_END, "name",
                 "template", "description", "Data by an id.", "mimeType", "application/json");

  return mcp_page (request, rows, cursor, most, ret_cursor);
}

static void
reply_contents (struct mcp_request *request, const char *uri, const char *type, const char *text,
                const char *blob)
{
  mcp_result (request, json_pack ("{s:[o]}", "contents", mcp_contents (uri, type, text, blob)));
}

static gboolean
read_resource (struct mcp_request *request, const char *uri)
{
  for (gsize i = 0; i < G_N_ELEMENTS (resources); i++)
    if (strcmp (resources[i].uri, uri) == 0) {
      reply_contents (request, uri, resources[i].type, resources[i].content, resources[i].blob);
      return TRUE;
    }
  gsize length = strlen (uri), least = strlen (TEMPLATE_BEGIN) + strlen (TEMPLATE_END);
  if (length <= least || !g_str_has_prefix (uri, TEMPLATE_BEGIN) || !g_str_has_suffix (uri, TEMPLATE_END))
    return FALSE;
  g_autofree char *id = g_strndup (uri + strlen (TEMPLATE_BEGIN), length - least);
  g_autofree char *data = g_strdup_printf ("Data for ID: %s", id);
  g_autoptr (json_t) value = json_pack ("{s:s, s:b, s:s}", "id", id, "templateTest", 1, "data", data);
  g_autofree char *text = json_to_text (value);
  reply_contents (request, uri, "application/json", text, NULL);
  return TRUE;
}

/* ---- prompts ---- */

#define USER(content) "{\"role\": \"user\", \"content\": " content "}"
#define SAY(text)     USER ("{\"type\": \"text\", \"text\": \"" text "\"}")

static const struct prompt {
  const char *name, *text;
  const char *arguments; /* JSON, or NULL */
  const char *messages;
  gboolean asks;
} prompts[] = {
    {"test_simple_prompt", "Says one text.", NULL, "[" SAY ("This is a simple prompt for testing.") "]"},
    {"test_prompt_with_arguments", "Says its arguments.",
     "[{\"name\": \"arg1\", \"description\": \"First test argument\", \"required\": true}, {\"name\": "
     "\"arg2\", "
     "\"description\": \"Second test argument\", \"required\": true}]",
     "[" SAY ("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'") "]"},
    {"test_prompt_with_embedded_resource", "Has a resource within it.",
     "[{\"name\": \"resourceUri\", \"description\": \"The resource\", \"required\": true}]",
     "[" USER (
         "{\"type\": \"resource\", \"resource\": {\"uri\": \"{resourceUri}\", \"mimeType\": \"text/plain\", "
         "\"text\": \"Embedded resource content for testing.\"}}") ", " SAY ("Please process the embedded "
                                                                             "resource above.") "]"},
    {"test_prompt_with_image", "Has a picture within it.", NULL,
     "[" USER ("{\"type\": \"image\", \"data\": \"" FIXTURE_PNG
               "\", \"mimeType\": \"image/png\"}") ", " SAY ("Please analyze the image above.") "]"},
    {"test_input_required_result_prompt", "Asks before it says something.", NULL,
     "[" SAY ("Mind this context: {context}") "]", .asks = TRUE},
};

static json_t *
list_prompts (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  json_t *rows = json_array ();

  for (gsize i = 0; i < G_N_ELEMENTS (prompts); i++) {
    json_t *row = json_pack ("{s:s, s:s}", "name", prompts[i].name, "description", prompts[i].text);
    if (prompts[i].arguments != NULL)
      json_object_set_new (row, "arguments", fixture_json (prompts[i].arguments, NULL));
    json_array_append_new (rows, row);
  }
  return mcp_page (request, rows, cursor, most, ret_cursor);
}

static void
reply_prompt (struct mcp_request *request, const struct prompt *prompt, const json_t *arguments)
{
  struct mcp_ask ask = {.key = "user_context", .method = "elicitation/create"};

  if (prompt->asks) {
    ask.params =
        fixture_json ("{\"mode\": \"form\", \"message\": \"What context should the prompt use?\", "
                      "\"requestedSchema\": {\"type\": \"object\", \"properties\": {\"context\": {\"type\": "
                      "\"string\"}}, \"required\": [\"context\"]}}",
                      NULL);
    switch (mcp_input (request, &ask, 1, NULL)) {
    case MCP_INPUT_LATER:
      return;
    case MCP_INPUT_UNABLE:
      mcp_problem_capability (request, json_pack ("{s:{}}", "elicitation"));
      return;
    case MCP_INPUT_HAVE:
      arguments = json_object_get (ask.answer, "content");
    }
  }
  mcp_result (request, json_pack ("{s:s, s:o}", "description", prompt->text, "messages",
                                  fixture_json (prompt->messages, arguments)));
}

static gboolean
get_prompt (struct mcp_request *request, const char *name, json_t *arguments)
{
  for (gsize i = 0; i < G_N_ELEMENTS (prompts); i++)
    if (strcmp (prompts[i].name, name) == 0) {
      reply_prompt (request, &prompts[i], arguments);
      return TRUE;
    }
  return FALSE;
}

static gboolean
complete (struct mcp_request *request, const json_t *ref, const char *argument, const char *value,
          G_GNUC_UNUSED const json_t *known)
{
  static const char *const words[] = {"paris", "park", "party"};
  json_t *values = json_array ();

  if (strcmp (json_member_text (ref, "name"), "test_prompt_with_arguments") != 0) {
    json_decref (values);
    return FALSE;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (words) && strcmp (argument, "arg1") == 0; i++)
    if (g_str_has_prefix (words[i], value))
      json_array_append_new (values, json_string (words[i]));
  mcp_completion (request, values);
  return TRUE;
}

/* The fixtures log to whom the suite asks them to; nothing that is shipped does. */
static json_t *
capabilities (G_GNUC_UNUSED struct mcp_request *request)
{
  return json_pack ("{s:{}, s:{s:b}, s:{s:b}}", "logging", "tools", "listChanged", 1, "prompts",
                    "listChanged", 1);
}

const struct mcp_provider fixture_provider = {
    .name = "fixtures",
    .list_tools = fixture_list_tools,
    .call_tool = fixture_call_tool,
    .tasking = fixture_tasking,
    .mirrors = fixture_mirrors,
    .list_resources = list_resources,
    .list_templates = list_templates,
    .read_resource = read_resource,
    .list_prompts = list_prompts,
    .get_prompt = get_prompt,
    .complete = complete,
    .capabilities = capabilities,
};

/* ---- the program ---- */

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  AdderEngine *engine = adder_engine_new (argc > 1 ? argv[1] : NULL, &error);
  struct http_route routes[ROUTES_MAX] = {{NULL}};
  const struct http_route *const tables[] = {routes, NULL};
  const struct http_server_options options = {.tables = tables, .listen = "127.0.0.1:0"};
  char nothing[64];

  if (engine == NULL) {
    fprintf (stderr, "mcp-fixtures: %s\n", error->message);
    return 1;
  }
  for (gsize i = 0; http_routes_mcp[i].path != NULL && i + 1 < ROUTES_MAX; i++) {
    routes[i] = http_routes_mcp[i];
    routes[i].flags |= HTTP_OPEN;
  }
  struct service *service = service_new (engine);
  service->mcp = mcp_server_new (service);
  mcp_server_add (service->mcp, &fixture_provider);
  struct http_server *server = http_server_new (service, &options, &error);
  if (server == NULL) {
    fprintf (stderr, "mcp-fixtures: %s\n", error->message);
    return 1;
  }
  g_auto (GStrv) addresses = http_server_addresses (server);
  printf ("%s/mcp\n", addresses[0]);
  fflush (stdout);
  while (read (STDIN_FILENO, nothing, sizeof nothing) > 0)
    ;
  http_server_free (server);
  mcp_server_free (service->mcp);
  service_free (service);
  adder_engine_free (engine);
  return 0;
}
