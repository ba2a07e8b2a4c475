/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of files: anybody with the URL may read that file until it expires. They are signed (HMAC-SHA256) with
 * a key in the database, so that each node that shares it can check the others' signatures. */
#include "store/file_url.h"

#include <string.h>

#include "adder_types.h"
#include "common/constant_time.h"
#include "common/file_name.h"
#include "common/guarded.h"
#include "common/random_bytes.h"
#include "store/file_rows.h"

#define KEY_BYTES 32
#define KEY_TEXT  (2 * KEY_BYTES)

LOCK_CLASS (file_signer);

struct file_signer {
  MUTEX (file_signer) lock;
  GUARDED_BY (file_signer) char key[KEY_TEXT + 1]; /* "": not known yet */
};

struct file_signer *
file_signer_new (void)
{
  struct file_signer *signer = g_new0 (struct file_signer, 1);
  g_mutex_init (&signer->lock);
  return signer;
}

void
file_signer_free (struct file_signer *signer)
{
  g_mutex_clear (&signer->lock);
  g_free (signer);
}

static gboolean
file_url_read_key (gpointer data, const struct sql_value *columns, guint count G_GNUC_UNUSED)
{
  g_strlcpy (data, columns[0].text ? columns[0].text : "", KEY_TEXT + 1);
  return TRUE;
}

/* The first one stays: simultaneous writers read it. */
static gboolean
settle_key (gpointer data, struct transaction *transaction, GError **error)
{
  char text[KEY_TEXT + 1];
  random_digits (text, KEY_BYTES);
  const struct sql_value value = SQL_STR (text);
  return transaction_run (transaction,
                          "INSERT INTO settings (name, value) VALUES ('file_url_key', $1) "
                          "ON CONFLICT (name) DO NOTHING",
                          &value, 1, NULL, NULL, NULL, error) &&
         transaction_run (transaction, "SELECT value FROM settings WHERE name = 'file_url_key'", NULL, 0,
                          file_url_read_key, data, NULL, error);
}

/* Reads it, or makes it on the first node. */
static void
fetch_key (struct store *store, char ret_key[KEY_TEXT + 1])
{
  struct database *database = store_database (store, NULL);
  struct transaction *transaction = database ? database_begin (database, FALSE, NULL) : NULL;
  if (!transaction)
    return;
  transaction_run (transaction, "SELECT value FROM settings WHERE name = 'file_url_key'", NULL, 0,
                   file_url_read_key, ret_key, NULL, NULL);
  transaction_end (transaction);
  if (ret_key[0] == '\0' && !database_commit (database, settle_key, ret_key, NULL))
    ret_key[0] = '\0';
}

static gboolean
find_key (struct store *store, char ret_key[KEY_TEXT + 1])
{
  struct file_signer *signer = store_signer (store);
  g_mutex_lock (&signer->lock);
  if (signer->key[0] == '\0')
    fetch_key (store, signer->key);
  g_strlcpy (ret_key, signer->key, KEY_TEXT + 1);
  g_mutex_unlock (&signer->lock);
  return strlen (ret_key) == KEY_TEXT;
}

static char *
file_url_sign (const char *key, const char *id, gint64 expires_s)
{
  g_autofree char *text = g_strdup_printf ("file %s %" G_GINT64_FORMAT, id, expires_s);
  return g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *)key, KEY_TEXT, text, -1);
}

char *
files_url (struct store *store, const char *id, const char *name)
{
  const struct config *config = store_config (store);
  char key[KEY_TEXT + 1];
  if (!find_key (store, key))
    return NULL;
  gint64 expires_s = file_now_ms () / 1000 + (gint64)(config->store_url_age_ms / 1000);
  g_autofree char *signature = file_url_sign (key, id, expires_s);
  g_autofree char *shown = file_name_clean (name);
  /* The name is for people alone, and this one is the path of another question (/v1/files/{file}/content). */
  gboolean is_taken = strcmp (shown, "content") == 0;
  g_autofree char *escaped = g_uri_escape_string (is_taken ? "content_" : shown, NULL, FALSE);
  const char *base = config->store_url; /* adder serve reload may change it in between */
  base = base ? base : "";
  gsize length = strlen (base);
  while (length > 0 && base[length - 1] == '/')
    length--;
  return g_strdup_printf ("%.*s/v1/files/%s/%s?expires=%" G_GINT64_FORMAT "&signature=%s", (int)length, base,
                          id, escaped, expires_s, signature);
}

gboolean
files_url_is_good (struct store *store, const char *id, gint64 expires_s, const char *signature)
{
  char key[KEY_TEXT + 1];
  if (expires_s <= file_now_ms () / 1000 || !find_key (store, key))
    return FALSE;
  g_autofree char *expected = file_url_sign (key, id, expires_s);
  gsize length = strlen (expected);
  return strlen (signature) == length && constant_time_equal (signature, expected, length);
}
