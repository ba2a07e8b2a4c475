/* SPDX-License-Identifier: Apache-2.0 */
/* What tools that work in the caller's directory get of this process: the directory, those of its variables
 * that their profile lets pass, and the interpreter of the environment that is active in it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/table.h"

struct caller_context {
  int fd; /* -1: nothing; the tool is none of these */
  char *path;
  json_t *variables;
  char *python; /* an absolute path, or NULL: none is active */
};
#define CALLER_CONTEXT_NONE                                                                                  \
  {                                                                                                          \
    .fd = -1                                                                                                 \
  }
void caller_context_clear (struct caller_context *context);

/* The interpreter of VIRTUAL_ENV, else of CONDA_PREFIX, be it there or not; else the one on PATH, unless that
 * is the system's own or a program that finds one. The caller's, or NULL. */
char *caller_context_find_python (void);

/* Those of TOOL as tool_find has it in TOOLSET (NULL: as it decides); TOOL NULL: of the toolset's tools. */
gboolean caller_context_take (struct caller_context *context, const char *toolset, const char *tool,
                              GError **error);
