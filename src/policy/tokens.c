/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens by the digests of their secrets. The timing of a table lookup by digest reveals nothing useful:
 * finding digests with equal beginnings requires preimages of SHA-256. */
#include "policy/tokens.h"

#include <string.h>

#include "adder_types.h"
#include "common/guarded.h"
#include "common/log.h"
#include "policy/tokens_file.h"

/* Our secrets are no longer; longer ones need no digest. */
#define SECRET_MAX 128

struct known {
  struct principal *who;
  gint64 expires_ms;
};

LOCK_CLASS (tokens);

struct tokens {
  char *path;
  const struct config *config;
  MUTEX (tokens) lock;
  GUARDED_BY (tokens) struct stat status;
  GUARDED_BY (tokens) GHashTable *known; /* digest -> struct known */
  GUARDED_BY (tokens) GError *problem;   /* why the file is untrustworthy: then no token is known */
};

static void
known_free (gpointer data)
{
  struct known *known = data;
  principal_unref (known->who);
  g_free (known);
}

static struct known *
known_new (const struct config *config, const struct token *token)
{
  g_autofree char *owner = token_owner (token);
  struct principal *who = principal_new (config, owner);
  who->role = token->role;
  who->toolset = g_strdup (token->toolset);
  who->profiles = g_strdupv (token->profiles);
  who->roots = g_strdupv (token->roots);
  who->read_only = token->read_only;
  who->may_decide = token->may_decide;
  who->acts_for_users = token->acts_for_users;
  who->rate = token->rate;
  who->concurrent = token->concurrent;
  who->expires_ms = token->expires_ms;
  who->is_browser = token->account != NULL;
  who->token = g_strdup (token->name);
  who->token_digest = g_strdup (token->digest);
  struct known *known = g_new0 (struct known, 1);
  known->who = who;
  known->expires_ms = token->expires_ms;
  return known;
}

REQUIRES (tokens)
static void
read_again (struct tokens *tokens)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GPtrArray) list = tokens_file_read (tokens->path, &tokens->status, &problem);
  g_hash_table_remove_all (tokens->known);
  for (guint i = 0; list && i < list->len; i++) {
    struct token *token = list->pdata[i];
    struct known *known = known_new (tokens->config, token);
    g_hash_table_insert (tokens->known, g_steal_pointer (&token->digest), known);
  }
  if (problem && (!tokens->problem || strcmp (problem->message, tokens->problem->message) != 0))
    log_error ("%s; until then no token is good", problem->message);
  g_clear_error (&tokens->problem);
  tokens->problem = g_steal_pointer (&problem);
}

/* The file is replaced, never written to, so its inode suffices; the rest is for manual edits. */
REQUIRES (tokens)
static gboolean
has_changed (struct tokens *tokens)
{
  struct stat now;
  if (stat (tokens->path, &now) < 0)
    memset (&now, 0, sizeof now);
  const struct stat *then = &tokens->status;
  return tokens->problem || now.st_ino != then->st_ino || now.st_dev != then->st_dev ||
         now.st_size != then->st_size || now.st_mode != then->st_mode || now.st_uid != then->st_uid ||
         now.st_mtim.tv_sec != then->st_mtim.tv_sec || now.st_mtim.tv_nsec != then->st_mtim.tv_nsec ||
         now.st_ctim.tv_sec != then->st_ctim.tv_sec || now.st_ctim.tv_nsec != then->st_ctim.tv_nsec;
}

struct tokens *
tokens_new (const struct config *config, GError **error)
{
  g_autofree char *path = tokens_file (config, error);
  if (!path)
    return NULL;
  struct tokens *tokens = g_new0 (struct tokens, 1);
  tokens->path = g_steal_pointer (&path);
  tokens->config = config;
  g_mutex_init (&tokens->lock);
  tokens->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, known_free);
  read_again (tokens);
  return tokens;
}

gboolean
tokens_check (struct tokens *tokens, GError **error)
{
  g_mutex_lock (&tokens->lock);
  if (has_changed (tokens))
    read_again (tokens);
  gboolean ok = !tokens->problem;
  if (!ok && error)
    *error = g_error_copy (tokens->problem);
  g_mutex_unlock (&tokens->lock);
  return ok;
}

void
tokens_free (struct tokens *tokens)
{
  if (!tokens)
    return;
  UNSHARED (tokens);
  g_hash_table_unref (tokens->known);
  g_clear_error (&tokens->problem);
  g_mutex_clear (&tokens->lock);
  g_free (tokens->path);
  g_free (tokens);
}

static gboolean
tokens_is_over (const struct known *known)
{
  return known->expires_ms > 0 && g_get_real_time () / 1000 >= known->expires_ms;
}

guint
tokens_count (struct tokens *tokens)
{
  guint count = 0;
  GHashTableIter iter;
  gpointer known;
  g_mutex_lock (&tokens->lock);
  if (has_changed (tokens))
    read_again (tokens);
  g_hash_table_iter_init (&iter, tokens->known);
  while (g_hash_table_iter_next (&iter, NULL, &known))
    count += !tokens_is_over (known) && !((struct known *)known)->who->is_browser;
  g_mutex_unlock (&tokens->lock);
  return count;
}

struct principal *
tokens_find (struct tokens *tokens, const char *secret, gboolean *ret_expired, GError **error)
{
  struct principal *who = NULL;
  *ret_expired = FALSE;
  g_autofree char *digest = strnlen (secret, SECRET_MAX + 1) > SECRET_MAX ? NULL : token_digest (secret);
  g_mutex_lock (&tokens->lock);
  if (has_changed (tokens))
    read_again (tokens);
  const struct known *known = digest ? g_hash_table_lookup (tokens->known, digest) : NULL;
  if (tokens->problem)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the file of tokens cannot be read; the server's log says why");
  else if (known && tokens_is_over (known))
    *ret_expired = TRUE;
  else if (known)
    who = principal_ref (known->who);
  g_mutex_unlock (&tokens->lock);
  return who;
}

gboolean
tokens_has (struct tokens *tokens, const char *digest)
{
  g_mutex_lock (&tokens->lock);
  if (has_changed (tokens))
    read_again (tokens);
  const struct known *known = g_hash_table_lookup (tokens->known, digest);
  gboolean has = tokens->problem || (known && !tokens_is_over (known));
  g_mutex_unlock (&tokens->lock);
  return has;
}
