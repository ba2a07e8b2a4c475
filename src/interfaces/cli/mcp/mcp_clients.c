/* SPDX-License-Identifier: Apache-2.0 */
/* Each row follows the client's own documentation of its file. */
#include "interfaces/cli/mcp/mcp_clients.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/mcp/config_merge.h"

#define TOKEN_VARIABLE "ADDER_TOKEN"
#define TOKEN_INPUT    "adder-token"

const struct mcp_client mcp_clients[] = {
    {
        .name = "claude-desktop",
        .title = "Claude Desktop",
        .key = "mcpServers",
        .place = MCP_CLIENT_CONFIG,
        .user_file = "Claude/claude_desktop_config.json",
        .after = "Quit Claude Desktop and start it again.",
    },
    {
        .name = "claude-code",
        .title = "Claude Code",
        .key = "mcpServers",
        .place = MCP_CLIENT_HOME,
        .variable = "CLAUDE_CONFIG_DIR",
        .user_file = ".claude.json",
        .bare_file = ".claude.json",
        .project_file = ".mcp.json",
        .says_type = TRUE,
        .secret = "Bearer ${" TOKEN_VARIABLE "}",
        .after = "Start a new session of claude; /mcp shows it there.",
    },
    {
        .name = "vscode",
        .title = "VS Code",
        .key = "servers",
        .place = MCP_CLIENT_CONFIG,
        .user_file = "Code/User/mcp.json",
        .project_file = ".vscode/mcp.json",
        .says_type = TRUE,
        .secret = "Bearer ${input:" TOKEN_INPUT "}",
        .asks = TRUE,
        .after = "\"MCP: List Servers\" of the command palette starts it.",
    },
    {
        .name = "cursor",
        .title = "Cursor",
        .key = "mcpServers",
        .place = MCP_CLIENT_HOME,
        .user_file = ".cursor/mcp.json",
        .project_file = ".cursor/mcp.json",
        .secret = "Bearer ${env:" TOKEN_VARIABLE "}",
        .after = "Start Cursor again; its settings list the server.",
    },
    {
        .name = "codex",
        .title = "Codex",
        .is_toml = TRUE,
        .key = "mcp_servers",
        .place = MCP_CLIENT_HOME,
        .variable = "CODEX_HOME",
        .user_file = ".codex/config.toml",
        .bare_file = "config.toml",
        .project_file = ".codex/config.toml",
        .secret = TOKEN_VARIABLE,
        .after = "Start codex again; /mcp shows it there.",
    },
    {0},
};

char *
mcp_client_names (void)
{
  GString *names = g_string_new (NULL);
  for (const struct mcp_client *client = mcp_clients; client->name; client++)
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", client->name);
  return g_string_free (names, FALSE);
}

const struct mcp_client *
mcp_client_find (const char *name, GError **error)
{
  for (const struct mcp_client *client = mcp_clients; client->name; client++)
    if (strcmp (client->name, name) == 0)
      return client;
  g_autofree char *names = mcp_client_names ();
  g_autofree char *shown = g_utf8_make_valid (name, (gssize)MIN (strlen (name), 64));
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "there is no client \"%s\" here; there are %s; for other clients see docs/mcp.md", shown,
               names);
  return NULL;
}

char *
mcp_client_file (const struct mcp_client *client, gboolean project, GError **error)
{
  if (project && !client->project_file) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s has one configuration for all projects: --scope user", client->title);
    return NULL;
  }
  if (project)
    return g_canonicalize_filename (client->project_file, NULL);
  const char *directory = client->variable ? g_getenv (client->variable) : NULL;
  if (directory && directory[0] != '\0')
    return g_build_filename (directory, client->bare_file, NULL);
  return g_build_filename (client->place == MCP_CLIENT_HOME ? g_get_home_dir () : g_get_user_config_dir (),
                           client->user_file, NULL);
}

/* ---- the entry ---- */

static json_t *
program_entry (const struct mcp_client *client, const struct mcp_installation *installation)
{
  json_t *entry = client->says_type ? json_pack ("{s:s}", "type", "stdio") : json_object ();
  json_t *arguments = json_pack ("[s]", "mcp");
  json_object_set_new (entry, "command", json_text_or_null (installation->program));
  if (installation->toolset) {
    json_array_append_new (arguments, json_string ("--toolset"));
    json_array_append_new (arguments, json_string (installation->toolset));
  }
  json_object_set_new (entry, "args", arguments);
  if (json_object_size (installation->setting) > 0)
    json_object_set (entry, "env", (json_t *)installation->setting);
  return entry;
}

/* No token is ever written: the entry names where the client finds it. */
static json_t *
url_entry (const struct mcp_client *client, const struct mcp_installation *installation)
{
  json_t *entry = client->says_type ? json_pack ("{s:s}", "type", "http") : json_object ();
  json_object_set_new (entry, "url", json_string (installation->url));
  if (client->is_toml)
    json_object_set_new (entry, "bearer_token_env_var", json_string (client->secret));
  else
    json_object_set_new (entry, "headers", json_pack ("{s:s}", "Authorization", client->secret));
  return entry;
}

char *
mcp_client_merge (const struct mcp_client *client, const struct mcp_installation *installation,
                  const char *text, GError **error)
{
  if (installation->url && !client->secret) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_INVALID,
        "the file of %s names programs only, no URLs: leave --url out, or add the URL as a connector there",
        client->title);
    return NULL;
  }
  g_autoptr (json_t) entry =
      installation->url ? url_entry (client, installation) : program_entry (client, installation);
  if (client->is_toml)
    return config_merge_toml (text, client->key, installation->name, entry, error);
  g_autofree char *with_input = NULL;
  if (installation->url && client->asks) {
    g_autoptr (json_t) input = json_pack ("{s:s, s:s, s:s, s:b}", "type", "promptString", "id", TOKEN_INPUT,
                                          "description", "Token of Adder", "password", TRUE);
    if (!(with_input = config_merge_json_item (text, "inputs", "id", input, error)))
      return NULL;
    text = with_input;
  }
  return config_merge_json (text, client->key, installation->name, entry, error);
}
