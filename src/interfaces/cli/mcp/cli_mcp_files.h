/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a client's model names by path, opened by the process that the client started. They must be in
 * the client's roots, if it has any, else in the current directory. It reads roots from the client's messages
 * itself, so that the daemon, which may be another user's, cannot make it open anything else. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct cli_mcp_files;

struct cli_mcp_files *cli_mcp_files_new (void);
/* Ends it; a thread blocked by a file system is left behind. */
void cli_mcp_files_free (struct cli_mcp_files *files);

/* Answers the packets (interfaces/mcp/local_files.h) from the other end of the returned channel, the
 * caller's, and no longer those of the previous channel. -1 with ERROR. */
int cli_mcp_files_connect (struct cli_mcp_files *files, GError **error);

/* Takes a MESSAGE of the client (any JSON, or NULL): before the daemon gets it, and can ask. */
void cli_mcp_files_hear (struct cli_mcp_files *files, const json_t *message);
