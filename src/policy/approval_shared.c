/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/approval_shared.h"

#include "store/database.h"

void
approval_shared_clear (struct approval_shared *shared)
{
  g_free (shared->id);
  g_free (shared->state);
  g_free (shared->decided);
  g_free (shared->reason);
  *shared = (struct approval_shared){0};
}

char *
approval_shared_key (const char *owner, const char *conversation, const char *digest)
{
  struct approval_digest *key = approval_digest_new ();
  approval_digest_add (key, "owner", owner ? owner : "", -1);
  approval_digest_add (key, "conversation", conversation, -1);
  approval_digest_add (key, "digest", digest, -1);
  return approval_digest_end (key);
}

static gboolean
approval_shared_read (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct approval_shared *shared = data;
  approval_shared_clear (shared);
  *shared = (struct approval_shared){g_strdup (row[0].text), g_strdup (row[1].text), g_strdup (row[2].text),
                                     g_strdup (row[3].text)};
  return TRUE;
}

gboolean
approval_shared_find (struct store *store, const char *key, struct approval_shared *ret_shared,
                      GError **error)
{
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  if (!transaction)
    return FALSE;
  g_autofree char *sql =
      g_strdup_printf ("SELECT id, state, decided, reason FROM approvals WHERE key = $1 AND expires_ms > %s",
                       database_now_ms (database));
  gboolean ok =
      transaction_run (transaction, sql, &SQL_STR (key), 1, approval_shared_read, ret_shared, NULL, error);
  transaction_end (transaction);
  return ok;
}

/* What a transaction does. */
struct approval_shared_step {
  const char *key, *now;
  const struct approval_shared *shared;
  gint64 age_ms;
  guint64 changed;
};

static gboolean
approval_shared_write (gpointer data, struct transaction *transaction, GError **error)
{
  const struct approval_shared_step *step = data;
  const struct approval_shared *shared = step->shared;
  const struct sql_value values[] = {SQL_STR (step->key),      SQL_OPT (shared->id),
                                     SQL_STR (shared->state),  SQL_OPT (shared->decided),
                                     SQL_OPT (shared->reason), SQL_INT (step->age_ms)};
  g_autofree char *old = g_strdup_printf ("DELETE FROM approvals WHERE expires_ms <= %s", step->now);
  g_autofree char *put = g_strdup_printf (
      "INSERT INTO approvals (key, id, state, decided, reason, expires_ms) VALUES ($1, $2, $3, $4, $5, "
      "%s + $6) ON CONFLICT (key) DO UPDATE SET id = excluded.id, state = excluded.state, "
      "decided = excluded.decided, reason = excluded.reason, expires_ms = excluded.expires_ms",
      step->now);
  return transaction_run (transaction, old, NULL, 0, NULL, NULL, NULL, error) &&
         transaction_run (transaction, put, values, G_N_ELEMENTS (values), NULL, NULL, NULL, error);
}

static gboolean
approval_shared_remove (gpointer data, struct transaction *transaction, GError **error)
{
  struct approval_shared_step *step = data;
  return transaction_run (transaction, "DELETE FROM approvals WHERE key = $1 AND state = 'approved'",
                          &SQL_STR (step->key), 1, NULL, NULL, &step->changed, error);
}

gboolean
approval_shared_put (struct store *store, const char *key, const struct approval_shared *shared,
                     gint64 age_us, GError **error)
{
  struct database *database = store_database (store, error);
  if (!database)
    return FALSE;
  struct approval_shared_step step = {key, database_now_ms (database), shared, age_us / 1000, 0};
  return database_commit (database, approval_shared_write, &step, error);
}

gboolean
approval_shared_take (struct store *store, const char *key, gboolean *ret_taken, GError **error)
{
  struct database *database = store_database (store, error);
  struct approval_shared_step step = {.key = key};
  gboolean ok = database && database_commit (database, approval_shared_remove, &step, error);
  *ret_taken = ok && step.changed > 0;
  return ok;
}
