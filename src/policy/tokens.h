/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens as a daemon sees them: which one was shown, and what it may. The file (tokens_file.h) is read
 * again when it has changed. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "policy/principal.h"

struct tokens;

/* NULL with ERROR where it is not known which file it is. CONFIG must outlive it. */
struct tokens *tokens_new (const struct config *config, GError **error);
/* FALSE with ERROR when the file is there and cannot be trusted or read: others may read it, it is somebody
 * else's, it has what is not understood. */
gboolean tokens_check (struct tokens *tokens, GError **error);
/* NULL is allowed. */
void tokens_free (struct tokens *tokens);

/* How many there are that have not expired; 0 as well where the file cannot be read. */
guint tokens_count (struct tokens *tokens);

/* Who has the token SECRET: a reference of the caller's. From any thread. Without *RET_EXPIRED and ERROR set,
 * NULL is a token that there is not; ERROR is set when the file has become one that cannot be trusted: then
 * no token is good. */
struct principal *tokens_find (struct tokens *tokens, const char *secret, gboolean *ret_expired,
                               GError **error);
