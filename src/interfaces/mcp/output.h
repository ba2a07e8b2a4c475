/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a reply a client gets: as it requests, else by its known name, else everything in its
 * protocol version. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* How files are presented. The first two add links to the text. */
enum mcp_links {
  MCP_LINKS_ANY,       /* not said */
  MCP_LINKS_RESOURCES, /* adder://files/ID */
  MCP_LINKS_HTTP,      /* signed URLs, where [store] url says how they begin; else as text */
  MCP_LINKS_TEXT,      /* their ids, in the text alone */
  MCP_LINKS_NONE,      /* their names */
};

struct mcp_output {
  enum mcp_links links;
  gboolean structured; /* structuredContent, and schemas of it */
  gboolean schemas;    /* outputSchema of tools */
};

/* clang-format off */
/* A client's options: fields of a query, and of a question on the local socket. */
#define MCP_OUTPUT_FIELDS \
  {.name = "links", .types = FIELD_TEXT, .optional = TRUE, \
   .words = FIELD_WORDS ("resources", "http", "text", "none"), \
   .text = "How replies name files: links to resources, links over HTTP, ids in the text, or names alone."}, \
  {.name = "structured", .types = FIELD_TEXT, .optional = TRUE, .words = FIELD_WORDS ("on", "off"), \
   .text = "Whether replies have structuredContent, and tools an outputSchema."}, \
  {.name = "output_schema", .types = FIELD_TEXT, .optional = TRUE, .words = FIELD_WORDS ("on", "off"), \
   .text = "Whether tools have an outputSchema."}
/* clang-format on */

/* Stores in CALLER the options in ASKED, a checked object of those fields. */
void mcp_output_ask (struct mcp_caller *caller, const json_t *asked);

/* What REQUEST's client gets. */
struct mcp_output mcp_output_of (const struct mcp_request *request);
