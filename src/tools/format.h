/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of tools for those who offer them to a model. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/table.h"

/* Selects the tools for which it returns TRUE. */
typedef gboolean (*tool_filter) (const struct toolset *toolset, const struct tool *tool, void *data);

enum tool_format {
  TOOL_FORMAT_LIST,       /* a line for each, for people */
  TOOL_FORMAT_MCP,        /* the array "tools" of a tools/list result */
  TOOL_FORMAT_OPENAI,     /* the array "tools" of a chat completion */
  TOOL_FORMAT_ANTHROPIC,  /* the array "tools" of a message */
  TOOL_FORMAT_MARKDOWN,   /* documentation */
  TOOL_FORMAT_OPERATIONS, /* documentation of the operations behind tools and all other interfaces */
};

/* ADDER_ERROR_INVALID lists the formats. */
gboolean tool_format_parse (const char *text, enum tool_format *ret_format, GError **error);

/* One tool of a JSON format, with DESCRIPTION (installed.h). The caller's. */
json_t *tool_describe (const struct tool *tool, enum tool_format format, const char *description);

/* The same for MCP, as short as possible, for a list of basic tools. The caller's. */
json_t *tool_describe_basic (const struct tool *tool, const char *description);

/* A line of LIST: toolset, name, role, title. */
#define TOOL_LINE "%-14s %-24s %-6s %s"

/* Appends TOOLSET in the format LIST or MARKDOWN to TEXT. */
void tool_write (GString *text, const struct toolset *toolset, enum tool_format format, tool_filter filter,
                 void *data);

/* Appends docs/operations.md to TEXT. */
void tool_write_operations (GString *text);

/* The paragraphs of the system prompt that describe the tools to a model. Empty without tools. The
 * caller's. */
char *tool_prompt (const struct toolset *toolset, tool_filter filter, void *data);
