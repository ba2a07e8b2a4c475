/* SPDX-License-Identifier: Apache-2.0 */
/* A program as the first process of a container. */
#pragma once

#include <glib.h>

/* Where the calling process is the first one of its pid namespace, the rest of the program goes on in a
 * child, and FALSE is returned there. The caller itself only passes signals on to the child and reaps what
 * others leave, until the child has ended: then it returns TRUE, and in *RET_CODE what to exit with.
 * Elsewhere it does nothing and returns FALSE. To be called before the first thread. */
gboolean first_process_wait (int *ret_code);

/* Whether the parent of this process is one that waits so. */
gboolean first_process_is_parent (void);
