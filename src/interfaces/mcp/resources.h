/* SPDX-License-Identifier: Apache-2.0 */
/* The URIs of resources. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/mcp/mcp.h"

#define RESOURCE_FILES    "adder://files/"
#define RESOURCE_RESULTS  "adder://results/"
#define RESOURCE_SESSIONS "adder://sessions/"
#define RESOURCE_PROMPT   "adder://prompt"

/* The caller's. */
char *resource_file_uri (const char *file_id);
char *resource_session_uri (const char *session_id);

/* The file FILE_ID of REQUEST's owner, {uri, mimeType, text or blob}, if it is no longer than MOST bytes;
 * *RET_FILE (may be NULL): its description (docs/files.md), even if it is longer. Both the caller's. NULL
 * with ERROR; NULL without: it is longer. */
json_t *resource_file_contents (struct mcp_request *request, const char *file_id, guint64 most,
                                json_t **ret_file, GError **error);

/* Ids of REQUEST's files and sessions that, or whose names, begin with VALUE: texts, the caller's. NAMES: for
 * sessions, their names if they have one. */
json_t *resource_complete_files (struct mcp_request *request, const char *value);
json_t *resource_complete_sessions (struct mcp_request *request, const char *value);
