/* SPDX-License-Identifier: Apache-2.0 */
/* Who writes to a store, and which of them are alive: each holds a lock on a file of its name, which the
 * kernel releases when it is killed. */
#pragma once

#include <glib.h>

struct writers;

/* NODE: this machine's name. */
struct writers *writers_new (const char *node);
/* What was shown goes. NULL is allowed. */
void writers_free (struct writers *writers);

/* This one: "NODE/UUID", and once it was shown where not all are, "NODE/PLACE/UUID". */
const char *writers_own (const struct writers *writers);

/* Makes this writer visible to others in FOLDER. ALL_HERE: all writers to the store use it, whatever their
 * machine was called then; otherwise there are other folders, of other machines and users. */
gboolean writers_show (struct writers *writers, const char *folder, gboolean all_here, GError **error);

/* Whether WRITER lives; TRUE if unknown. */
gboolean writers_is_alive (struct writers *writers, const char *writer);

/* Removes what killed writers left. */
gboolean writers_sweep (struct writers *writers, GError **error);
