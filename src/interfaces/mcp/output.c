/* SPDX-License-Identifier: Apache-2.0 */
/* The table of clients that cannot handle everything in the protocol. docs/mcp.md lists it for people. */
#include "interfaces/mcp/output.h"

#include <string.h>

#include "common/config.h"
#include "common/json.h"

static const char *const link_words[] = {
    [MCP_LINKS_RESOURCES] = "resources",
    [MCP_LINKS_HTTP] = "http",
    [MCP_LINKS_TEXT] = "text",
    [MCP_LINKS_NONE] = "none",
};

static const struct {
  const char *name; /* as it calls itself */
  enum mcp_links links;
  gboolean unstructured;
} clients[] = {
    /* Codex shows a model structuredContent instead of content, and so no pictures. */
    {"codex-mcp-client", MCP_LINKS_ANY, TRUE},
    /* The official Python SDK, for programs that do not identify themselves: LangChain and AutoGen among
     * them, which pass links to a model's API that cannot read them. */
    {"mcp", MCP_LINKS_TEXT, FALSE},
};

static enum mcp_switch
output_switch (const json_t *asked, const char *name)
{
  const char *word = json_string_value (json_object_get (asked, name));
  return !word ? MCP_SWITCH_ANY : strcmp (word, "on") == 0 ? MCP_SWITCH_ON : MCP_SWITCH_OFF;
}

void
mcp_output_ask (struct mcp_caller *caller, const json_t *asked)
{
  const char *links = json_string_value (json_object_get (asked, "links"));
  for (gsize i = MCP_LINKS_RESOURCES; i < G_N_ELEMENTS (link_words); i++)
    if (g_strcmp0 (links, link_words[i]) == 0)
      caller->links = (guint)i;
  caller->structured = output_switch (asked, "structured");
  caller->schemas = output_switch (asked, "output_schema");
}

/* By its client's name alone. */
static struct mcp_output
output_of_client (const struct mcp_request *request)
{
  const char *name = json_string_value (json_object_get (request->client, "name"));
  const struct config *config = mcp_server_service (request->server)->config;
  struct mcp_output output = {config->store_url ? MCP_LINKS_HTTP : MCP_LINKS_RESOURCES, TRUE, TRUE};
  for (gsize i = 0; name && i < G_N_ELEMENTS (clients); i++)
    if (strcmp (clients[i].name, name) == 0) {
      output.links = clients[i].links != MCP_LINKS_ANY ? clients[i].links : output.links;
      output.structured = !clients[i].unstructured;
    }
  return output;
}

struct mcp_output
mcp_output_of (const struct mcp_request *request)
{
  const struct mcp_caller *caller = request->caller;
  struct mcp_output output = output_of_client (request);
  if (caller->links != MCP_LINKS_ANY)
    output.links = caller->links;
  if (caller->structured != MCP_SWITCH_ANY)
    output.structured = caller->structured == MCP_SWITCH_ON;
  if (caller->schemas != MCP_SWITCH_ANY)
    output.schemas = caller->schemas == MCP_SWITCH_ON;
  if (!mcp_speaks (request, MCP_TITLES_VERSION)) {
    output.structured = FALSE;
    output.links = MAX (output.links, MCP_LINKS_TEXT);
  }
  if (output.links == MCP_LINKS_HTTP && !mcp_server_service (request->server)->config->store_url)
    output.links = MCP_LINKS_TEXT;
  output.schemas = output.schemas && output.structured;
  return output;
}
