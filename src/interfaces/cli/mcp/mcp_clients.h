/* SPDX-License-Identifier: Apache-2.0 */
/* The MCP clients whose configuration `adder mcp install` writes: where it is, and how it describes a
 * server. */
#pragma once

#include <glib.h>
#include <jansson.h>

enum mcp_client_place { MCP_CLIENT_HOME, MCP_CLIENT_CONFIG };

struct mcp_client {
  const char *name;  /* "vscode" */
  const char *title; /* "VS Code" */
  gboolean is_toml;
  const char *key; /* the key for servers: "mcpServers" */
  enum mcp_client_place place;
  const char *variable;     /* of the environment: an alternative directory for the file; NULL: none */
  const char *user_file;    /* below the place */
  const char *bare_file;    /* below the directory of the variable */
  const char *project_file; /* below the project's directory; NULL: it has none */
  gboolean says_type;       /* "type": "stdio" or "http" stands in an entry */
  const char *secret;       /* the token's form, as a header or a member of its own; NULL: no URLs */
  gboolean asks;            /* the client asks for the token once, and keeps it */
  const char *after;        /* what a person has to do then */
};

/* Ends with a row without a name. */
extern const struct mcp_client mcp_clients[];

/* Their names, with commas between them; the caller's. */
char *mcp_client_names (void);

/* NULL with ERROR, which lists them. */
const struct mcp_client *mcp_client_find (const char *name, GError **error);

/* The file, for all of the user's projects or for the one in the current directory. The caller's. */
char *mcp_client_file (const struct mcp_client *client, gboolean project, GError **error);

struct mcp_installation {
  const char *name;      /* of the entry */
  const char *program;   /* that is started */
  const char *toolset;   /* NULL: as the program has it */
  const char *url;       /* of the server over HTTP, in place of the program; or NULL */
  const json_t *setting; /* variables of the environment that the program needs; NULL: none */
};

/* TEXT, the file as it is (NULL: missing), with the entry. The caller's. */
char *mcp_client_merge (const struct mcp_client *client, const struct mcp_installation *installation,
                        const char *text, GError **error);
