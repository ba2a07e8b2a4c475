/* SPDX-License-Identifier: Apache-2.0 */
/* Stored files that a caller loaded into /tmp of later runs: all those of their conversation; without a
 * conversation only the next one; in a session from its next cell on. */
#pragma once

#include "tools/call.h"

/* Loads the caller's stored file FILE_ID for runs in SESSION (NULL: in none), which need not exist yet.
 * *RET_NAME, the caller's, is its name in /tmp. It replaces another file of that name. */
gboolean attached_files_add (struct call *call, const char *session, const char *file_id, char **ret_name,
                             GError **error);

/* {name: file_id} of the files loaded for runs in SESSION (NULL: in none). The caller's. */
json_t *attached_files_list (struct call *call, const char *session);

/* Gives REQUEST, a run in SESSION (NULL: in none), the files loaded for it. Those no longer stored are
 * forgotten. */
gboolean attached_files_put (struct call *call, const char *session, AdderRequest *request, GError **error);

/* The code of that run ran: files loaded for one run are not for the next. */
void attached_files_end (struct call *call);
