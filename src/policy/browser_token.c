/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of browsers. */
#include "policy/browser_token.h"

#include <string.h>

#define ID_DIGITS 10 /* of the digest; enough to tell apart what a person sees in a list */

/* What a change needs. */
struct browser_change {
  struct token *token; /* to add, taken from there; NULL: none */
  char *ended;         /* the digest of the one that ends; NULL: none */
  gboolean found;      /* it was there */
};

static gboolean
is_browser_token (const struct token *token)
{
  return token->account && g_str_has_prefix (token->name, BROWSER_TOKEN_PREFIX);
}

static void
remove_ended (GPtrArray *tokens, struct browser_change *change)
{
  for (guint i = tokens->len; i-- > 0;) {
    const struct token *token = tokens->pdata[i];
    gboolean ended = change->ended && strcmp (token->digest, change->ended) == 0;
    if (!is_browser_token (token) || !(ended || token_has_expired (token)))
      continue;
    change->found = change->found || ended;
    g_ptr_array_remove_index (tokens, i);
  }
}

/* The oldest browser's token of ACCOUNT if there are BROWSER_TOKENS_MAX; else NULL. */
static struct token *
surplus_token (const GPtrArray *tokens, const char *account)
{
  struct token *oldest = NULL;
  guint count = 0;
  for (guint i = 0; i < tokens->len; i++) {
    struct token *token = tokens->pdata[i];
    if (!is_browser_token (token) || strcmp (token->account, account) != 0)
      continue;
    count++;
    if (!oldest || token->created_ms < oldest->created_ms)
      oldest = token;
  }
  return count >= BROWSER_TOKENS_MAX ? oldest : NULL;
}

static gboolean
apply_browser_change (GPtrArray *tokens, gpointer data, G_GNUC_UNUSED GError **error)
{
  struct browser_change *change = data;
  struct token *surplus;
  remove_ended (tokens, change);
  while (change->token && (surplus = surplus_token (tokens, change->token->account)))
    g_ptr_array_remove (tokens, surplus);
  if (change->token)
    g_ptr_array_add (tokens, g_steal_pointer (&change->token));
  return TRUE;
}

char *
browser_token_make (const struct token_place *place, const char *account, gint64 expires_ms,
                    const char *replaced, GError **error)
{
  char *secret = token_new_secret (error);
  if (!secret)
    return NULL;
  struct token *token = g_new0 (struct token, 1);
  token->digest = token_digest (secret);
  token->name = g_strdup_printf (BROWSER_TOKEN_PREFIX "%.*s", ID_DIGITS, token->digest);
  token->created_ms = g_get_real_time () / 1000;
  token->expires_ms = expires_ms;
  token->role = ROLE_ADMIN;
  token->account = g_strdup (account);
  token->may_decide = TRUE;
  g_autofree char *ended = replaced ? token_digest (replaced) : NULL;
  struct browser_change change = {.token = token, .ended = ended};
  gboolean ok = token_place_change (place, apply_browser_change, &change, error);
  token_free (change.token);
  if (ok)
    return secret;
  explicit_bzero (secret, strlen (secret));
  g_free (secret);
  return NULL;
}

gboolean
browser_token_end (const struct token_place *place, const char *secret, gboolean *ret_found, GError **error)
{
  g_autofree char *ended = token_digest (secret);
  struct browser_change change = {.ended = ended};
  gboolean ok = token_place_change (place, apply_browser_change, &change, error);
  *ret_found = change.found;
  return ok;
}
