/* SPDX-License-Identifier: Apache-2.0 */
/* Kept files: their way from a row to a blob and back, whoever breaks it off. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/config.h"
#include "common/json.h"
#include "store/check.h"
#include "store/file_name.h"
#include "store/file_rows.h"
#include "store_world.h"

/* A database and a place for blobs. */
struct pair {
  const struct store_world_kind *database, *blobs;
};

static gboolean
has_directory (const struct pair *pair)
{
  return strcmp (pair->blobs->name, "directory") == 0;
}

/* A store of its own in a fresh folder. */
struct bed {
  store_world *world;
  struct config *config;
  struct store *store;
  char *blobs;
};

static void
bed_open (struct bed *bed)
{
  g_autoptr (GError) error = NULL;
  bed->store = store_new (bed->config, &error);
  g_assert_no_error (error);
}

/* FALSE: this host lacks one of the servers. */
static gboolean
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

static void
bed_close (struct bed *bed)
{
  store_close (bed->store);
  store_unref (g_steal_pointer (&bed->store));
}

static void
bed_clear (struct bed *bed)
{
  if (bed->store)
    bed_close (bed);
  config_free (bed->config);
  store_world_free (bed->world);
  g_free (bed->blobs);
}

/* A file that holds CONTENT, with its digest; the descriptor is the caller's. */
static struct file_new
make_file (const char *name, const char *content, const char *owner, char **ret_sha256)
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

static void
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

static gboolean
keep_files (struct bed *bed, struct file_new *files, gsize count, gboolean fails)
{
  struct keeping keeping = {bed->store, files, count, fails};
  return database_commit (store_database (bed->store, NULL), keep, &keeping, NULL);
}

/* Keeps one file and tells its id. */
static void
put (struct bed *bed, const char *name, const char *content, const char *owner, char ret_id[ID_BYTES])
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sha256 = NULL;
  struct file_new file = make_file (name, content, owner, &sha256);
  gboolean kept = files_put (bed->store, &file, &error);
  g_assert_no_error (error);
  g_assert_true (kept);
  close (file.fd);
  g_strlcpy (ret_id, file.id, ID_BYTES);
}

static gboolean
is_there (struct bed *bed, const char *owner, const char *id)
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

static guint
count_blobs (struct bed *bed)
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

/* Rows in any state. */
static gint64
count_rows (struct bed *bed)
{
  gint64 count = -1;
  struct transaction *transaction = database_begin (store_database (bed->store, NULL), FALSE, NULL);
  g_assert_nonnull (transaction);
  g_assert_true (
      transaction_run (transaction, "SELECT COUNT(*) FROM files", NULL, 0, read_count, &count, NULL, NULL));
  transaction_end (transaction);
  return count;
}

static json_t *
check (struct bed *bed, gboolean deep, gboolean force)
{
  g_autoptr (GError) error = NULL;
  json_t *found = store_check (bed->store, &(struct check_options){deep, force}, NULL, &error);
  g_assert_no_error (error);
  return found;
}

static json_int_t
number_in (const json_t *object, const char *name)
{
  return json_integer_value (json_object_get (object, name));
}

/* Nothing is lost, and nothing is left. */
static void
assert_whole (struct bed *bed)
{
  g_autoptr (json_t) found = check (bed, TRUE, FALSE);
  g_assert_true (json_is_true (json_object_get (found, "healthy")));
  g_assert_cmpint (number_in (found, "unknown_removed"), ==, 0);
  g_assert_cmpint (count_rows (bed), ==, count_blobs (bed));
}

/* ---- names ---- */

static void
test_names (void)
{
  static const struct {
    const char *given, *clean;
  } rows[] = {
      {"plot.png", "plot.png"},
      {"a/b/c.csv", "c.csv"},
      {"../../etc/passwd", "passwd"},
      {"..", "_."},
      {".", "_"},
      {"", "file"},
      {"/", "file"},
      {"dir/", "file"},
      {"-rf", "_rf"},
      {".bashrc", "_bashrc"},
      {"  blank  ", "blank"},
      {"a\nb\x1b[31m.txt", "a_b_[31m.txt"},
      {"C:\\x\\y.csv", "C:_x_y.csv"},
      {"\xff\xfe.bin", "\xef\xbf\xbd\xef\xbf\xbd.bin"},
      {"gpj.\xe2\x80\xae"
       "exe",
       "gpj._exe"},
      {"S\xc3\xa3o.csv", "S\xc3\xa3o.csv"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *clean = file_name_clean (rows[i].given);
    g_assert_cmpstr (clean, ==, rows[i].clean);
    g_autofree char *again = file_name_clean (clean);
    g_assert_cmpstr (again, ==, clean);
  }
}

static void
test_long_names (void)
{
  g_autofree char *stem = g_strnfill (300, 'x');
  g_autofree char *given = g_strconcat (stem, ".parquet", NULL);
  g_autofree char *clean = file_name_clean (given);
  g_assert_cmpuint (strlen (clean), ==, FILE_NAME_BYTES);
  g_assert_true (g_str_has_suffix (clean, "x.parquet"));
  g_autoptr (GString) signs = g_string_new (NULL);
  for (int i = 0; i < 200; i++)
    g_string_append (signs, "\xe2\x82\xac");
  g_autofree char *cut = file_name_clean (signs->str);
  g_assert_true (g_utf8_validate (cut, -1, NULL));
  g_assert_cmpuint (strlen (cut), <=, FILE_NAME_BYTES);
}

/* ---- keeping ---- */

static void
test_keep (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *first = NULL, *second = NULL;
  struct file_new files[] = {make_file ("a/plot.png", "one", "uid:1", &first),
                             make_file ("b.csv", "two", "uid:1", &second)};
  files[0].run_id = files[1].run_id = "run-1";
  files_write (bed.store, files, 2, warnings);
  assert_no_warnings (warnings);
  g_assert_true (files[0].written && files[1].written);
  g_assert_false (is_there (&bed, NULL, files[0].id));
  g_assert_true (keep_files (&bed, files, 2, FALSE));
  g_assert_true (is_there (&bed, "uid:1", files[0].id));
  g_assert_true (is_there (&bed, NULL, files[1].id));
  g_assert_false (is_there (&bed, "uid:2", files[0].id));
  g_assert_false (is_there (&bed, "", files[0].id));

  g_autoptr (GError) error = NULL;
  struct file_row *row = files_find (bed.store, NULL, files[0].id, &error);
  g_assert_no_error (error);
  g_autofree char *blob = g_strdup_printf ("generated/%s_plot.png", files[0].id);
  g_assert_cmpstr (row->name, ==, "plot.png");
  g_assert_cmpstr (row->blob, ==, blob);
  g_assert_cmpstr (row->run_id, ==, "run-1");
  g_assert_null (row->session);
  g_assert_cmpuint (row->bytes, ==, 3);
  g_assert_cmpint (row->expires_ms - row->created_ms, ==, 7 * 24 * 3600 * 1000);
  file_row_free (row);
  char text[8] = "";
  g_assert_cmpint (blobs_read (store_blobs (bed.store, NULL), blob, 0, text, sizeof text, NULL), ==, 3);
  g_assert_cmpstr (text, ==, "one");
  assert_whole (&bed);
  close (files[0].fd);
  close (files[1].fd);
  bed_clear (&bed);
}

static void
test_outputs (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256 = NULL;
  struct file_new file = make_file ("stdout", "long", "uid:1", &sha256);
  file.kind = FILE_STDOUT;
  file.run_id = "run-2";
  files_write (bed.store, &file, 1, warnings);
  g_assert_true (keep_files (&bed, &file, 1, FALSE));
  struct file_row *row = files_find_output (bed.store, "uid:1", "run-2", FILE_STDOUT, NULL);
  g_autofree char *blob = g_strdup_printf ("output/%s", file.id);
  g_assert_cmpstr (row->blob, ==, blob);
  g_assert_cmpint (row->expires_ms - row->created_ms, ==, 24 * 3600 * 1000);
  file_row_free (row);
  g_assert_null (files_find_output (bed.store, "uid:1", "run-2", FILE_STDERR, NULL));
  g_assert_null (files_find_output (bed.store, "uid:2", "run-2", FILE_STDOUT, NULL));
  g_autoptr (GPtrArray) listed = files_list (bed.store, &(struct file_filter){.most = 10}, NULL);
  g_assert_cmpuint (listed->len, ==, 0);
  g_autoptr (GPtrArray) all =
      files_list (bed.store, &(struct file_filter){.outputs = TRUE, .most = 10}, NULL);
  g_assert_cmpuint (all->len, ==, 1);
  close (file.fd);
  bed_clear (&bed);
}

/* The transaction that was to keep them did not come about. */
static void
test_abandon (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256 = NULL;
  struct file_new file = make_file ("a", "text", "uid:1", &sha256);
  files_write (bed.store, &file, 1, warnings);
  g_assert_cmpuint (count_blobs (&bed), ==, 1);
  g_assert_false (keep_files (&bed, &file, 1, TRUE));
  g_assert_false (is_there (&bed, NULL, file.id));
  files_abandon (bed.store, &file, 1);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpuint (count_blobs (&bed), ==, 0);
  g_assert_cmpint (count_rows (&bed), ==, 0);
  close (file.fd);
  bed_clear (&bed);
}

/* What waits to be kept is not taken for given up, however often somebody looks. */
static void
test_recover_leaves_flights (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256 = NULL;
  struct file_new file = make_file ("a", "text", "uid:1", &sha256);
  files_write (bed.store, &file, 1, warnings);
  g_assert_true (files_recover (bed.store, NULL));
  struct store *other = store_new (bed.config, NULL); /* as another process */
  g_assert_true (files_recover (other, NULL));
  g_assert_true (keep_files (&bed, &file, 1, FALSE));
  g_assert_true (is_there (&bed, NULL, file.id));
  store_close (other);
  store_unref (other);
  assert_whole (&bed);
  close (file.fd);
  bed_clear (&bed);
}

/* The writer died after its blobs and before its commit. */
static void
test_recover_dead_writers (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char kept[ID_BYTES];
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256 = NULL;
  struct file_new file = make_file ("a", "text", "uid:1", &sha256);
  put (&bed, "kept", "kept", "uid:1", kept);
  files_write (bed.store, &file, 1, warnings);
  bed_close (&bed);
  bed_open (&bed);
  g_assert_cmpint (count_rows (&bed), ==, 2);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (count_rows (&bed), ==, 1);
  g_assert_true (is_there (&bed, NULL, kept));
  assert_whole (&bed);
  close (file.fd);
  bed_clear (&bed);
}

static void
run_sql (struct bed *bed, const char *sql)
{
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (store_database (bed->store, NULL), TRUE, NULL);
  transaction_run (transaction, sql, NULL, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (transaction_commit (transaction, NULL));
  transaction_end (transaction);
}

static void
test_expiry (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char old[ID_BYTES], young[ID_BYTES];
  put (&bed, "old", "same", "uid:1", old);
  run_sql (&bed, "UPDATE files SET expires_ms = 1");
  put (&bed, "young", "same", "uid:1", young);
  g_assert_false (is_there (&bed, NULL, old));
  g_autoptr (GPtrArray) listed = files_list (bed.store, &(struct file_filter){.most = 10}, NULL);
  g_assert_cmpuint (listed->len, ==, 1);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (count_rows (&bed), ==, 1);
  g_assert_true (is_there (&bed, NULL, young));
  assert_whole (&bed);
  bed_clear (&bed);
}

static void
test_remove (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char id[ID_BYTES], other[ID_BYTES];
  put (&bed, "a", "same", "uid:1", id);
  put (&bed, "b", "same", "uid:2", other);
  g_assert_false (files_remove (bed.store, "uid:2", id, NULL));
  g_assert_true (files_remove (bed.store, "uid:1", id, NULL));
  g_assert_false (files_remove (bed.store, "uid:1", id, NULL));
  g_assert_false (is_there (&bed, NULL, id));
  g_assert_true (is_there (&bed, NULL, other));
  assert_whole (&bed);
  bed_clear (&bed);
}

/* ---- rooms ---- */

static void
test_rooms (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_files_per_owner = 10\nmax_bytes_per_owner = 1MiB\n"))
    return;
  char ids[15][ID_BYTES], other[ID_BYTES], large[ID_BYTES];
  put (&bed, "other", "other", "uid:2", other);
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++) {
    put (&bed, "a", "text", "uid:1", ids[i]);
    g_usleep (1100); /* ids of one millisecond have no order */
  }
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_cmpint (is_there (&bed, "uid:1", ids[i]), ==, i >= 5);
  g_assert_true (is_there (&bed, "uid:2", other));
  g_autofree char *content = g_strnfill (1000 * 1000, 'x');
  put (&bed, "large", content, "uid:1", large);
  g_assert_true (is_there (&bed, "uid:1", ids[14]));
  put (&bed, "large", content, "uid:1", large);
  g_autoptr (GPtrArray) listed =
      files_list (bed.store, &(struct file_filter){.owner = "uid:1", .most = 50}, NULL);
  g_assert_cmpuint (listed->len, ==, 1);
  g_assert_true (files_recover (bed.store, NULL));
  assert_whole (&bed);
  bed_clear (&bed);
}

static void
test_too_large_for_a_room (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_bytes_per_owner = 1MiB\n"))
    return;
  char id[ID_BYTES];
  put (&bed, "small", "text", "uid:1", id);
  g_autofree char *content = g_strnfill (2 << 20, 'x'), *sha256 = NULL, *second = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  struct file_new files[] = {make_file ("large", content, "uid:1", &sha256),
                             make_file ("b", "b", "uid:1", &second)};
  files_write (bed.store, files, 2, warnings);
  g_assert_false (files[0].written);
  g_assert_true (files[1].written);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_nonnull (strstr (warnings->pdata[0], "the file large was not kept: "));
  g_assert_true (keep_files (&bed, files, 2, FALSE));
  g_assert_true (is_there (&bed, "uid:1", id));
  assert_whole (&bed);
  close (files[0].fd);
  close (files[1].fd);
  bed_clear (&bed);
}

/* ---- what cannot be kept ---- */

static void
test_no_place (gconstpointer pair)
{
  struct bed bed;
  if (!has_directory (pair))
    return;
  if (!bed_init (&bed, pair, ""))
    return;
  /* A file where the folder of blobs should be. */
  g_assert_true (g_file_set_contents (bed.blobs, "", 0, NULL));
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256[5] = {0};
  struct file_new files[5];
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    files[i] = make_file ("a", "text", "uid:1", &sha256[i]);
  files_write (bed.store, files, G_N_ELEMENTS (files), warnings);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_true (g_str_has_prefix (warnings->pdata[0], "5 files (a, a, a ...) were not kept: "));
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    g_assert_false (files[i].written);
    close (files[i].fd);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    g_free (g_steal_pointer (&sha256[i]));
  g_remove (bed.blobs);
  bed_clear (&bed);
}

static void
test_turned_off (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_free (bed.config->store_blobs);
  bed.config->store_blobs = g_strdup ("none");
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256 = NULL;
  struct file_new file = make_file ("a", "text", "uid:1", &sha256);
  files_write (bed.store, &file, 1, warnings);
  g_assert_false (file.written);
  assert_no_warnings (warnings);
  close (file.fd);
  bed_clear (&bed);
}

/* ---- URLs ---- */

static void
test_urls (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "url = https://adder.example.org/\n"))
    return;
  static const char id[] = "01234567-0000-7000-8000-000000000000";
  g_autofree char *url = files_url (bed.store, id, "tmp/a b\xe2\x82\xac.png");
  g_assert_true (g_str_has_prefix (
      url,
      "https://adder.example.org/v1/files/01234567-0000-7000-8000-000000000000/a%20b%E2%82%AC.png?expires="));
  gint64 expires = g_ascii_strtoll (strstr (url, "expires=") + strlen ("expires="), NULL, 10);
  const char *signature = strstr (url, "signature=") + strlen ("signature=");
  g_assert_true (files_url_is_good (bed.store, id, expires, signature));
  g_assert_false (files_url_is_good (bed.store, id, expires + 1, signature));
  g_assert_false (files_url_is_good (bed.store, id, 1, signature));
  g_assert_false (files_url_is_good (bed.store, "01234567-0000-7000-8000-000000000001", expires, signature));
  g_assert_false (files_url_is_good (bed.store, id, expires, ""));
  g_autofree char *wrong = g_strdup (signature);
  wrong[0] = wrong[0] == 'a' ? 'b' : 'a';
  g_assert_false (files_url_is_good (bed.store, id, expires, wrong));
  /* Another node, or this one tomorrow, has the same key. */
  bed_close (&bed);
  bed_open (&bed);
  g_assert_true (files_url_is_good (bed.store, id, expires, signature));
  bed_clear (&bed);
}

/* ---- the check ---- */

/* Has KEY hold CONTENT instead, as a disk or somebody else could. */
static void
replace_content (struct bed *bed, const char *key, const char *content)
{
  g_autofree char *sha256 = NULL;
  g_autoptr (GError) error = NULL;
  struct file_new file = make_file ("x", content, "", &sha256);
  struct blobs *blobs = store_blobs (bed->store, NULL);
  g_assert_true (blobs_remove (blobs, key, NULL));
  blobs_put (blobs, key, file.fd, file.bytes, sha256, "text/plain", &error);
  g_assert_no_error (error);
  close (file.fd);
}

static void
test_check_lost (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char ids[4][ID_BYTES];
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++) {
    g_autofree char *content = g_strdup_printf ("content %zu", i);
    put (&bed, "a", content, "uid:1", ids[i]);
  }
  g_autofree char *gone = g_strdup_printf ("generated/%s_a", ids[0]);
  g_assert_true (blobs_remove (store_blobs (bed.store, NULL), gone, NULL));
  g_autofree char *longer = g_strdup_printf ("generated/%s_a", ids[1]);
  replace_content (&bed, longer, "something longer than before");
  g_autofree char *other = g_strdup_printf ("generated/%s_a", ids[2]);
  replace_content (&bed, other, "CONTENT 2");
  g_autoptr (json_t) shallow = check (&bed, FALSE, FALSE);
  g_assert_cmpint (number_in (shallow, "files"), ==, 4);
  g_assert_cmpint (number_in (shallow, "lost_count"), ==, 2);
  g_assert_true (json_is_false (json_object_get (shallow, "healthy")));
  g_autoptr (json_t) deep = check (&bed, TRUE, FALSE);
  g_assert_cmpint (number_in (deep, "lost_count"), ==, 3);
  g_autoptr (json_t) forced = check (&bed, TRUE, TRUE);
  g_assert_cmpint (number_in (forced, "forgotten"), ==, 3);
  g_assert_true (files_recover (bed.store, NULL));
  assert_whole (&bed);
  g_assert_true (is_there (&bed, NULL, ids[3]));
  bed_clear (&bed);
}

static void
test_check_unknown (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char id[ID_BYTES];
  put (&bed, "a", "text", "uid:1", id);
  run_sql (&bed, "DELETE FROM files");
  g_autofree char *foreign = g_build_filename (bed.blobs, "generated", "README", NULL);
  if (has_directory (pair))
    g_assert_true (g_file_set_contents (foreign, "not ours", -1, NULL));
  /* In a bucket there may be files of others, where each has a database for himself. */
  gboolean careful = !has_directory (pair) && !store_world_is_server (bed.world);
  g_autoptr (json_t) found = check (&bed, FALSE, FALSE);
  g_assert_cmpint (number_in (found, careful ? "unknown_left" : "unknown_removed"), ==, 1);
  g_assert_cmpint (json_is_true (json_object_get (found, "healthy")), ==, !careful);
  g_autoptr (json_t) forced = check (&bed, FALSE, TRUE);
  g_assert_cmpint (number_in (forced, "unknown_removed"), ==, careful ? 1 : 0);
  if (has_directory (pair))
    g_assert_true (g_file_test (foreign, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (count_blobs (&bed), ==, has_directory (pair) ? 1 : 0);
  bed_clear (&bed);
}

/* Two users of one machine, each with a folder for himself, share a database: neither misses the other's
 * files, nor removes them when they expire. */
static void
test_check_beside_another_place (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  gboolean shared = has_directory (pair) && store_world_is_server (bed.world);
  char id[ID_BYTES];
  put (&bed, "a", "text", "uid:1", id);
  struct config *config = bed.config;
  g_autofree char *own = config->store_blobs;
  if (shared) {
    config->store_blobs = g_strdup_printf ("directory:%s-other", bed.blobs);
    struct store *other = store_new (config, NULL);
    g_autoptr (json_t) found = store_check (other, &(struct check_options){0}, NULL, NULL);
    g_assert_true (json_is_true (json_object_get (found, "healthy")));
    g_assert_cmpint (number_in (found, "files"), ==, 0);
    run_sql (&bed, "UPDATE files SET expires_ms = 1");
    g_assert_true (files_recover (other, NULL));
    g_assert_cmpint (count_rows (&bed), ==, 1);
    store_close (other);
    store_unref (other);
    g_free (config->store_blobs);
  }
  config->store_blobs = g_steal_pointer (&own);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (count_rows (&bed), ==, shared ? 0 : 1);
  assert_whole (&bed);
  bed_clear (&bed);
}

/* A database that knows none of many files is the wrong one, more likely than not. */
static void
test_check_leaves_many (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char id[ID_BYTES];
  for (int i = 0; i < 101; i++)
    put (&bed, "a", "text", "uid:1", id);
  run_sql (&bed, "DELETE FROM files");
  g_autoptr (json_t) found = check (&bed, FALSE, FALSE);
  g_assert_cmpint (number_in (found, "unknown_left"), ==, 101);
  g_assert_cmpint (number_in (found, "unknown_removed"), ==, 0);
  g_assert_true (json_is_false (json_object_get (found, "healthy")));
  g_autoptr (json_t) forced = check (&bed, FALSE, TRUE);
  g_assert_cmpint (number_in (forced, "unknown_removed"), ==, 101);
  g_assert_cmpuint (count_blobs (&bed), ==, 0);
  bed_clear (&bed);
}

/* ---- many at once ---- */

enum { WRITERS = 4, ROUNDS = 25 };

static gpointer
write_many (gpointer data)
{
  struct bed *bed = data;
  for (int i = 0; i < ROUNDS; i++) {
    g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
    g_autofree char *content = g_strdup_printf ("shared %d", i), *sha256 = NULL;
    struct file_new file = make_file ("a", content, "uid:1", &sha256);
    files_write (bed->store, &file, 1, warnings);
    assert_no_warnings (warnings);
    if (i % 5 == 0)
      files_abandon (bed->store, &file, 1);
    else if (i % 5 == 1)
      g_assert_true (keep_files (bed, &file, 1, FALSE) && files_remove (bed->store, "uid:1", file.id, NULL));
    else
      g_assert_true (keep_files (bed, &file, 1, FALSE));
    close (file.fd);
  }
  return NULL;
}

static gpointer
check_many (gpointer data)
{
  struct bed *bed = data;
  for (int i = 0; i < 10; i++) {
    g_autoptr (json_t) found = check (bed, TRUE, FALSE);
    g_assert_true (json_is_true (json_object_get (found, "healthy")));
    g_assert_cmpint (number_in (found, "unknown_removed"), ==, 0);
    g_assert_cmpint (number_in (found, "unknown_left"), ==, 0);
  }
  return NULL;
}

/* A check beside writers takes nothing of theirs for lost or unknown. */
static void
test_check_beside_writers (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "timeout_ms = 60s\n"))
    return;
  GThread *threads[WRITERS];
  for (int i = 0; i < WRITERS; i++)
    threads[i] = g_thread_new ("writer", write_many, &bed);
  check_many (&bed);
  for (int i = 0; i < WRITERS; i++)
    g_thread_join (threads[i]);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (count_rows (&bed), ==, WRITERS * ROUNDS * 3 / 5);
  assert_whole (&bed);
  bed_clear (&bed);
}

static const struct {
  const char *name;
  void (*run) (gconstpointer pair);
} cases[] = {
    {"keep", test_keep},
    {"outputs", test_outputs},
    {"abandon", test_abandon},
    {"recover-flights", test_recover_leaves_flights},
    {"recover-dead", test_recover_dead_writers},
    {"expiry", test_expiry},
    {"remove", test_remove},
    {"rooms", test_rooms},
    {"too-large", test_too_large_for_a_room},
    {"no-place", test_no_place},
    {"turned-off", test_turned_off},
    {"urls", test_urls},
    {"check-lost", test_check_lost},
    {"check-unknown", test_check_unknown},
    {"check-another-place", test_check_beside_another_place},
    {"check-many-unknown", test_check_leaves_many},
    {"check-beside-writers", test_check_beside_writers},
};

enum { PAIRS_MOST = 8 };

int
main (int argc, char **argv)
{
  g_autofree char *state = g_dir_make_tmp ("adder-state-XXXXXX", NULL);
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store_files/names", test_names);
  g_test_add_func ("/store_files/long-names", test_long_names);
  struct pair pairs[PAIRS_MOST];
  gsize count = 0;
  for (const struct store_world_kind *database = store_world_kinds; database->name; database++)
    for (const struct store_world_kind *blobs = store_world_blob_kinds; blobs->name; blobs++) {
      g_assert_cmpuint (count, <, G_N_ELEMENTS (pairs));
      pairs[count] = (struct pair){database, blobs};
      for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
        g_autofree char *path =
            g_strdup_printf ("/store_files/%s-%s/%s", database->name, blobs->name, cases[i].name);
        g_test_add_data_func (path, &pairs[count], cases[i].run);
      }
      count++;
    }
  int code = g_test_run ();
  g_autofree char *folder = g_build_filename (state, "store", NULL);
  g_rmdir (folder);
  g_rmdir (state);
  return code;
}
