/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol: a row for each method, and the providers. */
#include "interfaces/mcp/server.h"

#include <string.h>

#include "adder.h"
#include "common/config.h"
#include "common/json.h"
#include "interfaces/mcp/mcp_http.h"
#include "interfaces/mcp/mcp_private.h"
#include "interfaces/mcp/tools.h"
#include "tools/format.h"

/* Notifications have rows of their own: requests must be answered, notifications must not. */
static const struct mcp_method methods[] = {
    {"initialize", MCP_LEGACY, MCP_QUICK, method_initialize},
    {"notifications/initialized", MCP_LEGACY, MCP_QUICK | MCP_NOTICE, method_initialized},
    {"ping", MCP_LEGACY, MCP_QUICK, method_ping},
    {"logging/setLevel", MCP_LEGACY, MCP_QUICK, method_set_level},
    {"notifications/cancelled", MCP_LEGACY | MCP_MODERN, MCP_QUICK | MCP_NOTICE, method_ignore},
    {"notifications/progress", MCP_LEGACY | MCP_MODERN, MCP_QUICK | MCP_NOTICE, method_ignore},
    {"notifications/roots/list_changed", MCP_LEGACY, MCP_QUICK | MCP_NOTICE, method_ignore},

    {"server/discover", MCP_MODERN, MCP_QUICK | MCP_CACHED, method_discover},

    {"tools/list", MCP_LEGACY | MCP_MODERN, MCP_QUICK | MCP_CACHED, method_list_tools},
    {"tools/call", MCP_LEGACY | MCP_MODERN, MCP_WORK | MCP_INPUTS, method_call_tool},
    {"resources/list", MCP_LEGACY | MCP_MODERN, MCP_CACHED | MCP_FLEETING, method_list_resources},
    {"resources/templates/list", MCP_LEGACY | MCP_MODERN, MCP_QUICK | MCP_CACHED, method_list_templates},
    {"resources/read", MCP_LEGACY | MCP_MODERN, MCP_CACHED | MCP_INPUTS, method_read_resource},
    {"prompts/list", MCP_LEGACY | MCP_MODERN, MCP_QUICK | MCP_CACHED, method_list_prompts},
    {"prompts/get", MCP_LEGACY | MCP_MODERN, MCP_INPUTS, method_get_prompt},
    {"completion/complete", MCP_LEGACY | MCP_MODERN, 0, method_complete},

    {"resources/subscribe", MCP_LEGACY, MCP_QUICK, mcp_resources_subscribe},
    {"resources/unsubscribe", MCP_LEGACY, MCP_QUICK, mcp_resources_unsubscribe},
    {"subscriptions/listen", MCP_MODERN, MCP_LONG, mcp_subscriptions_listen},

    {"tasks/get", MCP_MODERN, MCP_QUICK, mcp_tasks_get},
    {"tasks/update", MCP_MODERN, MCP_QUICK, mcp_tasks_update},
    {"tasks/cancel", MCP_MODERN, MCP_QUICK, mcp_tasks_cancel},
};

static const struct mcp_provider *const shipped[] = {
    &mcp_provider_tools,   &mcp_provider_resources, &mcp_provider_files,
    &mcp_provider_prompts, &mcp_provider_memory,
};

const struct mcp_method *
server_find_method (const char *method, enum mcp_era era, gboolean notice)
{
  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    if ((methods[i].eras & (guint)era) && notice == ((methods[i].flags & MCP_NOTICE) != 0) &&
        strcmp (methods[i].name, method) == 0)
      return &methods[i];
  return NULL;
}

/* ---- the server ---- */

struct mcp_server *
mcp_server_new (struct service *service)
{
  struct mcp_server *server = g_new0 (struct mcp_server, 1);
  server->service = service;
  server->memory = mcp_memory_new (server, service);
  server->providers = g_ptr_array_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (shipped); i++)
    mcp_server_add (server, shipped[i]);
  server->http = mcp_http_new (server);
  return server;
}

void
mcp_server_free (struct mcp_server *server)
{
  if (!server)
    return;
  mcp_http_free (server->http);
  mcp_memory_free (server->memory);
  g_ptr_array_unref (server->providers);
  g_free (server);
}

void
mcp_server_add (struct mcp_server *server, const struct mcp_provider *provider)
{
  g_ptr_array_add (server->providers, (gpointer)(guintptr)provider);
}

struct service *
mcp_server_service (struct mcp_server *server)
{
  return server->service;
}

struct mcp_http *
mcp_server_http (struct mcp_server *server)
{
  return server->http;
}

struct mcp_memory *
mcp_server_memory (struct mcp_server *server)
{
  return server->memory;
}

enum mcp_tasking
mcp_server_tasking (struct mcp_request *request, const char *name)
{
  const GPtrArray *providers = request->server->providers;
  enum mcp_tasking tasking = MCP_TASK_NEVER;
  for (guint i = 0; i < providers->len && tasking == MCP_TASK_NEVER; i++) {
    const struct mcp_provider *provider = g_ptr_array_index (providers, i);
    if (provider->tasking)
      tasking = provider->tasking (request, name);
  }
  return tasking;
}

/* ---- its description ---- */

json_t *
server_info (gboolean titled)
{
  return json_pack ("{s:s, s:s*, s:s}", "name", "adder", "title", titled ? "Adder" : NULL, "version",
                    adder_version ());
}

/* Replies that depend on the caller must not be cached for others. */
void
server_add_cache_hints (struct mcp_server *server, json_t *result)
{
  guint64 age_ms = server->service->config->mcp_cache_ms;
  if (!json_object_get (result, "ttlMs"))
    json_object_set_new (result, "ttlMs", json_integer ((json_int_t)age_ms));
  if (!json_object_get (result, "cacheScope"))
    json_object_set_new (result, "cacheScope", json_string ("private"));
}

static void
offer (json_t *capabilities, const char *name, gboolean offered)
{
  if (offered && !json_object_get (capabilities, name))
    json_object_set_new (capabilities, name, json_object ());
}

json_t *
server_capabilities (struct mcp_request *request)
{
  const GPtrArray *providers = request->server->providers;
  json_t *all = json_object ();
  for (guint i = 0; i < providers->len; i++) {
    const struct mcp_provider *provider = g_ptr_array_index (providers, i);
    g_autoptr (json_t) own = provider->capabilities ? provider->capabilities (request) : NULL;
    offer (all, "tools", provider->list_tools != NULL);
    offer (all, "resources", provider->list_resources || provider->list_templates);
    offer (all, "prompts", provider->list_prompts != NULL);
    offer (all, "completions", provider->complete != NULL);
    if (own)
      json_object_update_recursive (all, own);
  }
  return all;
}

char *
server_instructions (struct mcp_request *request)
{
  return mcp_tools_prompt (request);
}
