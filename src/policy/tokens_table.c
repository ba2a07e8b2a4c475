/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of tokens. The revision is a row as well: who changes tokens replaces it first, and so waits for
 * others who do. */
#include "policy/tokens_table.h"

#include <string.h>

#include "adder_types.h"
#include "common/json.h"
#include "common/log.h"
#include "engine/host/id.h"

#define REVISION "SELECT value FROM settings WHERE name = 'tokens_revision'"

static gint changes; /* atomic */

gint
tokens_table_changes (void)
{
  return g_atomic_int_get (&changes);
}

/* ---- reading ---- */

static gboolean
tokens_table_take_revision (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  char **revision = data;
  g_free (*revision);
  *revision = g_strdup (row[0].text);
  return TRUE;
}

static struct token *
tokens_table_parse (const char *body, const char *name)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *what = g_strdup_printf ("the token %s of the database", name);
  g_autoptr (json_t) object = body ? json_parse_object (body, strlen (body), what, &problem) : NULL;
  struct token *token = object ? token_from_row (object, what, &problem) : NULL;
  if (token && strcmp (token->name, name) == 0) {
    token->origin = TOKEN_OF_TABLE;
    return token;
  }
  log_warning ("%s is not valid here; did a newer Adder make it?", problem ? problem->message : what);
  token_free (token);
  return NULL;
}

static gboolean
tokens_table_take (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  GPtrArray *tokens = data;
  struct token *token = row[0].text ? tokens_table_parse (row[1].text, row[0].text) : NULL;
  if (token)
    g_ptr_array_add (tokens, token);
  return TRUE;
}

static GPtrArray *
tokens_table_rows (struct transaction *transaction, GError **error)
{
  g_autoptr (GPtrArray) tokens = g_ptr_array_new_with_free_func ((GDestroyNotify)token_free);
  return transaction_run (transaction, "SELECT name, body FROM tokens", NULL, 0, tokens_table_take, tokens,
                          NULL, error)
             ? g_steal_pointer (&tokens)
             : NULL;
}

GPtrArray *
tokens_table_read (struct database *database, const char *known, char **ret_revision, GError **error)
{
  GPtrArray *tokens = NULL;
  g_autofree char *revision = g_strdup ("");
  struct transaction *transaction = database_begin (database, FALSE, error);
  if (transaction &&
      transaction_run (transaction, REVISION, NULL, 0, tokens_table_take_revision, &revision, NULL, error)) {
    if (g_strcmp0 (known, revision) == 0 || (tokens = tokens_table_rows (transaction, error)))
      *ret_revision = g_steal_pointer (&revision);
  }
  transaction_end (transaction);
  if (tokens)
    tokens_sort (tokens);
  return tokens;
}

/* ---- changing ---- */

/* By which the database has to change: names -> bodies. */
static GHashTable *
tokens_table_bodies (const GPtrArray *tokens)
{
  GHashTable *bodies = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; i < tokens->len; i++) {
    const struct token *token = tokens->pdata[i];
    if (token->origin != TOKEN_OF_TABLE)
      continue;
    g_autoptr (json_t) row = token_to_row (token);
    g_hash_table_replace (bodies, g_strdup (token->name), json_to_text (row));
  }
  return bodies;
}

static gboolean
tokens_table_lock (struct transaction *transaction, GError **error)
{
  char revision[ID_BYTES];
  id_make (revision);
  return transaction_run (transaction,
                          "INSERT INTO settings (name, value) VALUES ('tokens_revision', $1) "
                          "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                          &SQL_STR (revision), 1, NULL, NULL, NULL, error);
}

static gboolean
tokens_table_put (struct transaction *transaction, const char *name, const char *body, gboolean is_new,
                  GError **error)
{
  const struct sql_value values[] = {SQL_STR (name), SQL_STR (body)};
  guint64 changed = 0;
  if (!transaction_run (transaction,
                        is_new ? "INSERT INTO tokens (name, body) VALUES ($1, $2) ON CONFLICT DO NOTHING"
                               : "UPDATE tokens SET body = $2 WHERE name = $1",
                        values, G_N_ELEMENTS (values), NULL, NULL, &changed, error))
    return FALSE;
  if (changed == 0)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_EXISTS,
                 "there is a token %s already, which this version does not understand", name);
  return changed > 0;
}

/* Makes the rows of BEFORE those of NOW. */
static gboolean
tokens_table_write (struct transaction *transaction, GHashTable *before, GHashTable *now, GError **error)
{
  GHashTableIter iter;
  gpointer name, body;
  g_hash_table_iter_init (&iter, before);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_hash_table_contains (now, name) &&
        !transaction_run (transaction, "DELETE FROM tokens WHERE name = $1", &SQL_STR (name), 1, NULL, NULL,
                          NULL, error))
      return FALSE;
  g_hash_table_iter_init (&iter, now);
  while (g_hash_table_iter_next (&iter, &name, &body)) {
    const char *old = g_hash_table_lookup (before, name);
    if (g_strcmp0 (old, body) != 0 && !tokens_table_put (transaction, name, body, !old, error))
      return FALSE;
  }
  return TRUE;
}

static void
tokens_table_add_others (GPtrArray *tokens, const GPtrArray *others)
{
  for (guint i = 0; others && i < others->len; i++) {
    g_autoptr (json_t) row = token_to_row (others->pdata[i]);
    struct token *copy = token_from_row (row, "a token of the file", NULL);
    if (!copy)
      continue;
    copy->origin = TOKEN_OF_FILE;
    g_ptr_array_add (tokens, copy);
  }
}

/* What CHANGE added are rows from now on. */
static gboolean
tokens_table_own_new (GPtrArray *tokens, GError **error)
{
  for (guint i = 0; i < tokens->len; i++) {
    struct token *token = tokens->pdata[i];
    if (token->origin == TOKEN_IS_NEW)
      token->origin = TOKEN_OF_TABLE;
  }
  if (tokens->len > TOKENS_MAX)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there are %d tokens, which is the most",
                 TOKENS_MAX);
  return tokens->len <= TOKENS_MAX;
}

gboolean
tokens_table_change (struct database *database, const GPtrArray *others,
                     gboolean (*change) (GPtrArray *tokens, gpointer data, GError **error), gpointer data,
                     GPtrArray **ret_tokens, GError **error)
{
  g_autoptr (GHashTable) before = NULL, now = NULL;
  g_autoptr (GPtrArray) tokens = NULL;
  struct transaction *transaction = database_begin (database, TRUE, error);
  gboolean begun = transaction != NULL;
  gboolean ok =
      begun && tokens_table_lock (transaction, error) && (tokens = tokens_table_rows (transaction, error));
  if (ok) {
    before = tokens_table_bodies (tokens);
    tokens_table_add_others (tokens, others);
    tokens_sort (tokens);
    ok = change (tokens, data, error) && tokens_table_own_new (tokens, error);
  }
  if (ok) {
    now = tokens_table_bodies (tokens);
    ok = tokens_table_write (transaction, before, now, error) && transaction_commit (transaction, error);
  }
  transaction_end (transaction);
  if (begun) /* it may have taken effect even where the answer was lost */
    g_atomic_int_inc (&changes);
  if (ok)
    *ret_tokens = g_steal_pointer (&tokens);
  return ok;
}
