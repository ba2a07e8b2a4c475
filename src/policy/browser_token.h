/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of browsers, which act as an account of this machine: made when a one-time code is exchanged, and
 * kept with the others, so that they are listed and revoked as others are. */
#pragma once

#include <glib.h>

#include "policy/token_place.h"

#define BROWSER_TOKEN_PREFIX "browser-"
#define BROWSER_TOKENS_MAX   64 /* of an account; one more replaces the oldest */

/* Adds a token to PLACE that acts as ACCOUNT ("uid:1000") and expires at EXPIRES_MS (since 1970).
 * Expired ones of browsers are removed, and the one with the secret REPLACED, if a browser has that (may be
 * NULL). The new secret is the caller's; NULL with ERROR. */
char *browser_token_make (const struct token_place *place, const char *account, gint64 expires_ms,
                          const char *replaced, GError **error);

/* Removes the browser's token with SECRET from PLACE; other tokens stay. *RET_FOUND: there was one.
 * FALSE with ERROR. */
gboolean browser_token_end (const struct token_place *place, const char *secret, gboolean *ret_found,
                            GError **error);
