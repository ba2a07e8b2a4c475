/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/token_place.h"

#include <string.h>

#include "common/json.h"
#include "policy/tokens_table.h"

struct token_place {
  char *path;
  struct store *store;       /* the daemon's, or NULL */
  struct database *database; /* our own, or NULL */
  gboolean is_shared;
};

struct token_place *
token_place_new (const struct config *config, struct store *store, GError **error)
{
  g_autofree char *path = tokens_file (config, error);
  if (!path)
    return NULL;
  struct token_place *place = g_new0 (struct token_place, 1);
  place->path = g_steal_pointer (&path);
  place->is_shared = store_is_shared (config);
  place->store = store ? store_ref (store) : NULL;
  if (place->is_shared && !store &&
      !(place->database = database_open (config->store_records, config->store_timeout_ms, error)))
    g_clear_pointer (&place, token_place_free);
  return place;
}

void
token_place_free (struct token_place *place)
{
  if (!place)
    return;
  store_unref (place->store);
  database_close (place->database);
  g_free (place->path);
  g_free (place);
}

static struct database *
token_place_database (const struct token_place *place, GError **error)
{
  return place->database ? place->database : store_database (place->store, error);
}

GPtrArray *
token_place_read (const struct token_place *place, GError **error)
{
  GPtrArray *tokens = tokens_file_read (place->path, NULL, error);
  if (!tokens || !place->is_shared)
    return tokens;
  g_autofree char *revision = NULL;
  struct database *database = token_place_database (place, error);
  GPtrArray *shared = database ? tokens_table_read (database, NULL, &revision, error) : NULL;
  if (shared) {
    g_ptr_array_extend_and_steal (tokens, shared);
    tokens_sort (tokens);
  } else
    g_clear_pointer (&tokens, g_ptr_array_unref);
  return tokens;
}

/* ---- the file's part of a change ---- */

/* Makes the file's tokens, among those of WANTED, what they are there. */
static gboolean
token_place_adopt (GPtrArray *tokens, gpointer data, G_GNUC_UNUSED GError **error)
{
  const GPtrArray *wanted = data;
  g_ptr_array_set_size (tokens, 0);
  for (guint i = 0; i < wanted->len; i++) {
    const struct token *token = wanted->pdata[i];
    g_autoptr (json_t) row = token->origin == TOKEN_OF_FILE ? token_to_row (token) : NULL;
    struct token *copy = row ? token_from_row (row, "a token of the file", NULL) : NULL;
    if (copy)
      g_ptr_array_add (tokens, copy);
  }
  return TRUE;
}

/* Whether WANTED has the tokens of the file as they are in BEFORE; both are in one order. */
static gboolean
token_place_has_all (const GPtrArray *wanted, const GPtrArray *before)
{
  guint at = 0;
  for (guint i = 0; i < wanted->len; i++) {
    const struct token *token = wanted->pdata[i];
    if (token->origin != TOKEN_OF_FILE)
      continue;
    const struct token *old = at < before->len ? before->pdata[at++] : NULL;
    if (!old || strcmp (old->digest, token->digest) != 0 || old->expires_ms != token->expires_ms)
      return FALSE;
  }
  return at == before->len;
}

gboolean
token_place_change (const struct token_place *place,
                    gboolean (*change) (GPtrArray *tokens, gpointer data, GError **error), gpointer data,
                    GError **error)
{
  if (!place->is_shared)
    return tokens_file_change (place->path, change, data, error);
  g_autoptr (GPtrArray) before = tokens_file_read (place->path, NULL, error), now = NULL;
  struct database *database = before ? token_place_database (place, error) : NULL;
  /* A file that may not be written, as that of a secret, is not, unless it has to change. */
  return database && tokens_table_change (database, before, change, data, &now, error) &&
         (token_place_has_all (now, before) ||
          tokens_file_change (place->path, token_place_adopt, now, error));
}
