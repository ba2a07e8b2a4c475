/* SPDX-License-Identifier: Apache-2.0 */
/* Where tokens are: in the file, and in a cluster in the database that its daemons share as well
 * (tokens_table.h). Those of both count. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "policy/tokens_file.h"
#include "store/store.h"

struct token_place;

/* STORE: the daemon's; NULL: its own connection is opened where it is needed. NULL with ERROR. */
struct token_place *token_place_new (const struct config *config, struct store *store, GError **error);
void token_place_free (struct token_place *place); /* NULL is allowed */
typedef struct token_place token_place_auto;       /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (token_place_auto, token_place_free)

/* As tokens_file_read and tokens_file_change. What CHANGE adds is every daemon's where they share tokens.
 * ADDER_ERROR_UNAVAILABLE: their database does not answer. */
GPtrArray *token_place_read (const struct token_place *place, GError **error);
gboolean token_place_change (const struct token_place *place,
                             gboolean (*change) (GPtrArray *tokens, gpointer data, GError **error),
                             gpointer data, GError **error);
