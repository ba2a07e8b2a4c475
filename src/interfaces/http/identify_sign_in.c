/* SPDX-License-Identifier: Apache-2.0 */
/* Browsers: their cookie, and how they get it and lose it. The cookie's value is a token's secret, so what
 * its holder may do, and until when, is what the token says at each request. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/peer_tcp.h"
#include "interfaces/http/identify_cookie.h"
#include "interfaces/http/identify_private.h"
#include "policy/browser_token.h"

#define REPLACED_MAX 1024

/* ---- the cookie ---- */

static struct cookie_request
cookie_request_of (const struct identify *identify, const struct identify_facts *facts)
{
  return (struct cookie_request){
      .method = facts->method,
      .origin = browser_origin (facts->origin, facts->host, facts->tls, identify->config->http_origins),
      .fetch_site = facts->fetch_site,
      .fetch_mode = facts->fetch_mode,
  };
}

gboolean
identify_cookie_counts (const struct identify *identify, const struct identify_facts *facts)
{
  const struct cookie_request request = cookie_request_of (identify, facts);
  return cookie_counts (&request);
}

char *
identify_cookie (const struct identify *identify, const struct identify_facts *facts)
{
  if (!facts->cookies || !identify_cookie_counts (identify, facts))
    return NULL;
  g_autofree char *name = cookie_name (facts->host, facts->tls);
  return cookie_find (facts->cookies, name);
}

/* A page of another origin must not sign its visitor in, as somebody else, or out. Programs say nothing of
 * pages. */
static gboolean
check_own_page (const struct identify *identify, const struct identify_facts *facts,
                struct identity *identity)
{
  if (identify_cookie_counts (identify, facts) || (!facts->fetch_site && !facts->origin))
    return TRUE;
  return identify_refuse (identity, 403, ADDER_ERROR_REFUSED,
                          "only this server's own pages sign in and out here");
}

/* ---- the account ---- */

gboolean
identify_is_of_account (const struct identify_facts *facts, const char *account)
{
  struct identify_peer own = {0}, *peer = facts->peer ? facts->peer : &own;
  if (!peer->looked)
    peer->result = peer_tcp_look (facts->fd, &peer->uid);
  peer->looked = peer->result == 0;
  if (peer->result != 0)
    return peer->result == -EHOSTUNREACH || peer->result == -EAFNOSUPPORT;
  g_autofree char *name = g_strdup_printf ("uid:%u", (unsigned)peer->uid);
  return peer->uid == 0 || peer->uid == geteuid () || strcmp (name, account) == 0;
}

/* ---- signing in ---- */

char *
identify_new_code (struct identify *identify, const char *account, GError **error)
{
  return sign_in_codes_make (identify->codes, account, g_get_monotonic_time (), error);
}

/* Until the token ends, and no longer than configured. */
static gint64
cookie_age_s (const struct identify *identify, const struct principal *who)
{
  gint64 age_ms = (gint64)identify->config->http_sign_in_ms;
  if (who->expires_ms > 0)
    age_ms = MIN (age_ms, who->expires_ms - g_get_real_time () / 1000);
  return MAX (age_ms / 1000, 1);
}

static gboolean
sign_in_with (struct identify *identify, const struct identify_facts *facts, char *secret,
              struct sign_in *ret_sign_in, struct identity *identity)
{
  if (!identify_secret (identify, facts, secret, identity)) {
    g_free (secret);
    return FALSE;
  }
  *ret_sign_in = (struct sign_in){secret, cookie_age_s (identify, identity->who)};
  return TRUE;
}

/* Whether SECRET is that of a token made for a browser, of ACCOUNT (NULL: of any). */
static gboolean
is_of_browser (struct identify *identify, const struct identify_facts *facts, const char *secret,
               const char *account)
{
  gboolean expired;
  guint wait_s;
  struct principal *who =
      tokens_find (identify->tokens, secret, identify_may_ask (identify, facts, &wait_s), &expired, NULL);
  gboolean is_browser = who && who->is_browser && (!account || strcmp (who->owner, account) == 0);
  principal_unref (who);
  return is_browser;
}

/* The token with DIGEST is replaced by the one with the digest BY. "": that is being made. NULL: none was. */
static void
note_replaced (struct identify *identify, const char *digest, const char *by)
{
  g_mutex_lock (&identify->lock);
  if (g_hash_table_size (identify->replaced) >= REPLACED_MAX)
    g_hash_table_remove_all (identify->replaced);
  if (by)
    g_hash_table_insert (identify->replaced, g_strdup (digest), g_strdup (by));
  else
    g_hash_table_remove (identify->replaced, digest);
  g_mutex_unlock (&identify->lock);
}

/* Follows those that were replaced again; each has a newer one, so there is no circle. */
gboolean
identify_is_replaced (struct identify *identify, const char *digest)
{
  g_mutex_lock (&identify->lock);
  const char *now = NULL;
  for (const char *next = digest; (next = g_hash_table_lookup (identify->replaced, next));)
    now = next;
  g_autofree char *last = g_strdup (now);
  g_mutex_unlock (&identify->lock);
  return last && (!*last || tokens_has (identify->tokens, last));
}

/* PROBLEM is the server's, not the caller's. */
static gboolean
identify_fail (struct identity *identity, const GError *problem)
{
  gboolean is_away = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  return identify_refuse (identity, is_away ? 503 : 500,
                          is_away ? ADDER_ERROR_UNAVAILABLE : ADDER_ERROR_FAILED, "%s",
                          store_told ("", problem));
}

/* A new token for ACCOUNT, in place of the one that this browser may have. What its pages began with that
 * goes on, for as long as the new one is valid. */
static char *
make_browser_token (struct identify *identify, const struct identify_facts *facts, const char *account,
                    GError **error)
{
  g_autofree char *before = identify_cookie (identify, facts);
  g_autofree char *digest =
      before && is_of_browser (identify, facts, before, account) ? token_digest (before) : NULL;
  gint64 expires_ms = g_get_real_time () / 1000 + (gint64)identify->config->http_sign_in_ms;
  /* Before the file changes, which others look at then. */
  if (digest)
    note_replaced (identify, digest, "");
  char *secret = browser_token_make (identify->place, account, expires_ms, before, error);
  g_autofree char *by = secret ? token_digest (secret) : NULL;
  if (digest)
    note_replaced (identify, digest, by);
  return secret;
}

gboolean
identify_exchange_code (struct identify *identify, const struct identify_facts *facts, const char *code,
                        struct sign_in *ret_sign_in, struct identity *ret_identity)
{
  g_autoptr (GError) problem = NULL;
  *ret_identity = (struct identity){.identify = identify};
  if (!check_own_page (identify, facts, ret_identity))
    return FALSE;
  g_autofree char *account = sign_in_codes_take (identify->codes, code, g_get_monotonic_time (), &problem);
  if (problem)
    return identify_fail (ret_identity, problem);
  if (!account)
    return identify_refuse_token (identify, facts, ret_identity,
                                  "the code is not valid: it works once, within a minute; adder open makes "
                                  "another");
  if (!identify_is_of_account (facts, account))
    return identify_refuse_token (identify, facts, ret_identity,
                                  "the code is for a browser of the account that called adder open");
  char *secret = make_browser_token (identify, facts, account, &problem);
  if (!secret)
    return identify_fail (ret_identity, problem);
  return sign_in_with (identify, facts, secret, ret_sign_in, ret_identity);
}

gboolean
identify_take_token (struct identify *identify, const struct identify_facts *facts, const char *token,
                     struct sign_in *ret_sign_in, struct identity *ret_identity)
{
  *ret_identity = (struct identity){.identify = identify};
  if (!check_own_page (identify, facts, ret_identity))
    return FALSE;
  if (!browser_is_secret (token))
    return identify_refuse_token (identify, facts, ret_identity, "this is not the form of a token");
  if (!cookie_may_hold (token))
    return identify_refuse (ret_identity, 400, ADDER_ERROR_INVALID,
                            "the token is longer than a cookie can be: %d characters", COOKIE_SECRET_MAX);
  return sign_in_with (identify, facts, g_strdup (token), ret_sign_in, ret_identity);
}

gboolean
identify_sign_out (struct identify *identify, const struct identify_facts *facts, struct identity *identity)
{
  g_autoptr (GError) problem = NULL;
  *identity = (struct identity){.identify = identify};
  if (!check_own_page (identify, facts, identity))
    return FALSE;
  g_autofree char *secret = identify_cookie (identify, facts);
  gboolean found = FALSE;
  /* Something is written for those alone whose token is known. */
  if (!secret || !is_of_browser (identify, facts, secret, NULL))
    return TRUE;
  return browser_token_end (identify->place, secret, &found, &problem) || identify_fail (identity, problem);
}
