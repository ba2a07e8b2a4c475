/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bed.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "store/check.h"
#include "suite.h"

gboolean
pair_has_directory (const struct pair *pair)
{
  return strcmp (pair->blobs->name, "directory") == 0;
}

void
bed_open (struct bed *bed)
{
  g_autoptr (GError) error = NULL;
  bed->store = store_new (bed->config, &error);
  g_assert_no_error (error);
}

gboolean
bed_init (struct bed *bed, const struct pair *pair, const char *more)
{
  g_autoptr (GError) error = NULL;
  *bed = (struct bed){.world = store_world_new (pair->database)};
  if (!bed->world)
    return FALSE;
  const char *folder = store_world_folder (bed->world);
  g_autofree char *url = store_world_blobs (pair->blobs, folder);
  if (!url) {
    store_world_free (g_steal_pointer (&bed->world));
    return FALSE;
  }
  bed->blobs = g_build_filename (folder, "blobs", NULL);
  g_autofree char *file = g_build_filename (folder, "adder.conf", NULL);
  g_autofree char *text =
      g_strdup_printf ("[store]\nrecords = %s\nblobs = %s\n%s", store_world_url (bed->world), url, more);
  g_file_set_contents (file, text, -1, &error);
  g_assert_no_error (error);
  bed->config = config_load (file, &error);
  g_assert_no_error (error);
  bed_open (bed);
  return TRUE;
}

void
bed_close (struct bed *bed)
{
  store_close (bed->store);
  store_unref (g_steal_pointer (&bed->store));
}

void
bed_clear (struct bed *bed)
{
  if (bed->store)
    bed_close (bed);
  config_free (bed->config);
  store_world_free (bed->world);
  g_free (bed->blobs);
}

struct file_new
bed_make_file (const char *name, const char *content, const char *owner, char **ret_sha256)
{
  int fd = memfd_create ("test", MFD_CLOEXEC);
  g_assert_cmpint (fd_write_all (fd, content, strlen (content)), ==, 0);
  *ret_sha256 = g_compute_checksum_for_string (G_CHECKSUM_SHA256, content, -1);
  return (struct file_new){.kind = FILE_GENERATED,
                           .fd = fd,
                           .name = name,
                           .mime = "text/plain",
                           .sha256 = *ret_sha256,
                           .bytes = strlen (content),
                           .owner = owner};
}

void
assert_no_warnings (const GPtrArray *warnings)
{
  g_assert_cmpstr (warnings->len > 0 ? warnings->pdata[0] : NULL, ==, NULL);
}

struct keeping {
  struct store *store;
  struct file_new *files;
  gsize count;
  gboolean fails;
};

static gboolean
keep (gpointer data, struct transaction *transaction, GError **error)
{
  struct keeping *keeping = data;
  if (!files_keep (keeping->store, transaction, keeping->files, keeping->count, error))
    return FALSE;
  if (keeping->fails)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the record cannot be written");
  return !keeping->fails;
}

gboolean
bed_keep (struct bed *bed, struct file_new *files, gsize count, gboolean fails)
{
  struct keeping keeping = {bed->store, files, count, fails};
  return database_commit (store_database (bed->store, NULL), keep, &keeping, NULL);
}

void
bed_put (struct bed *bed, const char *name, const char *content, const char *owner, char ret_id[ID_BYTES])
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sha256 = NULL;
  struct file_new file = bed_make_file (name, content, owner, &sha256);
  gboolean kept = files_put (bed->store, &file, &error);
  g_assert_no_error (error);
  g_assert_true (kept);
  close (file.fd);
  g_strlcpy (ret_id, file.id, ID_BYTES);
}

gboolean
bed_has (struct bed *bed, const char *owner, const char *id)
{
  g_autoptr (GError) error = NULL;
  struct file_row *row = files_find (bed->store, owner, id, &error);
  if (!row)
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  file_row_free (row);
  return error == NULL;
}

static gboolean
count_key (gpointer data, const char *key, guint64 bytes, gint64 made_ms)
{
  (void)key, (void)bytes, (void)made_ms;
  ++*(guint *)data;
  return TRUE;
}

guint
bed_count_blobs (struct bed *bed)
{
  guint count = 0;
  g_assert_true (blobs_list (store_blobs (bed->store, NULL), count_key, &count, NULL));
  return count;
}

static gboolean
read_count (gpointer data, const struct sql_value *columns, guint count)
{
  g_assert_cmpuint (count, ==, 1);
  *(gint64 *)data = columns[0].integer;
  return TRUE;
}

gint64
bed_count_rows (struct bed *bed)
{
  gint64 count = -1;
  struct transaction *transaction = database_begin (store_database (bed->store, NULL), FALSE, NULL);
  g_assert_nonnull (transaction);
  g_assert_true (
      transaction_run (transaction, "SELECT COUNT(*) FROM files", NULL, 0, read_count, &count, NULL, NULL));
  transaction_end (transaction);
  return count;
}

json_t *
bed_check (struct bed *bed, gboolean deep, gboolean force)
{
  g_autoptr (GError) error = NULL;
  json_t *found = store_check (bed->store, &(struct check_options){deep, force}, NULL, &error);
  g_assert_no_error (error);
  return found;
}

json_int_t
number_in (const json_t *object, const char *name)
{
  return json_integer_value (json_object_get (object, name));
}

void
bed_assert_whole (struct bed *bed)
{
  g_autoptr (json_t) found = bed_check (bed, TRUE, FALSE);
  g_assert_true (json_is_true (json_object_get (found, "healthy")));
  g_assert_cmpint (number_in (found, "unknown_removed"), ==, 0);
  g_assert_cmpint (bed_count_rows (bed), ==, bed_count_blobs (bed));
}

void
bed_run_sql (struct bed *bed, const char *sql)
{
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (store_database (bed->store, NULL), TRUE, NULL);
  transaction_run (transaction, sql, NULL, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (transaction_commit (transaction, NULL));
  transaction_end (transaction);
}

enum { PAIRS_MAX = 8 };

int
bed_main (int argc, char **argv, const char *program, const struct bed_case *cases, gsize count,
          void (*more) (void))
{
  g_autofree char *state = g_dir_make_tmp ("adder-state-XXXXXX", NULL);
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  if (more)
    more ();
  struct pair pairs[PAIRS_MAX];
  gsize made = 0;
  for (const struct store_world_kind *database = store_world_kinds; database->name; database++)
    for (const struct store_world_kind *blobs = store_world_blob_kinds; blobs->name; blobs++) {
      g_assert_cmpuint (made, <, G_N_ELEMENTS (pairs));
      pairs[made] = (struct pair){database, blobs};
      for (gsize i = 0; i < count; i++) {
        g_autofree char *path =
            g_strdup_printf ("/%s/%s-%s/%s", program, database->name, blobs->name, cases[i].name);
        g_test_add_data_func (path, &pairs[made], cases[i].run);
      }
      made++;
    }
  int code = g_test_run ();
  suite_remove (state);
  return code;
}
