/* SPDX-License-Identifier: Apache-2.0 */
/* Local files that a client on standard input and output names by path.
 *
 * The daemon opens none of them: the process that the client started does (cli_mcp_files.c), which knows what
 * the client allows. The two use a channel of their own, a pair of SOCK_SEQPACKET sockets of which the daemon
 * gets one end when MCP begins. For each file it sends a packet there, with one end of another such pair,
 * which carries only this answer: a file that takes long to open delays no other, and an answer that came too
 * late is dropped.
 *
 *     {"path": text} with the socket for the answer
 *     {"name": text} with its descriptor, which can only be read; or {"error": text} */
#pragma once

#include "interfaces/mcp/mcp.h"

#define LOCAL_FILES_PATH   4096  /* bytes of a path at most, and so of a name */
#define LOCAL_FILES_PACKET 32768 /* of a packet: JSON may need six bytes for one */

/* The files of one call. */
struct mcp_local_files {
  struct tool_file *files;
  gsize count;
};

/* Opens the paths in the member "files" of ARGUMENTS, and puts the files into CALLER. First asks the client
 * for its roots, if it has any. FALSE: a reply to REQUEST was made, or ERROR. In each case
 * mcp_local_files_clear follows. */
gboolean mcp_local_files_take (struct mcp_request *request, const json_t *arguments,
                               struct mcp_local_files *files, struct tool_caller *caller, GError **error);
/* Whether REQUEST's client has a process that opens local files. */
gboolean mcp_local_files_are_open (const struct mcp_request *request);
void mcp_local_files_clear (struct mcp_local_files *files);
