/* SPDX-License-Identifier: Apache-2.0 */
/* What tools that work in the caller's directory get from this process: the directory, the variables that
 * their profile allows, and the interpreter of the active environment. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/table.h"

struct caller_context {
  int fd; /* -1: none; the tool does not work there */
  char *path;
  json_t *variables;
  char *python; /* an absolute path, or NULL: none is active */
};
#define CALLER_CONTEXT_NONE                                                                                  \
  {                                                                                                          \
    .fd = -1                                                                                                 \
  }
void caller_context_clear (struct caller_context *context);

/* The interpreter of VIRTUAL_ENV, else of CONDA_PREFIX, even if missing; else the one on PATH, unless it is
 * the system's own or a program that selects one. The caller's, or NULL. */
char *caller_context_find_python (void);

/* Those for TOOL as tool_find resolves it in TOOLSET (NULL: it decides); TOOL NULL: for the toolset's
 * tools. */
gboolean caller_context_take (struct caller_context *context, const char *toolset, const char *tool,
                              GError **error);
