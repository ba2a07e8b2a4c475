/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a cluster: rows of the database that its daemons share, the same content as the file of
 * tokens has. Each change gives them another revision, by which daemons see that they have to read them
 * again. A row that this version does not understand, since a newer one wrote it, is nobody's token here and
 * stays as it is. */
#pragma once

#include <glib.h>

#include "policy/tokens_file.h"
#include "store/database.h"

/* Whether the daemons of CONFIG share their tokens: they are in a cluster, whose records are in PostgreSQL.
 */
gboolean tokens_table_is_used (const struct config *config);

/* The tokens, as tokens_file_read has them, and their *RET_REVISION, the caller's. NULL without ERROR: the
 * revision is KNOWN (NULL: none is) still, which *RET_REVISION is then. */
GPtrArray *tokens_table_read (struct database *database, const char *known, char **ret_revision,
                              GError **error);

/* As tokens_file_change, for the tokens of the table; CHANGE is called once and sees those of OTHERS (NULL:
 * none) as well, which it may remove: they are copies. One that it adds becomes a row. */
gboolean tokens_table_change (struct database *database, const GPtrArray *others,
                              gboolean (*change) (GPtrArray *tokens, gpointer data, GError **error),
                              gpointer data, GPtrArray **ret_tokens, GError **error);

/* How often this process has changed the table: what it knows of that is out of date after another one. */
gint tokens_table_changes (void);
