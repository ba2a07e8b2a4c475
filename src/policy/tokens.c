/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens by the digests of their secrets. The timing of a table lookup by digest reveals nothing useful:
 * finding digests with equal beginnings requires preimages of SHA-256. */
#include "policy/tokens.h"

#include <string.h>

#include "adder_types.h"
#include "common/guarded.h"
#include "common/log.h"
#include "policy/tokens_file.h"
#include "policy/tokens_table.h"

#define LOOK_MS 500 /* how often it is looked whether others have changed those of a cluster */

/* Our secrets are no longer; longer ones need no digest. */
#define SECRET_MAX 128

struct known {
  struct principal *who;
  gint64 expires_ms;
};

LOCK_CLASS (tokens_reading);
LOCK_CLASS (tokens);

struct tokens {
  char *path;
  const struct config *config;
  MUTEX (tokens) lock;
  GUARDED_BY (tokens) struct stat status;
  GUARDED_BY (tokens) GHashTable *known; /* digest -> struct known */
  GUARDED_BY (tokens) GError *problem;   /* why the file is untrustworthy: then no token is known */

  /* Those of a cluster. */
  struct store *store; /* NULL: there are none, or they are unknown */
  gboolean is_shared;
  void (*changed) (gpointer data);
  gpointer data;
  GThread *thread;
  GCond woken;
  MUTEX (tokens_reading) reading; /* one thread reads at a time */
  GUARDED_BY (tokens_reading) char *revision;
  GUARDED_BY (tokens) GHashTable *shared; /* digest -> struct known */
  GUARDED_BY (tokens) gint64 read_us;     /* when they were as in the database; monotonic; 0: never */
  GUARDED_BY (tokens) GError *away;       /* why the database could not be read; NULL: it was */
  GUARDED_BY (tokens) gint own_changes;   /* of this process, when they were read */
  GUARDED_BY (tokens) gboolean is_used, has_changed, is_over;
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

/* ---- those of a cluster ---- */

static GHashTable *
tokens_table_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, known_free);
}

/* LIST: NULL: they are as before, or PROBLEM says why that is not known. */
static void
tokens_note (struct tokens *tokens, GPtrArray *list, gint own_changes, const GError *problem)
{
  GHashTable *shared = list ? tokens_table_new () : NULL;
  for (guint i = 0; list && i < list->len; i++) {
    struct token *token = list->pdata[i];
    struct known *known = known_new (tokens->config, token);
    g_hash_table_replace (shared, g_steal_pointer (&token->digest), known);
  }
  g_mutex_lock (&tokens->lock);
  gboolean is_new = problem && (!tokens->away || strcmp (problem->message, tokens->away->message) != 0);
  g_clear_error (&tokens->away);
  tokens->away = problem ? g_error_copy (problem) : NULL;
  if (!problem) {
    tokens->read_us = g_get_monotonic_time ();
    tokens->own_changes = own_changes;
  }
  if (shared) {
    GHashTable *before = tokens->shared;
    tokens->shared = shared;
    shared = before;
    tokens->has_changed = TRUE;
    g_cond_signal (&tokens->woken);
  }
  g_mutex_unlock (&tokens->lock);
  g_clear_pointer (&shared, g_hash_table_unref);
  if (is_new)
    log_warning ("the tokens of the cluster cannot be read; those known are valid for a while: %s",
                 problem->message);
}

/* Reads them again, if they have changed. */
static void
tokens_look (struct tokens *tokens)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *revision = NULL;
  g_mutex_lock (&tokens->reading);
  gint own_changes = tokens_table_changes ();
  struct database *database = store_database (tokens->store, &problem);
  g_autoptr (GPtrArray) list =
      database ? tokens_table_read (database, tokens->revision, &revision, &problem) : NULL;
  tokens_note (tokens, list, own_changes, problem);
  if (revision) {
    g_free (tokens->revision);
    tokens->revision = g_steal_pointer (&revision);
  }
  g_mutex_unlock (&tokens->reading);
}

/* Whether what was read is too old to go by. */
REQUIRES (tokens)
static gboolean
tokens_are_stale (const struct tokens *tokens)
{
  return tokens->is_shared && (tokens->read_us == 0 || g_get_monotonic_time () - tokens->read_us >
                                                           (gint64)tokens->config->http_away_ms * 1000);
}

/* Until there is something to do. */
REQUIRES (tokens)
static void
tokens_wait (struct tokens *tokens)
{
  while (!tokens->is_over && !tokens->has_changed && !tokens->is_used)
    g_cond_wait (&tokens->woken, &tokens->lock);
  gint64 until_us = g_get_monotonic_time () + (gint64)LOOK_MS * 1000;
  while (!tokens->is_over && !tokens->has_changed &&
         g_cond_wait_until (&tokens->woken, &tokens->lock, until_us))
    ;
}

static gpointer
tokens_live (gpointer data)
{
  struct tokens *tokens = data;
  g_mutex_lock (&tokens->lock);
  while (!tokens->is_over) {
    tokens_wait (tokens);
    gboolean has_changed = tokens->has_changed, is_over = tokens->is_over;
    tokens->has_changed = FALSE;
    g_mutex_unlock (&tokens->lock);
    if (has_changed)
      tokens->changed (tokens->data);
    else if (!is_over)
      tokens_look (tokens);
    g_mutex_lock (&tokens->lock);
  }
  g_mutex_unlock (&tokens->lock);
  return NULL;
}

void
tokens_watch (struct tokens *tokens, void (*changed) (gpointer data), gpointer data)
{
  if (!tokens->store)
    return;
  tokens->changed = changed;
  tokens->data = data;
  tokens->thread = g_thread_new ("tokens", tokens_live, tokens);
}

/* From now on they are looked at again and again: where nobody comes with a token, the database is left in
 * peace. */
REQUIRES (tokens)
static void
tokens_note_use (struct tokens *tokens)
{
  if (!tokens->is_used)
    g_cond_signal (&tokens->woken);
  tokens->is_used = TRUE;
}

/* The one with DIGEST, wherever it is. */
REQUIRES (tokens)
static const struct known *
tokens_look_up (const struct tokens *tokens, const char *digest)
{
  const struct known *known = g_hash_table_lookup (tokens->known, digest);
  return known || tokens_are_stale (tokens) ? known : g_hash_table_lookup (tokens->shared, digest);
}

/* ---- life ---- */

struct tokens *
tokens_new (const struct config *config, struct store *store, GError **error)
{
  g_autofree char *path = tokens_file (config, error);
  if (!path)
    return NULL;
  struct tokens *tokens = g_new0 (struct tokens, 1);
  tokens->path = g_steal_pointer (&path);
  tokens->config = config;
  tokens->is_shared = store_is_shared (config);
  tokens->store = tokens->is_shared && store ? store_ref (store) : NULL;
  g_mutex_init (&tokens->lock);
  g_mutex_init (&tokens->reading);
  g_cond_init (&tokens->woken);
  tokens->known = tokens_table_new ();
  tokens->shared = tokens_table_new ();
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
  if (tokens->thread) {
    g_mutex_lock (&tokens->lock);
    tokens->is_over = TRUE;
    g_cond_signal (&tokens->woken);
    g_mutex_unlock (&tokens->lock);
    g_thread_join (tokens->thread);
  }
  UNSHARED (tokens);
  UNSHARED (tokens_reading);
  g_hash_table_unref (tokens->known);
  g_hash_table_unref (tokens->shared);
  g_clear_error (&tokens->problem);
  g_clear_error (&tokens->away);
  g_mutex_clear (&tokens->lock);
  g_mutex_clear (&tokens->reading);
  g_cond_clear (&tokens->woken);
  store_unref (tokens->store);
  g_free (tokens->revision);
  g_free (tokens->path);
  g_free (tokens);
}

static gboolean
tokens_is_over (const struct known *known)
{
  return known->expires_ms > 0 && g_get_real_time () / 1000 >= known->expires_ms;
}

REQUIRES (tokens)
static guint
tokens_count_of (GHashTable *table)
{
  guint count = 0;
  GHashTableIter iter;
  gpointer known;
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, &known))
    count += !tokens_is_over (known) && !((struct known *)known)->who->is_browser;
  return count;
}

guint
tokens_count (struct tokens *tokens)
{
  g_mutex_lock (&tokens->lock);
  if (has_changed (tokens))
    read_again (tokens);
  gboolean looks = tokens->store && tokens->read_us == 0;
  g_mutex_unlock (&tokens->lock);
  if (looks)
    tokens_look (tokens);
  g_mutex_lock (&tokens->lock);
  guint count = tokens_count_of (tokens->known) + tokens_count_of (tokens->shared);
  if (tokens->is_shared && tokens->read_us == 0)
    count = MAX (count, 1);
  g_mutex_unlock (&tokens->lock);
  return count;
}

/* Whether those of a cluster are to be read before it is said that there is none with DIGEST. */
REQUIRES (tokens)
static gboolean
tokens_must_look (struct tokens *tokens, const char *digest, gboolean may_ask)
{
  if (!digest || !tokens->store)
    return FALSE;
  tokens_note_use (tokens);
  return (!tokens->away && tokens->own_changes != tokens_table_changes ()) ||
         (may_ask && !tokens_look_up (tokens, digest));
}

/* What hinders that it is known whether a token is valid; NULL: nothing. */
REQUIRES (tokens)
static const char *
tokens_hindrance (const struct tokens *tokens)
{
  if (tokens->problem)
    return "the file of tokens cannot be read; the server's log says why";
  return tokens->away || tokens_are_stale (tokens)
             ? "whether the token is valid is not known, since the cluster's database does not answer"
             : NULL;
}

struct principal *
tokens_find (struct tokens *tokens, const char *secret, gboolean may_ask, gboolean *ret_expired,
             GError **error)
{
  struct principal *who = NULL;
  *ret_expired = FALSE;
  g_autofree char *digest = strnlen (secret, SECRET_MAX + 1) > SECRET_MAX ? NULL : token_digest (secret);
  g_mutex_lock (&tokens->lock);
  if (has_changed (tokens))
    read_again (tokens);
  gboolean looks = tokens_must_look (tokens, digest, may_ask);
  g_mutex_unlock (&tokens->lock);
  if (looks)
    tokens_look (tokens);
  g_mutex_lock (&tokens->lock);
  const struct known *known = digest ? tokens_look_up (tokens, digest) : NULL;
  const char *hindrance = known ? NULL : tokens_hindrance (tokens);
  if (hindrance)
    g_set_error_literal (error, ADDER_ERROR, tokens->problem ? ADDER_ERROR_FAILED : ADDER_ERROR_UNAVAILABLE,
                         hindrance);
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
  const struct known *known = tokens_look_up (tokens, digest);
  gboolean has = tokens->problem || tokens_are_stale (tokens) || (known && !tokens_is_over (known));
  g_mutex_unlock (&tokens->lock);
  return has;
}
