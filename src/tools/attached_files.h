/* SPDX-License-Identifier: Apache-2.0 */
/* Stored files that a caller loaded: they are in /tmp of the runs that follow, all those of their
 * conversation; without a conversation of the next one alone; of a session from its next cell on. */
#pragma once

#include "tools/call.h"

/* Loads the caller's stored file FILE_ID for runs in SESSION (NULL: in none), which need not be there yet.
 * *RET_NAME, the caller's, is
 * what it is called in /tmp. Another of that name is no longer loaded. */
gboolean attached_files_add (struct call *call, const char *session, const char *file_id, char **ret_name,
                             GError **error);

/* {name: file_id} of those that are loaded for runs in SESSION (NULL: in none). The caller's. */
json_t *attached_files_list (struct call *call, const char *session);

/* Has REQUEST, a run in SESSION (NULL: in none), the files that were loaded for it. Those that are no longer
 * stored are forgotten. */
gboolean attached_files_put (struct call *call, const char *session, AdderRequest *request, GError **error);

/* The code of that run ran: what was loaded for one run is not for the next. */
void attached_files_end (struct call *call);
