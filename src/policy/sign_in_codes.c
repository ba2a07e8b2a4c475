/* SPDX-License-Identifier: Apache-2.0 */
/* One-time codes, found by their digests, so that the time of a comparison reveals nothing. */
#include "policy/sign_in_codes.h"

#include <string.h>

#include "common/guarded.h"
#include "policy/tokens_file.h"
#include "store/database.h"

#define CODE_TEXT_MAX 128 /* longer ones need no digest */

LOCK_CLASS (sign_in_codes);

struct sign_in_code {
  char *digest, *account;
  gint64 until_us;
};

struct sign_in_codes {
  struct store *store; /* or NULL */
  MUTEX (sign_in_codes) lock;
  GUARDED_BY (sign_in_codes) GPtrArray *pending; /* of struct sign_in_code, the oldest first */
};

static void
sign_in_code_free (gpointer data)
{
  struct sign_in_code *code = data;
  g_free (code->digest);
  g_free (code->account);
  g_free (code);
}

struct sign_in_codes *
sign_in_codes_new (struct store *store)
{
  struct sign_in_codes *codes = g_new0 (struct sign_in_codes, 1);
  codes->store = store ? store_ref (store) : NULL;
  g_mutex_init (&codes->lock);
  codes->pending = g_ptr_array_new_with_free_func (sign_in_code_free);
  return codes;
}

void
sign_in_codes_free (struct sign_in_codes *codes)
{
  if (!codes)
    return;
  UNSHARED (sign_in_codes);
  g_ptr_array_unref (codes->pending);
  g_mutex_clear (&codes->lock);
  store_unref (codes->store);
  g_free (codes);
}

/* ---- those of a cluster ---- */

struct sign_in_row {
  const char *digest, *account;
  char *now; /* of the database */
  char *taken;
};

/* A DELETE finds a row once, whoever else looks for it. */
static gboolean
sign_in_take_account (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct sign_in_row *sought = data;
  if (row[0].text && row[1].integer > 0) {
    g_free (sought->taken);
    sought->taken = g_strdup (row[0].text);
  }
  return TRUE;
}

static gboolean
sign_in_add_row (gpointer data, struct transaction *transaction, GError **error)
{
  const struct sign_in_row *row = data;
  const struct sql_value values[] = {SQL_STR (row->digest), SQL_STR (row->account),
                                     SQL_INT (SIGN_IN_CODE_MS)};
  g_autofree char *old = g_strdup_printf ("DELETE FROM sign_in_codes WHERE until_ms <= %s", row->now);
  g_autofree char *add = g_strdup_printf (
      "INSERT INTO sign_in_codes (digest, account, until_ms) VALUES ($1, $2, %s + $3)", row->now);
  return transaction_run (transaction, old, NULL, 0, NULL, NULL, NULL, error) &&
         transaction_run (transaction, add, values, G_N_ELEMENTS (values), NULL, NULL, NULL, error);
}

static gboolean
sign_in_take_row (gpointer data, struct transaction *transaction, GError **error)
{
  struct sign_in_row *row = data;
  g_autofree char *sql = g_strdup_printf (
      "DELETE FROM sign_in_codes WHERE digest = $1 RETURNING account, until_ms - %s", row->now);
  g_clear_pointer (&row->taken, g_free);
  return transaction_run (transaction, sql, &SQL_STR (row->digest), 1, sign_in_take_account, row, NULL,
                          error);
}

static gboolean
sign_in_commit (const struct sign_in_codes *codes, database_step step, struct sign_in_row *row,
                GError **error)
{
  struct database *database = store_database (codes->store, error);
  if (!database)
    return FALSE;
  row->now = g_strdup (database_now_ms (database));
  gboolean ok = database_commit (database, step, row, error);
  g_free (row->now);
  return ok;
}

/* ---- those in memory ---- */

REQUIRES (sign_in_codes)
static void
drop_old_codes (struct sign_in_codes *codes, gint64 now_us)
{
  while (codes->pending->len > 0) {
    const struct sign_in_code *oldest = codes->pending->pdata[0];
    if (oldest->until_us > now_us && codes->pending->len < SIGN_IN_CODES_MAX)
      return;
    g_ptr_array_remove_index (codes->pending, 0);
  }
}

static void
sign_in_codes_keep (struct sign_in_codes *codes, const char *digest, const char *account, gint64 now_us)
{
  struct sign_in_code *code = g_new (struct sign_in_code, 1);
  *code =
      (struct sign_in_code){g_strdup (digest), g_strdup (account), now_us + (gint64)SIGN_IN_CODE_MS * 1000};
  g_mutex_lock (&codes->lock);
  drop_old_codes (codes, now_us);
  g_ptr_array_add (codes->pending, code);
  g_mutex_unlock (&codes->lock);
}

char *
sign_in_codes_make (struct sign_in_codes *codes, const char *account, gint64 now_us, GError **error)
{
  char *secret = token_new_secret (error);
  if (!secret)
    return NULL;
  /* Not taken for a token, by scanners or by people. */
  char *text = g_strdup (secret + strlen (TOKEN_PREFIX));
  explicit_bzero (secret, strlen (secret));
  g_free (secret);
  g_autofree char *digest = token_digest (text);
  struct sign_in_row row = {.digest = digest, .account = account};
  if (!codes->store)
    sign_in_codes_keep (codes, digest, account, now_us);
  else if (!sign_in_commit (codes, sign_in_add_row, &row, error))
    g_clear_pointer (&text, g_free);
  return text;
}

/* The account of the code with DIGEST, which goes; the caller's. */
static char *
sign_in_codes_remove (struct sign_in_codes *codes, const char *digest, gint64 now_us)
{
  char *account = NULL;
  g_mutex_lock (&codes->lock);
  for (guint i = 0; i < codes->pending->len; i++) {
    struct sign_in_code *code = codes->pending->pdata[i];
    if (strcmp (code->digest, digest) != 0)
      continue;
    account = code->until_us > now_us ? g_steal_pointer (&code->account) : NULL;
    g_ptr_array_remove_index (codes->pending, i);
    break;
  }
  g_mutex_unlock (&codes->lock);
  return account;
}

char *
sign_in_codes_take (struct sign_in_codes *codes, const char *text, gint64 now_us, GError **error)
{
  if (strnlen (text, CODE_TEXT_MAX + 1) > CODE_TEXT_MAX)
    return NULL;
  g_autofree char *digest = token_digest (text);
  if (!codes->store)
    return sign_in_codes_remove (codes, digest, now_us);
  struct sign_in_row row = {.digest = digest};
  if (sign_in_commit (codes, sign_in_take_row, &row, error))
    return row.taken;
  g_free (row.taken);
  return NULL;
}
