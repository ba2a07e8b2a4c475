/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a client's model names by their paths, opened by the process that the client started.
 *
 * What it may open lies in the client's roots, where the client has some, else in the current directory. It
 * hears of roots by itself, in what the client says, so that the daemon, which may be another user's, cannot
 * have it open anything else. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct cli_mcp_files;

struct cli_mcp_files *cli_mcp_files_new (void);
/* Ends it; a thread that waits for a file system is left behind. */
void cli_mcp_files_free (struct cli_mcp_files *files);

/* Answers the packets (interfaces/mcp/local_files.h) that come on the other end of the channel that is
 * returned, the caller's, and no more those of the channel before it. -1 with ERROR. */
int cli_mcp_files_connect (struct cli_mcp_files *files, GError **error);

/* Takes in MESSAGE (any JSON, or NULL), which the client said: before the daemon hears it, and can ask. */
void cli_mcp_files_hear (struct cli_mcp_files *files, const json_t *message);
