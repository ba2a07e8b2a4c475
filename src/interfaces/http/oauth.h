/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of an authorization server, if [oauth] names one: a resource server as in RFC 9728 and RFC 6750,
 * which asks about each token (RFC 7662) and caches the answer for seconds. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "policy/principal.h"

struct oauth;

/* *RET_OAUTH is NULL if [oauth] names no issuer. ADDER_ERROR_INVALID: inconsistent settings, a secret that
 * others may read. CONFIG must outlive it. */
gboolean oauth_new (const struct config *config, struct oauth **ret_oauth, GError **error);
/* NULL is allowed. */
void oauth_free (struct oauth *oauth);

enum oauth_answer {
  OAUTH_KNOWN,
  OAUTH_UNKNOWN,     /* invalid, expired, or for another audience */
  OAUTH_NO_SCOPE,    /* valid, but without rights here */
  OAUTH_NOT_ASKED,   /* nothing is cached, and ASK was FALSE */
  OAUTH_UNREACHABLE, /* the server did not answer, or too many questions are pending */
};
/* The holder of the token SECRET: *RET_WHO is a reference of the caller's, for OAUTH_KNOWN. ASK: the server
 * may be asked. From any thread. */
enum oauth_answer oauth_find (struct oauth *oauth, const char *secret, gboolean ask,
                              struct principal **ret_who);

/* The scopes that each grant at least ROLE, separated by blanks. The caller's. */
char *oauth_scopes_for (const struct config *config, enum role role);

/* The URL of the document for the resource of the request path PATH ("/mcp", or the whole server). The
 * caller's; NULL if [oauth] names no issuer. */
char *oauth_document_url (const struct config *config, const char *path);
/* That document, for the whole server (SUFFIX "") or a part ("/mcp"). The caller's; NULL likewise. */
json_t *oauth_document (const struct config *config, const char *suffix);

/* ---- its parts, for tests ---- */

/* What an authorization server's answer TEXT (RFC 7662) says of a token now. *RET_UNTIL_MS: when it expires
 * (0: not given), for OAUTH_KNOWN and OAUTH_NO_SCOPE. */
enum oauth_answer oauth_judge (const struct config *config, const char *text, gsize length, gint64 now_ms,
                               struct principal **ret_who, gint64 *ret_until_ms);
