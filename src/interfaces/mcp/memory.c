/* SPDX-License-Identifier: Apache-2.0 */
/* A server's state between requests: its key, listeners, tasks; and what follows from it for clients. */
#include "interfaces/mcp/memory.h"

#include <string.h>

#include "common/log.h"

/* New listeners are told that lists changed, even if they then find them the same. */
static json_t *
capabilities (struct mcp_request *request)
{
  json_t *can = json_pack ("{s:{s:b}, s:{s:b}, s:{s:b, s:b}}", "tools", "listChanged", TRUE, "prompts",
                           "listChanged", TRUE, "resources", "subscribe", TRUE, "listChanged", TRUE);
  if (request->era == MCP_MODERN)
    json_object_set_new (can, "extensions", json_pack ("{s:{}}", MCP_EXTENSION_TASKS));
  return can;
}

const struct mcp_provider mcp_provider_memory = {.name = "changes", .capabilities = capabilities};

static void
make_key (struct mcp_memory *memory)
{
  g_autoptr (GError) problem = NULL;
  if (mcp_state_key_make (memory->config->mcp_state_key, &memory->key, &problem))
    return;
  /* At least this machine accepts its own signatures. */
  log_error ("mcp: [mcp] state_key: %s; other machines will not know what this one signs", problem->message);
  mcp_state_key_make (NULL, &memory->key, NULL);
}

struct mcp_memory *
mcp_memory_new (struct mcp_server *server, struct service *service)
{
  struct mcp_memory *memory = g_new0 (struct mcp_memory, 1);
  memory->server = server;
  memory->service = service;
  memory->config = service->config;
  make_key (memory);
  memory->subscriptions = mcp_subscriptions_new (memory);
  memory->tasks = mcp_tasks_new (memory);
  return memory;
}

void
mcp_memory_free (struct mcp_memory *memory)
{
  if (!memory)
    return;
  mcp_tasks_free (memory->tasks);
  mcp_subscriptions_free (memory->subscriptions);
  explicit_bzero (&memory->key, sizeof memory->key);
  g_free (memory);
}
