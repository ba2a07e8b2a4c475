/* SPDX-License-Identifier: Apache-2.0 */
/* MCP between a client on standard input and output and a server on a socket. */
#pragma once

#include <glib.h>

#include "interfaces/cli/mcp/cli_mcp_files.h"

/* A socket on which lines of MCP go both ways, the caller's; -1 with ERROR. */
typedef int (*cli_mcp_connect) (gpointer data, GError **error);

/* Relays messages until the client has ended its input and has its answers. CONNECT is called at the
 * beginning, and whenever the client sends something after the other end has hung up. FILES sees the client's
 * messages. FALSE with ERROR: the first connection failed, or nobody reads standard output. */
gboolean cli_mcp_relay (cli_mcp_connect connect, gpointer data, struct cli_mcp_files *files, GError **error);
