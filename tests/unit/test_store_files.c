/* SPDX-License-Identifier: Apache-2.0 */
/* Kept files: their way from a row to a blob and back, whoever breaks it off. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/file_name.h"
#include "store/file_upload.h"
#include "store/output_read.h"
#include "store_bed.h"
#include "suite.h"

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
      {"\xe3\x85\xa4.csv", "_.csv"},
      {"a\xf3\xa0\x81\x81", "a_"},
      {"S\xc3\xa3o.csv", "S\xc3\xa3o.csv"},
      {"a\xe2\x80\xa8"
       "b\xe2\x80\xa9"
       "c",
       "a_b_c"},
      {"a\xe2\x80\x8d"
       "b\xe2\x80\x8c"
       "c",
       "a\xe2\x80\x8d"
       "b\xe2\x80\x8c"
       "c"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *clean = file_name_clean (rows[i].given);
    g_assert_cmpstr (clean, ==, rows[i].clean);
    g_autofree char *again = file_name_clean (clean);
    g_assert_cmpstr (again, ==, clean);
  }
}

static void
test_name_of_table (void)
{
  static const struct {
    const char *file, *table;
  } rows[] = {
      {"sales.csv", "sales"},
      {"sales.csv.gz", "sales"},
      {"sales.2026.xlsx", "sales.2026"},
      {"sales.zst", "sales"},
      {"sales", "sales"},
      {".csv", ".csv"},
      {".csv.gz", ".csv"},
      {"", ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *stem = file_name_stem (rows[i].file);
    g_assert_cmpstr (stem, ==, rows[i].table);
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
  /* A character that the cut would tear goes as a whole, and a long ending is none. */
  g_string_append (signs, ".csv");
  g_autofree char *torn = file_name_clean (signs->str);
  g_assert_true (g_utf8_validate (torn, -1, NULL));
  g_assert_true (g_str_has_suffix (torn, "\xe2\x82\xac.csv"));
  g_assert_cmpuint (strlen (torn), ==, FILE_NAME_BYTES - 2);
  g_autofree char *dotted = g_strconcat ("a.", stem, NULL), *whole = file_name_clean (dotted);
  g_assert_cmpmem (whole, strlen (whole), dotted, FILE_NAME_BYTES);
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
  struct file_new files[] = {bed_make_file ("a/plot.png", "one", "uid:1", &first),
                             bed_make_file ("b.csv", "two", "uid:1", &second)};
  files[0].run_id = files[1].run_id = "run-1";
  files_write (bed.store, files, 2, warnings);
  assert_no_warnings (warnings);
  g_assert_true (files[0].written && files[1].written);
  g_assert_false (bed_has (&bed, NULL, files[0].id));
  g_assert_true (bed_keep (&bed, files, 2, FALSE));
  g_assert_true (bed_has (&bed, "uid:1", files[0].id));
  g_assert_true (bed_has (&bed, NULL, files[1].id));
  g_assert_false (bed_has (&bed, "uid:2", files[0].id));
  g_assert_false (bed_has (&bed, "", files[0].id));

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
  bed_assert_whole (&bed);
  close (files[0].fd);
  close (files[1].fd);
  bed_clear (&bed);
}

/* Files of several owners go together, each into its owner's room; without a type they are bytes. */
static void
test_owners (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_files_per_owner = 10\n"))
    return;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  struct file_new files[24];
  char *sha256[G_N_ELEMENTS (files)];
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    files[i] = bed_make_file ("a", "text", i < 12 ? "uid:1" : "uid:2", &sha256[i]);
    files[i].mime = NULL;
  }
  files_write (bed.store, files, G_N_ELEMENTS (files), warnings);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_true (
      g_str_has_prefix (warnings->pdata[0], "4 files (a, a, a ...) were not kept: an owner may have 10 "));
  g_assert_true (bed_keep (&bed, files, G_N_ELEMENTS (files), FALSE));
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    g_assert_cmpint (files[i].written, ==, i % 12 < 10);
    close (files[i].fd);
    g_free (sha256[i]);
  }
  struct file_row *row = files_find (bed.store, "uid:2", files[12].id, NULL);
  g_assert_cmpstr (row->mime, ==, "application/octet-stream");
  file_row_free (row);
  files_write (bed.store, files, 0, warnings); /* nothing is nothing */
  files_abandon (bed.store, files, 0);
  g_assert_cmpint (bed_count_rows (&bed), ==, 20);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

/* What others write at this moment makes no room, and is not counted as kept. */
static void
test_room_that_is_written (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_files_per_owner = 10\n"))
    return;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  struct file_new files[12];
  char *sha256[G_N_ELEMENTS (files)];
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    files[i] = bed_make_file ("a", "text", "uid:1", &sha256[i]);
    files_write (bed.store, &files[i], 1, warnings);
    g_assert_true (files[i].written);
  }
  assert_no_warnings (warnings);
  g_assert_true (bed_keep (&bed, files, G_N_ELEMENTS (files), FALSE));
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    g_assert_true (bed_has (&bed, "uid:1", files[i].id));
    close (files[i].fd);
    g_free (sha256[i]);
  }
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

/* Whoever is taken for dead while they live is told so, and keeps nothing. */
static void
test_taken_for_dead (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256 = NULL;
  struct file_new file = bed_make_file ("a", "text", "uid:1", &sha256);
  files_write (bed.store, &file, 1, warnings);
  bed_run_sql (&bed, "DELETE FROM files");
  g_assert_false (bed_keep (&bed, &file, 1, FALSE));
  g_assert_false (bed_has (&bed, NULL, file.id));
  files_abandon (bed.store, &file, 1);
  close (file.fd);
  bed_clear (&bed);
}

/* ---- putting in ---- */

static void
uploads (struct bed *bed, int fd, struct interrupt *interrupt, int code, const char *says)
{
  g_autoptr (GError) error = NULL;
  char id[ID_BYTES];
  const struct file_upload upload = {.owner = "uid:1", .name = "dir/data.csv", .fd = fd};
  gboolean ok = file_upload (bed->store, &upload, interrupt, id, &error);
  g_assert_true (ok == !says);
  if (ok) {
    g_assert_true (bed_has (bed, "uid:1", id));
    g_assert_true (files_remove (bed->store, "uid:1", id, NULL));
  } else {
    g_assert_error (error, ADDER_ERROR, code);
    if (!strstr (error->message, says))
      g_error ("expected \"%s\" in: %s", says, error->message);
  }
  g_assert_cmpint (bed_count_rows (bed), ==, 0);
}

static void
test_uploads (gconstpointer pair)
{
  struct bed bed;
  int ends[2];
  struct interrupt interrupt;
  if (!bed_init (&bed, pair, ""))
    return;
  bed.config->store_file_bytes = 10;
  g_autofree char *sha256 = NULL, *longer = NULL;
  struct file_new ten = bed_make_file ("x", "0123456789", "", &sha256);
  struct file_new eleven = bed_make_file ("x", "0123456789a", "", &longer);
  g_assert_cmpint (lseek (ten.fd, 0, SEEK_SET), ==, 0);
  uploads (&bed, ten.fd, NULL, 0, NULL);
  uploads (&bed, eleven.fd, NULL, ADDER_ERROR_INVALID, "dir/data.csv has more than 10 ");
  close (ten.fd);
  close (eleven.fd);

  /* How long a pipe is shows at its end alone. */
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint (write (ends[1], "0123456789a", 11), ==, 11);
  uploads (&bed, ends[0], NULL, ADDER_ERROR_INVALID, "dir/data.csv has more than 10 ");
  g_assert_true (interrupt_init (&interrupt, -1, NULL));
  interrupt_cancel (&interrupt);
  uploads (&bed, ends[0], &interrupt, ADDER_ERROR_CANCELLED, "putting in dir/data.csv was cancelled");
  interrupt_clear (&interrupt);
  g_assert_true (interrupt_init (&interrupt, -1, NULL));
  g_assert_cmpint (write (ends[1], "end", 3), ==, 3);
  close (ends[1]);
  interrupt_wake (&interrupt); /* by whom it is of no interest */
  uploads (&bed, ends[0], &interrupt, 0, NULL);
  interrupt_clear (&interrupt);
  close (ends[0]);

  g_autofree char *path = g_build_filename (store_world_folder (bed.world), "written", NULL);
  autoclose int written = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  uploads (&bed, written, NULL, ADDER_ERROR_FAILED, "cannot read dir/data.csv");
  autoclose int folder = open (store_world_folder (bed.world), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  uploads (&bed, folder, NULL, ADDER_ERROR_INVALID, "dir/data.csv is neither a file nor a pipe");
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

/* ---- lines of outputs ---- */

struct found {
  json_int_t lines, first_line, first_offset, next;
};

static struct found
grep (struct bed *bed, const struct file_row *row, guint64 offset, const char *pattern)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) answer =
      output_grep (store_blobs (bed->store, NULL), row, offset, OUTPUT_PART_MAX, pattern, &error);
  g_assert_no_error (error);
  const json_t *lines = json_object_get (answer, "lines"), *first = json_array_get (lines, 0);
  return (struct found){(json_int_t)json_array_size (lines), number_in (first, "line"),
                        number_in (first, "offset"), number_in (answer, "next_offset")};
}

static void
test_lines (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  /* Line 1 is longer than a piece, of characters that a piece would tear; then many, and one of no text. */
  g_autoptr (GString) text = g_string_new ("a");
  for (guint i = 0; i < 8000; i++)
    g_string_append (text, "\xe2\x82\xac");
  g_string_append (text, "needle\n");
  gsize second = text->len;
  for (guint i = 0; i < 1100; i++)
    g_string_append (text, "row\n");
  gsize odd = text->len;
  g_string_append (text, "\xff\xfe odd\n");
  g_string_append (text, "end without a newline");
  char id[ID_BYTES];
  bed_put (&bed, "out", text->str, "uid:1", id);
  struct file_row *row = files_find (bed.store, NULL, id, NULL);

  struct found found = grep (&bed, row, 0, "needle$");
  g_assert_cmpint (found.lines, ==, 1);
  g_assert_cmpint (found.first_line, ==, 1);
  found = grep (&bed, row, 0, "^row$");
  g_assert_cmpint (found.lines, ==, 1000);
  g_assert_cmpint (found.first_line, ==, 2);
  g_assert_cmpint (found.first_offset, ==, (gint64)second);
  g_assert_cmpint (found.next, ==, (gint64)second + 4000);
  found = grep (&bed, row, (guint64)found.next, "^row$");
  g_assert_cmpint (found.lines, ==, 100);
  g_assert_cmpint (found.first_line, ==, 1002);
  found = grep (&bed, row, 0, "odd");
  g_assert_cmpint (found.lines, ==, 1);
  g_assert_cmpint (found.first_line, ==, 1102);
  g_assert_cmpint (found.first_offset, ==, (gint64)odd);
  found = grep (&bed, row, 0, "newline$");
  g_assert_cmpint (found.first_line, ==, 1103);
  g_assert_cmpint (found.next, ==, (gint64)text->len);

  static const struct {
    guint64 offset, limit;
    const char *pattern, *says;
  } wrong[] = {
      {100000, 1000, "x", "is beyond the end"},
      {0, OUTPUT_PART_MIN - 1, "x", "the limit is 64 to 1048576 bytes"},
      {0, OUTPUT_PART_MAX + 1, "x", "the limit is 64 to 1048576 bytes"},
      {0, 1000, "\xff", "the pattern is UTF-8"},
      {0, 1000, "(", "\"(\" is not a pattern"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (output_grep (store_blobs (bed.store, NULL), row, wrong[i].offset, wrong[i].limit,
                                wrong[i].pattern, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, wrong[i].says));
  }
  file_row_free (row);
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
  struct file_new file = bed_make_file ("stdout", "long", "uid:1", &sha256);
  file.kind = FILE_STDOUT;
  file.run_id = "run-2";
  files_write (bed.store, &file, 1, warnings);
  g_assert_true (bed_keep (&bed, &file, 1, FALSE));
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
  struct file_new file = bed_make_file ("a", "text", "uid:1", &sha256);
  files_write (bed.store, &file, 1, warnings);
  g_assert_cmpuint (bed_count_blobs (&bed), ==, 1);
  g_assert_false (bed_keep (&bed, &file, 1, TRUE));
  g_assert_false (bed_has (&bed, NULL, file.id));
  files_abandon (bed.store, &file, 1);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpuint (bed_count_blobs (&bed), ==, 0);
  g_assert_cmpint (bed_count_rows (&bed), ==, 0);
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
  struct file_new file = bed_make_file ("a", "text", "uid:1", &sha256);
  files_write (bed.store, &file, 1, warnings);
  g_assert_true (files_recover (bed.store, NULL));
  struct store *other = store_new (bed.config, NULL); /* as another process */
  g_assert_true (files_recover (other, NULL));
  g_assert_true (bed_keep (&bed, &file, 1, FALSE));
  g_assert_true (bed_has (&bed, NULL, file.id));
  store_close (other);
  store_unref (other);
  bed_assert_whole (&bed);
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
  struct file_new file = bed_make_file ("a", "text", "uid:1", &sha256);
  bed_put (&bed, "kept", "kept", "uid:1", kept);
  files_write (bed.store, &file, 1, warnings);
  bed_close (&bed);
  bed_open (&bed);
  g_assert_cmpint (bed_count_rows (&bed), ==, 2);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (bed_count_rows (&bed), ==, 1);
  g_assert_true (bed_has (&bed, NULL, kept));
  bed_assert_whole (&bed);
  close (file.fd);
  bed_clear (&bed);
}

static void
test_expiry (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char old[ID_BYTES], young[ID_BYTES];
  bed_put (&bed, "old", "same", "uid:1", old);
  bed_run_sql (&bed, "UPDATE files SET expires_ms = 1");
  bed_put (&bed, "young", "same", "uid:1", young);
  g_assert_false (bed_has (&bed, NULL, old));
  g_autoptr (GPtrArray) listed = files_list (bed.store, &(struct file_filter){.most = 10}, NULL);
  g_assert_cmpuint (listed->len, ==, 1);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (bed_count_rows (&bed), ==, 1);
  g_assert_true (bed_has (&bed, NULL, young));
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

/* What takes the place of a blob that cannot be removed: a folder with something in it. */
static void
block_blob (const struct bed *bed, const char *id, gboolean is_blocked)
{
  g_autofree char *path = g_strdup_printf ("%s/generated/%s_a", bed->blobs, id);
  g_autofree char *inside = g_build_filename (path, "inside", NULL);
  if (is_blocked) {
    g_assert_cmpint (g_remove (path), ==, 0);
    g_assert_cmpint (g_mkdir_with_parents (inside, 0700), ==, 0);
  } else {
    g_assert_cmpint (g_rmdir (inside), ==, 0);
    g_assert_cmpint (g_rmdir (path), ==, 0);
  }
}

/* However many cannot be removed, those behind them can. */
static void
test_recover_goes_on (gconstpointer pair)
{
  struct bed bed;
  if (!pair_has_directory (pair) || !bed_init (&bed, pair, ""))
    return;
  char ids[10][ID_BYTES];
  const gsize blocked = 7;
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++) {
    bed_put (&bed, "a", "text", "uid:1", ids[i]);
    g_usleep (1100); /* ids of one millisecond have no order */
  }
  for (gsize i = 0; i < blocked; i++)
    block_blob (&bed, ids[i], TRUE);
  bed_run_sql (&bed, "UPDATE files SET expires_ms = 1");
  for (gsize i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (files_recover (bed.store, &error));
    g_assert_nonnull (strstr (error->message, "generated/"));
    g_assert_cmpint (bed_count_rows (&bed), ==, blocked);
  }
  /* Wherever a look begins, it goes everywhere. */
  block_blob (&bed, ids[0], FALSE);
  g_assert_false (files_recover (bed.store, NULL));
  g_assert_cmpint (bed_count_rows (&bed), ==, blocked - 1);
  for (gsize i = 1; i < blocked; i++)
    block_blob (&bed, ids[i], FALSE);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (bed_count_rows (&bed), ==, 0);
  bed_clear (&bed);
}

static void
test_remove (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char id[ID_BYTES], other[ID_BYTES];
  bed_put (&bed, "a", "same", "uid:1", id);
  bed_put (&bed, "b", "same", "uid:2", other);
  g_assert_false (files_remove (bed.store, "uid:2", id, NULL));
  g_assert_true (files_remove (bed.store, "uid:1", id, NULL));
  g_assert_false (files_remove (bed.store, "uid:1", id, NULL));
  g_assert_false (bed_has (&bed, NULL, id));
  g_assert_true (bed_has (&bed, NULL, other));
  bed_assert_whole (&bed);
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
  bed_put (&bed, "other", "other", "uid:2", other);
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++) {
    bed_put (&bed, "a", "text", "uid:1", ids[i]);
    g_usleep (1100); /* ids of one millisecond have no order */
  }
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_cmpint (bed_has (&bed, "uid:1", ids[i]), ==, i >= 5);
  g_assert_true (bed_has (&bed, "uid:2", other));
  g_autofree char *content = g_strnfill (1000 * 1000, 'x');
  bed_put (&bed, "large", content, "uid:1", large);
  g_assert_true (bed_has (&bed, "uid:1", ids[14]));
  bed_put (&bed, "large", content, "uid:1", large);
  g_autoptr (GPtrArray) listed =
      files_list (bed.store, &(struct file_filter){.owner = "uid:1", .most = 50}, NULL);
  g_assert_cmpuint (listed->len, ==, 1);
  g_assert_true (files_recover (bed.store, NULL));
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

static void
test_too_large_for_a_room (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_bytes_per_owner = 1MiB\n"))
    return;
  char id[ID_BYTES];
  bed_put (&bed, "small", "text", "uid:1", id);
  g_autofree char *content = g_strnfill (2 << 20, 'x'), *sha256 = NULL, *second = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  struct file_new files[] = {bed_make_file ("large", content, "uid:1", &sha256),
                             bed_make_file ("b", "b", "uid:1", &second)};
  files_write (bed.store, files, 2, warnings);
  g_assert_false (files[0].written);
  g_assert_true (files[1].written);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_nonnull (strstr (warnings->pdata[0], "the file large was not kept: "));
  g_assert_true (bed_keep (&bed, files, 2, FALSE));
  g_assert_true (bed_has (&bed, "uid:1", id));
  bed_assert_whole (&bed);
  close (files[0].fd);
  close (files[1].fd);
  bed_clear (&bed);
}

/* ---- what cannot be kept ---- */

static void
test_no_place (gconstpointer pair)
{
  struct bed bed;
  if (!pair_has_directory (pair))
    return;
  if (!bed_init (&bed, pair, ""))
    return;
  /* A file where the folder of blobs should be. */
  g_assert_true (g_file_set_contents (bed.blobs, "", 0, NULL));
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *sha256[5] = {0};
  struct file_new files[5];
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    files[i] = bed_make_file ("a", "text", "uid:1", &sha256[i]);
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
  struct file_new file = bed_make_file ("a", "text", "uid:1", &sha256);
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
  /* A key that is none signs nothing. */
  bed_run_sql (&bed, "UPDATE settings SET value = 'short' WHERE name = 'file_url_key'");
  bed_close (&bed);
  bed_open (&bed);
  g_assert_null (files_url (bed.store, id, "a"));
  g_assert_false (files_url_is_good (bed.store, id, expires, signature));
  bed_clear (&bed);
}

static const struct bed_case cases[] = {
    {"keep", test_keep},
    {"owners", test_owners},
    {"room-written", test_room_that_is_written},
    {"taken-for-dead", test_taken_for_dead},
    {"uploads", test_uploads},
    {"lines", test_lines},
    {"outputs", test_outputs},
    {"abandon", test_abandon},
    {"recover-flights", test_recover_leaves_flights},
    {"recover-dead", test_recover_dead_writers},
    {"expiry", test_expiry},
    {"recover-goes-on", test_recover_goes_on},
    {"remove", test_remove},
    {"rooms", test_rooms},
    {"too-large", test_too_large_for_a_room},
    {"no-place", test_no_place},
    {"turned-off", test_turned_off},
    {"urls", test_urls},
};

static void
add_names (void)
{
  g_test_add_func ("/store_files/names", test_names);
  g_test_add_func ("/store_files/name-of-table", test_name_of_table);
  g_test_add_func ("/store_files/long-names", test_long_names);
}

UNIT_SUITE (store_files)
{
  return bed_main (argc, argv, "store_files", cases, G_N_ELEMENTS (cases), add_names);
}
