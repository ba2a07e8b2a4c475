/* SPDX-License-Identifier: Apache-2.0 */
/* What tools that work in the caller's directory get of this process: the directory, and those of its
 * variables that their profile lets pass. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/table.h"

struct surroundings {
  int fd; /* -1: nothing; the tool is none of these */
  char *path;
  json_t *variables;
};
#define SURROUNDINGS_NONE                                                                                    \
  {                                                                                                          \
    .fd = -1                                                                                                 \
  }
void surroundings_clear (struct surroundings *surroundings);

/* Those of TOOL as tool_find has it in TOOLSET (NULL: as it decides); TOOL NULL: of the toolset's tools. */
gboolean surroundings_take (struct surroundings *surroundings, const char *toolset, const char *tool,
                            GError **error);
