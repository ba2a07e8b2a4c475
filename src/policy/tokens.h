/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens for a daemon: which one was presented, and its rights. The file (tokens_file.h) is reread
 * when it has changed, and so are those that the daemons of a cluster share (tokens_table.h): within half a
 * second after another daemon has changed them. While their database is away, those that were read last are
 * valid for [http] tokens_away_ms. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "policy/principal.h"
#include "store/store.h"

struct tokens;

/* STORE: where those of a cluster are; NULL: they are unknown. NULL with ERROR if the file's path cannot be
 * determined. CONFIG must outlive it. */
struct tokens *tokens_new (const struct config *config, struct store *store, GError **error);
/* CHANGED is called, in another thread, after those of a cluster have changed. Once. */
void tokens_watch (struct tokens *tokens, void (*changed) (gpointer data), gpointer data);
/* FALSE with ERROR when the file exists and is untrustworthy or unreadable: others may read it, it belongs to
 * somebody else, or it has unknown contents. */
gboolean tokens_check (struct tokens *tokens, GError **error);
/* NULL is allowed. */
void tokens_free (struct tokens *tokens);

/* The number of unexpired tokens, without those of browsers; 0 as well if the file cannot be read, and at
 * least 1 if those of a cluster cannot. */
guint tokens_count (struct tokens *tokens);

/* The holder of the token SECRET: a reference of the caller's. From any thread. MAY_ASK: whether the database
 * of a cluster may be asked for one that was not known before. NULL without *RET_EXPIRED and ERROR: an
 * unknown token; ERROR is set when the file has become untrustworthy, and when the database does not answer:
 * then it is not known whether the token is valid. */
struct principal *tokens_find (struct tokens *tokens, const char *secret, gboolean may_ask,
                               gboolean *ret_expired, GError **error);

/* Whether a token whose secret has DIGEST is valid still. From any thread. TRUE as well while the file is
 * untrustworthy or the database away: what they will say is unknown. */
gboolean tokens_has (struct tokens *tokens, const char *digest);
