/* SPDX-License-Identifier: Apache-2.0 */
/* MCP on the local socket. MCP and its ANSWER, {}:
 *
 *     toolset       text or null   whose tools are shown
 *     role          text or null
 *     read_only     bool
 *     conversation  text or null   of calls that name none
 *     directory     text or null   where the caller works; its descriptor comes along
 *     variables     {...} or null  of their environment, texts by name
 *     python        text or null   the interpreter of their own environment
 *     files         bool           the last descriptor is the channel of mcp/local_files.h
 *     links, structured, output_schema   words: what of a reply they are sent (mcp/output.h)
 *
 * Each may be left out. After the answer the connection carries the lines of MCP both ways, until the client
 * ends its half of it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/mcp/mcp.h"

/* The caller that QUESTION means, who is OWNER. Of the COUNT descriptors FDS, which are the directory's and
 * the channel's as far as QUESTION has them, those that are used are taken. NULL with ERROR where it is no
 * such question. The caller's. */
struct mcp_caller *server_mcp_caller (const struct config *config, const char *owner, const json_t *question,
                                      int *fds, gsize count, GError **error);
