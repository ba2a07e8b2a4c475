/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets: whole or not at all, with versions, and older databases that know of none. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "store/datasets.h"
#include "store_bed.h"
#include "suite.h"

#define OWNER "uid:1"

static struct dataset *
put_with (struct bed *bed, const char *name, const char *content, gboolean keep_versions, GError **error)
{
  g_autofree char *sha256 = NULL;
  struct file_new table = bed_make_file ("x", content, OWNER, &sha256);
  g_autoptr (json_t) facts = json_pack ("{s:s, s:s}", "query", "elements HAS \"Ti\"", "sha256", "wrong");
  const struct dataset_new put = {.owner = OWNER,
                                  .name = name,
                                  .table_fd = table.fd,
                                  .facts = facts,
                                  .rows = 7,
                                  .complete = TRUE,
                                  .keep_versions = keep_versions};
  struct dataset *dataset = dataset_put (bed->store, &put, error);
  close (table.fd);
  return dataset;
}

static struct dataset *
put (struct bed *bed, const char *name, const char *content, gboolean keep_versions)
{
  g_autoptr (GError) error = NULL;
  struct dataset *dataset = put_with (bed, name, content, keep_versions, &error);
  g_assert_no_error (error);
  g_assert_nonnull (dataset);
  return dataset;
}

static gint64
version_of (struct bed *bed, const char *owner, const char *name)
{
  g_autoptr (GError) error = NULL;
  struct dataset *dataset = dataset_find (bed->store, owner, name, &error);
  gint64 version = dataset ? dataset->version : 0;
  if (!dataset)
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  dataset_free (dataset);
  return version;
}

static void
recover (struct bed *bed)
{
  g_autoptr (GError) error = NULL;
  files_recover (bed->store, &error);
  g_assert_no_error (error);
}

static void
test_names (void)
{
  static const char *const good[] = {"tio2", "_x", "9", "Ti-O.2024_b"};
  static const char *const bad[] = {"", "-a", ".a", "a/b", "a b", "a:1", "\xc3\xa4", "a\n"};
  g_autofree char *longest = g_strnfill (DATASET_NAME_MAX, 'a'), *longer = g_strconcat (longest, "a", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (dataset_name_check (good[i], NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (dataset_name_check (bad[i], &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
  g_assert_true (dataset_name_check (longest, NULL));
  g_assert_false (dataset_name_check (longer, NULL));
}

static void
test_put (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_autoptr (GError) error = NULL;
  struct dataset *dataset = put (&bed, "tio2", "PAR1 one PAR1", FALSE);
  g_assert_cmpint (dataset->version, ==, 1);
  g_assert_cmpuint (dataset->rows, ==, 7);
  g_assert_cmpuint (dataset->bytes, ==, 13);
  g_assert_true (dataset->complete);

  g_autofree char *sha256 = g_compute_checksum_for_string (G_CHECKSUM_SHA256, "PAR1 one PAR1", -1);
  g_autoptr (json_t) facts = dataset_facts (bed.store, dataset, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (json_member_text (facts, "query"), ==, "elements HAS \"Ti\"");
  g_assert_cmpstr (json_member_text (facts, "sha256"), ==, sha256);
  g_assert_cmpstr (json_member_text (facts, "name"), ==, "tio2");
  g_assert_cmpint (number_in (facts, "version"), ==, 1);
  g_assert_cmpint (number_in (facts, "rows"), ==, 7);

  struct file_row *row = files_find (bed.store, OWNER, dataset->table_id, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (row->name, ==, "tio2.parquet");
  g_assert_true (g_str_has_prefix (row->blob, "datasets/"));
  file_row_free (row);
  g_autoptr (GPtrArray) files = files_list (bed.store, &(struct file_filter){.most = 10}, &error);
  g_assert_cmpuint (files->len, ==, 0);

  /* Its files go with it alone. */
  g_assert_false (files_remove (bed.store, OWNER, dataset->table_id, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 1);
  g_assert_cmpint (version_of (&bed, "uid:2", "tio2"), ==, 0);
  dataset_free (dataset);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

static void
test_versions (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  dataset_free (put (&bed, "tio2", "one", FALSE));
  dataset_free (put (&bed, "tio2", "two", TRUE));
  g_assert_cmpint (version_of (&bed, OWNER, "tio2:1"), ==, 1);
  dataset_free (put (&bed, "tio2", "three", FALSE));
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 3);
  g_assert_cmpint (version_of (&bed, OWNER, "tio2:2"), ==, 0);
  g_assert_cmpint (version_of (&bed, OWNER, "tio2:1"), ==, 1);
  dataset_free (put (&bed, "Abc", "four", FALSE));
  dataset_free (put (&bed, "_a", "five", FALSE));

  g_autoptr (GPtrArray) newest = datasets_list (bed.store, OWNER, FALSE, NULL);
  g_autoptr (GPtrArray) all = datasets_list (bed.store, OWNER, TRUE, NULL);
  g_autoptr (GPtrArray) others = datasets_list (bed.store, "uid:2", TRUE, NULL);
  g_assert_cmpuint (newest->len, ==, 3);
  g_assert_cmpstr (((struct dataset *)newest->pdata[0])->name, ==, "Abc");
  g_assert_cmpstr (((struct dataset *)newest->pdata[1])->name, ==, "_a");
  g_assert_cmpint (((struct dataset *)newest->pdata[2])->version, ==, 3);
  g_assert_cmpuint (all->len, ==, 4);
  g_assert_cmpint (((struct dataset *)all->pdata[2])->version, ==, 3);
  g_assert_cmpint (((struct dataset *)all->pdata[3])->version, ==, 1);
  g_assert_cmpuint (others->len, ==, 0);

  /* What was replaced is gone with its files. */
  recover (&bed);
  g_assert_cmpint (bed_count_rows (&bed), ==, 8);
  bed_assert_whole (&bed);

  g_autoptr (GError) error = NULL;
  g_assert_null (dataset_find (bed.store, OWNER, "tio2:9", &error));
  g_assert_nonnull (strstr (error->message, "versions of tio2 are 3, 1"));
  g_clear_error (&error);
  g_assert_null (dataset_find (bed.store, OWNER, "nothing", &error));
  g_assert_nonnull (strstr (error->message, "there is Abc, _a, tio2"));
  g_clear_error (&error);
  g_assert_null (dataset_find (bed.store, OWNER, "tio2:x", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  bed_clear (&bed);
}

static void
test_remove (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  dataset_free (put (&bed, "a", "one", FALSE));
  dataset_free (put (&bed, "a", "two", TRUE));
  dataset_free (put (&bed, "a", "three", TRUE));
  dataset_free (put (&bed, "b", "four", TRUE));
  g_assert_false (dataset_remove (bed.store, "uid:2", "a", NULL));
  g_assert_true (dataset_remove (bed.store, OWNER, "a:2", NULL));
  g_assert_cmpint (version_of (&bed, OWNER, "a:2"), ==, 0);
  g_assert_cmpint (version_of (&bed, OWNER, "a"), ==, 3);
  g_assert_true (dataset_remove (bed.store, OWNER, "a", NULL));
  g_assert_cmpint (version_of (&bed, OWNER, "a"), ==, 0);
  g_assert_false (dataset_remove (bed.store, OWNER, "a", NULL));
  g_assert_cmpint (version_of (&bed, OWNER, "b"), ==, 1);
  recover (&bed);
  g_assert_cmpint (bed_count_rows (&bed), ==, 2);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

/* Neither files nor time take a data set away. */
static void
test_stays (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_files_per_owner = 10\nfile_age_ms = 1s\n"))
    return;
  dataset_free (put (&bed, "tio2", "one", FALSE));
  char first[ID_BYTES], id[ID_BYTES];
  bed_put (&bed, "f", "x0", OWNER, first);
  for (int i = 1; i <= 10; i++) {
    g_autofree char *content = g_strdup_printf ("x%d", i);
    bed_put (&bed, "f", content, OWNER, id);
  }
  g_assert_false (bed_has (&bed, OWNER, first));
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 1);
  bed_run_sql (&bed, "UPDATE files SET expires_ms = expires_ms - 60000");
  recover (&bed);
  g_assert_false (bed_has (&bed, OWNER, id));
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 1);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

static void
refuses (struct bed *bed, const char *name, const char *content, const char *says)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (put_with (bed, name, content, TRUE, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, says));
}

static void
test_room (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_datasets_per_owner = 2\nmax_dataset_bytes_per_owner = 1MiB\n"))
    return;
  g_autofree char *large = g_strnfill (800 << 10, 'x'), *larger = g_strnfill (1100 << 10, 'x');
  dataset_free (put (&bed, "a", large, FALSE));
  refuses (&bed, "b", large, "max_dataset_bytes_per_owner");
  /* What it takes the place of makes room for it, and stays where it does not suffice. */
  dataset_free (put (&bed, "a", large, FALSE));
  g_autoptr (GError) error = NULL;
  g_assert_null (put_with (&bed, "a", larger, FALSE, &error));
  g_assert_cmpint (version_of (&bed, OWNER, "a"), ==, 2);
  dataset_free (put (&bed, "b", "small", FALSE));
  refuses (&bed, "c", "small", "max_datasets_per_owner");
  refuses (&bed, "b", "small", "max_datasets_per_owner");
  recover (&bed);
  g_assert_cmpint (bed_count_rows (&bed), ==, 4);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

enum { WRITERS = 4 };

static gpointer
put_one (gpointer data)
{
  dataset_free (put (data, "shared", "content", TRUE));
  return NULL;
}

/* Each gets a version of its own. */
static void
test_together (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  GThread *threads[WRITERS];
  for (guint i = 0; i < WRITERS; i++)
    threads[i] = g_thread_new ("put", put_one, &bed);
  for (guint i = 0; i < WRITERS; i++)
    g_thread_join (threads[i]);
  g_autoptr (GPtrArray) all = datasets_list (bed.store, OWNER, TRUE, NULL);
  g_assert_cmpuint (all->len, ==, WRITERS);
  for (guint i = 0; i < WRITERS; i++)
    g_assert_cmpint (((struct dataset *)all->pdata[i])->version, ==, WRITERS - i);
  recover (&bed);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

/* A data set of which something is lost is not there, and can be put again. */
static void
test_lost (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  dataset_free (put (&bed, "tio2", "one", FALSE));
  bed_run_sql (&bed, "UPDATE files SET state = 2 WHERE kind = 6");
  recover (&bed);
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 0);
  g_autoptr (GPtrArray) listed = datasets_list (bed.store, OWNER, TRUE, NULL);
  g_assert_cmpuint (listed->len, ==, 0);
  dataset_free (put (&bed, "tio2", "two", FALSE));
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 2);
  recover (&bed);
  g_assert_cmpint (bed_count_rows (&bed), ==, 2);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

/* Whoever asks for one that is not there is told which there are. */
static void
test_told (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  g_autoptr (GError) error = NULL;
  g_assert_null (dataset_find (bed.store, OWNER, "nothing", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "there are none yet"));
  g_clear_error (&error);
  dataset_free (put (&bed, "a0", "one", FALSE));
  bed_run_sql (&bed, "INSERT INTO datasets (owner, name, version, created_ms, table_id, facts_id, row_count, "
                     "bytes, complete) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
                     "i < 10) SELECT owner, 'a' || i, 1, created_ms, table_id, facts_id, row_count, bytes, "
                     "complete FROM datasets CROSS JOIN n");
  g_assert_null (dataset_find (bed.store, OWNER, "nothing", &error));
  g_assert_nonnull (strstr (error->message, "there is a0, a1, a10, a2, a3, a4, a5, a6, a7, a8 ..."));
  g_clear_error (&error);
  static const char *const wrong[] = {"a1:", "a1:0", "a1:-1", "a1:1x", "a1:9223372036854775808"};
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_assert_false (dataset_remove (bed.store, OWNER, wrong[i], &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, "is the number of a version"));
    g_clear_error (&error);
  }
  g_assert_cmpint (version_of (&bed, OWNER, "a1:1"), ==, 1);
  bed_clear (&bed);
}

/* What is no table, is too large or is one version too many is refused in one sentence, and leaves nothing.
 */
static void
test_refused (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, "max_file_bytes = 1MiB\n"))
    return;
  g_autofree char *large = g_strnfill ((1 << 20) + 1, 'x'), *verbose = g_strnfill (8 << 20, 'x');
  refuses (&bed, "tio2", large, "has more than 1 MiB, the most that a file may have");

  int ends[2];
  g_autoptr (GError) error = NULL;
  struct dataset_new new = {.owner = OWNER, .name = "tio2"};
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  new.table_fd = ends[0];
  g_assert_null (dataset_put (bed.store, &new, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "the table of the data set tio2 is no file");
  g_clear_error (&error);
  close (ends[0]);
  close (ends[1]);
  new.name = NULL;
  g_assert_null (dataset_put (bed.store, &new, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  new.name = "tio2";

  g_autofree char *sha256 = NULL;
  struct file_new table = bed_make_file ("x", "one", OWNER, &sha256);
  g_autoptr (json_t) facts = json_pack ("{s:s}", "query", verbose);
  new.table_fd = table.fd;
  new.facts = facts;
  g_assert_null (dataset_put (bed.store, &new, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "what is known of the data set tio2 has more than 8 MiB");
  g_clear_error (&error);
  g_assert_cmpint (bed_count_rows (&bed), ==, 0);

  /* Without facts of its own it has those that every one has. */
  new.facts = NULL;
  struct dataset *dataset = dataset_put (bed.store, &new, &error);
  g_assert_no_error (error);
  g_assert_false (dataset->complete);
  g_autoptr (json_t) known = dataset_facts (bed.store, dataset, &error);
  g_assert_no_error (error);
  g_assert_true (json_is_false (json_object_get (known, "complete")));
  g_assert_cmpstr (json_member_text (known, "sha256"), ==, sha256);
  dataset_free (dataset);
  close (table.fd);

  bed_run_sql (&bed, "INSERT INTO datasets (owner, name, version, created_ms, table_id, facts_id, row_count, "
                     "bytes, complete) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
                     "i < 99) SELECT owner, name, version + i, created_ms, table_id, facts_id, row_count, "
                     "bytes, complete FROM datasets CROSS JOIN n");
  refuses (&bed, "tio2", "two", "has 100 versions, the most that one may have");
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 100);
  recover (&bed);
  g_assert_cmpint (bed_count_rows (&bed), ==, 2);
  bed_close (&bed); /* its threads read the configuration */
  g_free (bed.config->store_blobs);
  bed.config->store_blobs = g_strdup ("none");
  bed_open (&bed);
  g_assert_null (put_with (&bed, "b", "two", FALSE, &error));
  g_assert_cmpstr (error->message, ==, "the data set b cannot be kept: the configuration keeps no files");
  bed_clear (&bed);
}

/* What version 2 of the tables brought is taken back, as a database of version 1 is; what it held stays. */
static void
test_upgrade (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char id[ID_BYTES];
  bed_put (&bed, "plot.png", "picture", OWNER, id);
  bed_run_sql (&bed, "DROP TABLE datasets");
  bed_run_sql (&bed, "DROP INDEX files_owner");
  bed_run_sql (&bed, "CREATE INDEX files_owner ON files (owner, id, state, bytes)");
  bed_run_sql (&bed, "UPDATE schema_version SET version = 1");
  bed_close (&bed);

  bed_open (&bed);
  g_assert_true (bed_has (&bed, OWNER, id));
  dataset_free (put (&bed, "tio2", "one", FALSE));
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 1);
  bed_close (&bed);
  bed_open (&bed);
  g_assert_cmpint (version_of (&bed, OWNER, "tio2"), ==, 1);
  g_assert_true (bed_has (&bed, OWNER, id));
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

static void
add_tests (void)
{
  g_test_add_func ("/datasets/names", test_names);
}

UNIT_SUITE (store_datasets)
{
  static const struct bed_case cases[] = {
      {"put", test_put},   {"versions", test_versions}, {"remove", test_remove}, {"stays", test_stays},
      {"room", test_room}, {"together", test_together}, {"lost", test_lost},     {"upgrade", test_upgrade},
      {"told", test_told}, {"refused", test_refused},
  };
  return bed_main (argc, argv, "datasets", cases, G_N_ELEMENTS (cases), add_tests);
}
