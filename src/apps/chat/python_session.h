/* SPDX-License-Identifier: Apache-2.0 */
/* The Python session of a chat's conversation, as far as the replies of the toolset `assistant` tell of it.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

struct python_session {
  char *status;     /* "🐍 [session active, 3 vars]"; NULL: there is none */
  GPtrArray *cells; /* what was run in it by this chat: texts "[cell 3]" and code after it */
};
void python_session_init (struct python_session *session);
void python_session_clear (struct python_session *session);

/* Takes note of the reply RESULT of the tool NAME, called with ARGUMENTS. */
void python_session_see (struct python_session *session, const char *name, const json_t *arguments,
                         const char *result, gboolean is_error);

/* How many bytes at the beginning of RESULT the code itself wrote: without the last line where it tells of
 * the cell, which *RET_LINE is then (the caller's; else NULL), and without what the loop says after it of at
 * most PICTURES pictures. */
gsize python_session_split (const char *result, gsize pictures, char **ret_line);

/* From the list that python_variables replies with; NULL: there is no session. */
void python_session_count (struct python_session *session, const char *variables);
