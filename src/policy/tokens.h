/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens for a daemon: which one was presented, and its rights. The file (tokens_file.h) is reread
 * when it has changed. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "policy/principal.h"

struct tokens;

/* NULL with ERROR if the file's path cannot be determined. CONFIG must outlive it. */
struct tokens *tokens_new (const struct config *config, GError **error);
/* FALSE with ERROR when the file exists and is untrustworthy or unreadable: others may read it, it belongs to
 * somebody else, or it has unknown contents. */
gboolean tokens_check (struct tokens *tokens, GError **error);
/* NULL is allowed. */
void tokens_free (struct tokens *tokens);

/* The number of unexpired tokens, without those of browsers; 0 as well if the file cannot be read. */
guint tokens_count (struct tokens *tokens);

/* The holder of the token SECRET: a reference of the caller's. From any thread. NULL without *RET_EXPIRED and
 * ERROR: an unknown token; ERROR is set when the file has become untrustworthy: then no token is valid. */
struct principal *tokens_find (struct tokens *tokens, const char *secret, gboolean *ret_expired,
                               GError **error);

/* Whether a token whose secret has DIGEST is valid still. From any thread. TRUE as well while the file is
 * untrustworthy: what it will say is unknown. */
gboolean tokens_has (struct tokens *tokens, const char *digest);
