/* SPDX-License-Identifier: Apache-2.0 */
/* The check of the store: what it finds, what it repairs, and what it leaves alone. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "store/check.h"
#include "store_bed.h"
#include "suite.h"

/* Has KEY hold CONTENT instead, as a disk or somebody else could. */
static void
replace_content (struct bed *bed, const char *key, const char *content)
{
  g_autofree char *sha256 = NULL;
  g_autoptr (GError) error = NULL;
  struct file_new file = bed_make_file ("x", content, "", &sha256);
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
    bed_put (&bed, "a", content, "uid:1", ids[i]);
  }
  g_autofree char *gone = g_strdup_printf ("generated/%s_a", ids[0]);
  g_assert_true (blobs_remove (store_blobs (bed.store, NULL), gone, NULL));
  g_autofree char *longer = g_strdup_printf ("generated/%s_a", ids[1]);
  replace_content (&bed, longer, "something longer than before");
  g_autofree char *other = g_strdup_printf ("generated/%s_a", ids[2]);
  replace_content (&bed, other, "CONTENT 2");
  g_autoptr (json_t) shallow = bed_check (&bed, FALSE, FALSE);
  g_assert_cmpint (number_in (shallow, "files"), ==, 4);
  g_assert_cmpint (number_in (shallow, "lost_count"), ==, 2);
  g_assert_true (json_is_false (json_object_get (shallow, "healthy")));
  g_autoptr (json_t) deep = bed_check (&bed, TRUE, FALSE);
  g_assert_cmpint (number_in (deep, "lost_count"), ==, 3);
  g_autoptr (json_t) forced = bed_check (&bed, TRUE, TRUE);
  g_assert_cmpint (number_in (forced, "forgotten"), ==, 3);
  g_assert_true (files_recover (bed.store, NULL));
  bed_assert_whole (&bed);
  g_assert_true (bed_has (&bed, NULL, ids[3]));
  bed_clear (&bed);
}

/* However many are lost, some are named; whoever does not wait any more gets no answer. */
static void
test_check_many_lost (gconstpointer pair)
{
  struct bed bed;
  if (!pair_has_directory (pair) || !bed_init (&bed, pair, ""))
    return;
  char id[ID_BYTES];
  bed_put (&bed, "a", "text", "uid:1", id);
  bed_run_sql (&bed,
               "INSERT INTO files (id, state, kind, name, mime, sha256, bytes, blob, owner, node, writer, "
               "created_ms, expires_ms) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
               "WHERE i < 210) SELECT 'lost ' || i, 1, kind, name, mime, sha256, bytes, 'nowhere/' || i, "
               "owner, node, writer, created_ms, expires_ms FROM files CROSS JOIN n");
  g_autoptr (json_t) found = bed_check (&bed, TRUE, FALSE);
  g_assert_cmpint (number_in (found, "files"), ==, 211);
  g_assert_cmpint (number_in (found, "lost_count"), ==, 210);
  g_assert_cmpuint (json_array_size (json_object_get (found, "lost")), ==, 200);

  struct interrupt interrupt;
  g_autoptr (GError) error = NULL;
  g_assert_true (interrupt_init (&interrupt, -1, NULL));
  g_autoptr (json_t) waited = store_check (bed.store, &(struct check_options){0}, &interrupt, &error);
  g_assert_no_error (error);
  g_assert_true (json_equal (json_object_get (waited, "lost_count"), json_object_get (found, "lost_count")));
  interrupt_cancel (&interrupt);
  g_assert_null (store_check (bed.store, &(struct check_options){0}, &interrupt, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED);
  interrupt_clear (&interrupt);
  bed_clear (&bed);
}

static void
test_check_unknown (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  char id[ID_BYTES];
  bed_put (&bed, "a", "text", "uid:1", id);
  bed_run_sql (&bed, "DELETE FROM files");
  g_autofree char *foreign = g_build_filename (bed.blobs, "generated", "README", NULL);
  if (pair_has_directory (pair))
    g_assert_true (g_file_set_contents (foreign, "not ours", -1, NULL));
  /* In a bucket there may be files of others, where each has a database of their own. */
  gboolean careful = !pair_has_directory (pair) && !store_world_is_server (bed.world);
  g_autoptr (json_t) found = bed_check (&bed, FALSE, FALSE);
  g_assert_cmpint (number_in (found, careful ? "unknown_left" : "unknown_removed"), ==, 1);
  g_assert_cmpint (json_is_true (json_object_get (found, "healthy")), ==, !careful);
  g_autoptr (json_t) forced = bed_check (&bed, FALSE, TRUE);
  g_assert_cmpint (number_in (forced, "unknown_removed"), ==, careful ? 1 : 0);
  if (pair_has_directory (pair))
    g_assert_true (g_file_test (foreign, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (bed_count_blobs (&bed), ==, pair_has_directory (pair) ? 1 : 0);
  bed_clear (&bed);
}

/* Two users of one machine, each with a folder of their own, share a database: neither misses the other's
 * files, nor removes them when they expire. */
static void
test_check_beside_another_place (gconstpointer pair)
{
  struct bed bed;
  if (!bed_init (&bed, pair, ""))
    return;
  gboolean shared = pair_has_directory (pair) && store_world_is_server (bed.world);
  char id[ID_BYTES];
  bed_put (&bed, "a", "text", "uid:1", id);
  struct config *config = bed.config;
  g_autofree char *own = config->store_blobs;
  if (shared) {
    config->store_blobs = g_strdup_printf ("directory:%s-other", bed.blobs);
    struct store *other = store_new (config, NULL);
    g_autoptr (json_t) found = store_check (other, &(struct check_options){0}, NULL, NULL);
    g_assert_true (json_is_true (json_object_get (found, "healthy")));
    g_assert_cmpint (number_in (found, "files"), ==, 0);
    bed_run_sql (&bed, "UPDATE files SET expires_ms = 1");
    g_assert_true (files_recover (other, NULL));
    g_assert_cmpint (bed_count_rows (&bed), ==, 1);
    store_close (other);
    store_unref (other);
    g_free (config->store_blobs);
  }
  config->store_blobs = g_steal_pointer (&own);
  g_assert_true (files_recover (bed.store, NULL));
  g_assert_cmpint (bed_count_rows (&bed), ==, shared ? 0 : 1);
  bed_assert_whole (&bed);
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
    bed_put (&bed, "a", "text", "uid:1", id);
  bed_run_sql (&bed, "DELETE FROM files");
  g_autoptr (json_t) found = bed_check (&bed, FALSE, FALSE);
  g_assert_cmpint (number_in (found, "unknown_left"), ==, 101);
  g_assert_cmpint (number_in (found, "unknown_removed"), ==, 0);
  g_assert_true (json_is_false (json_object_get (found, "healthy")));
  g_autoptr (json_t) forced = bed_check (&bed, FALSE, TRUE);
  g_assert_cmpint (number_in (forced, "unknown_removed"), ==, 101);
  g_assert_cmpuint (bed_count_blobs (&bed), ==, 0);
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
    struct file_new file = bed_make_file ("a", content, "uid:1", &sha256);
    files_write (bed->store, &file, 1, warnings);
    assert_no_warnings (warnings);
    if (i % 5 == 0)
      files_abandon (bed->store, &file, 1);
    else if (i % 5 == 1)
      g_assert_true (bed_keep (bed, &file, 1, FALSE) && files_remove (bed->store, "uid:1", file.id, NULL));
    else
      g_assert_true (bed_keep (bed, &file, 1, FALSE));
    close (file.fd);
  }
  return NULL;
}

static gpointer
check_many (gpointer data)
{
  struct bed *bed = data;
  for (int i = 0; i < 10; i++) {
    g_autoptr (json_t) found = bed_check (bed, TRUE, FALSE);
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
  g_assert_cmpint (bed_count_rows (&bed), ==, WRITERS * ROUNDS * 3 / 5);
  bed_assert_whole (&bed);
  bed_clear (&bed);
}

static const struct bed_case cases[] = {
    {"lost", test_check_lost},
    {"many-lost", test_check_many_lost},
    {"unknown", test_check_unknown},
    {"another-place", test_check_beside_another_place},
    {"many-unknown", test_check_leaves_many},
    {"beside-writers", test_check_beside_writers},
};

UNIT_SUITE (store_check)
{
  return bed_main (argc, argv, "store_check", cases, G_N_ELEMENTS (cases), NULL);
}
