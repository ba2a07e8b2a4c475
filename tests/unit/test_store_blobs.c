/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs, the same for each back end: what is put is whole, found, read, listed and gone. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "blob_support.h"
#include "engine/host/id.h"
#include "store/blobs.h"
#include "store_world.h"
#include "suite.h"

#define TIMEOUT_MS 60000 /* no test waits for it */

struct fixture {
  char *path; /* a directory of this test's own */
  char *url;
  struct blobs *blobs;
};

static void
set_up (struct fixture *fixture, const struct store_world_kind *kind)
{
  g_autoptr (GError) error = NULL;
  fixture->path = g_dir_make_tmp ("adder-blobs-XXXXXX", NULL);
  fixture->url = store_world_blobs (kind, fixture->path);
  if (!fixture->url)
    return;
  g_autofree char *scratch = g_build_filename (fixture->path, "scratch", NULL);
  fixture->blobs = blobs_open (fixture->url, scratch, 64 << 20, TIMEOUT_MS, &error);
  g_assert_no_error (error);
}

static void
tear_down (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  blobs_close (fixture->blobs);
  suite_remove (fixture->path);
  g_free (fixture->path);
  g_free (fixture->url);
}

/* ---- any back end ---- */

static void
test_round (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  static const char *const texts[] = {"", "x", "a,b\n1,2\n"};
  for (guint own = 0; own < 2; own++)
    for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
      g_autofree char *key = blob_key ("ta ble +&?%ä'\"<>.csv");
      gsize length = strlen (texts[i]);
      blob_put (fixture->blobs, own, key, texts[i], length, &error);
      g_assert_no_error (error);
      blob_assert (fixture->blobs, key, texts[i], length);
      /* It must be as long as it was said to be, wherever it lies. */
      g_assert_cmpint (blobs_get (fixture->blobs, key, length + 1, NULL, &error), ==, -1);
      blob_assert_code (error, ADDER_ERROR_FAILED);
      g_clear_error (&error);
      guint64 bytes;
      g_assert_true (blobs_stat (fixture->blobs, key, &bytes, NULL));
      g_assert_cmpuint (bytes, ==, length);
      g_assert_true (blobs_stat (fixture->blobs, key, NULL, NULL));
      g_autoptr (GHashTable) keys = blob_list (fixture->blobs);
      g_assert_cmpuint (GPOINTER_TO_UINT (g_hash_table_lookup (keys, key)), ==, length + 1);
      blobs_remove (fixture->blobs, key, &error);
      g_assert_no_error (error);
      blobs_remove (fixture->blobs, key, &error);
      g_assert_no_error (error);
      g_assert_false (blobs_stat (fixture->blobs, key, NULL, &error));
      blob_assert_code (error, ADDER_ERROR_NOT_FOUND);
      g_clear_error (&error);
      g_assert_cmpint (blobs_get (fixture->blobs, key, length, NULL, &error), ==, -1);
      blob_assert_code (error, ADDER_ERROR_NOT_FOUND);
      g_clear_error (&error);
    }
}

static void
test_read (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    guint64 offset;
    gsize length;
    const char *text;
  } rows[] = {{0, 4, "0123"}, {4, 100, "456789"}, {9, 1, "9"},         {10, 5, ""},
              {1000, 5, ""},  {3, 0, ""},         {G_MAXUINT64, 5, ""}};
  g_autofree char *key = blob_key ("digits");
  g_assert_true (blob_put (fixture->blobs, TRUE, key, "0123456789", 10, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    char buffer[128];
    g_autoptr (GError) error = NULL;
    gssize got = blobs_read (fixture->blobs, key, rows[i].offset, buffer, rows[i].length, &error);
    g_assert_no_error (error);
    g_assert_cmpmem (buffer, (gsize)got, rows[i].text, strlen (rows[i].text));
  }
  g_autofree char *absent = blob_key ("digits");
  g_autoptr (GError) error = NULL;
  char byte;
  g_assert_cmpint (blobs_read (fixture->blobs, absent, 0, &byte, 1, &error), ==, -1);
  blob_assert_code (error, ADDER_ERROR_NOT_FOUND);
}

static void
test_empty_read (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *key = blob_key ("nothing");
  char byte;
  g_assert_true (blob_put (fixture->blobs, TRUE, key, "", 0, NULL));
  g_assert_cmpint (blobs_read (fixture->blobs, key, 0, &byte, 1, NULL), ==, 0);
}

static void
test_existing (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *key = blob_key ("once");
  g_assert_true (blob_put (fixture->blobs, TRUE, key, "first", 5, NULL));
  g_assert_false (blob_put (fixture->blobs, TRUE, key, "second", 6, &error));
  blob_assert_code (error, ADDER_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_false (blob_put (fixture->blobs, TRUE, key, "first", 5, &error));
  blob_assert_code (error, ADDER_ERROR_FAILED);
  blob_assert (fixture->blobs, key, "first", 5);
}

static void
test_names (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *most = g_strnfill (255, 'n'), *longer = g_strnfill (256, 'n');
  g_autofree char *good = g_strconcat ("output/", most, NULL), *bad = g_strconcat ("output/", longer, NULL);
  const char *const wrong[] = {"",
                               "generated",
                               "generated/",
                               "generated/.",
                               "generated/..",
                               "generated/a/b",
                               "generated/a\nb",
                               "generated/\xff",
                               "generated/../x",
                               "content/ab",
                               "incoming/x",
                               "/etc/passwd",
                               "../generated/x",
                               "Generated/x",
                               bad};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (blob_put (fixture->blobs, TRUE, wrong[i], "x", 1, &error));
    blob_assert_code (error, ADDER_ERROR_INVALID);
    for (guint reads = 0; reads < 4; reads++) {
      char byte;
      g_clear_error (&error);
      g_assert_false (reads == 0   ? blobs_get (fixture->blobs, wrong[i], 1, NULL, &error) >= 0
                      : reads == 1 ? blobs_read (fixture->blobs, wrong[i], 0, &byte, 1, &error) >= 0
                      : reads == 2 ? blobs_stat (fixture->blobs, wrong[i], NULL, &error)
                                   : blobs_remove (fixture->blobs, wrong[i], &error));
      blob_assert_code (error, ADDER_ERROR_INVALID);
    }
  }
  g_assert_true (blob_put (fixture->blobs, TRUE, good, "x", 1, NULL));
  blob_assert (fixture->blobs, good, "x", 1);
  g_assert_true (blobs_remove (fixture->blobs, good, NULL));
}

/* The digest is that of the content, or nothing is kept: others who put it would get something else. */
static void
test_changed (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *key = blob_key ("changed"), *sha256 = blob_digest ("before", 6);
  autoclose int fd = blob_file (NULL, "after!", 6);
  g_autoptr (GError) error = NULL;
  g_assert_false (blobs_put (fixture->blobs, key, fd, 6, sha256, "text/plain", &error));
  blob_assert_code (error, ADDER_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "changed while"));
  g_clear_error (&error);
  g_assert_false (blobs_put (fixture->blobs, key, fd, 7, sha256, "text/plain", &error));
  g_assert_nonnull (error);
  g_assert_false (blobs_stat (fixture->blobs, key, NULL, NULL));
  g_clear_error (&error);
  g_assert_false (blobs_put (fixture->blobs, key, fd, 6, "no digest", "text/plain", &error));
  blob_assert_code (error, ADDER_ERROR_INVALID);
}

static void
test_many (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GHashTable) made = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  static const char *const kinds[] = {"generated", "uploaded", "output"};
  for (guint i = 0; i < 60; i++) {
    char id[ID_BYTES];
    id_make (id);
    char *key = g_strdup_printf ("%s/%s_%u", kinds[i % 3], id, i);
    g_assert_true (blob_put (fixture->blobs, i % 2, key, id, i % 30, NULL));
    g_hash_table_insert (made, key, GUINT_TO_POINTER (i % 30 + 1));
  }
  g_autoptr (GHashTable) keys = blob_list (fixture->blobs);
  GHashTableIter iter;
  gpointer key, bytes;
  g_hash_table_iter_init (&iter, made);
  while (g_hash_table_iter_next (&iter, &key, &bytes)) {
    g_assert_true (g_hash_table_lookup (keys, key) == bytes);
    g_assert_true (blobs_remove (fixture->blobs, key, NULL));
  }
}

static gboolean
stop_at_once (gpointer data, G_GNUC_UNUSED const char *key, G_GNUC_UNUSED guint64 bytes,
              G_GNUC_UNUSED gint64 made_ms)
{
  ++*(guint *)data;
  return FALSE;
}

static void
test_stop (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *one = blob_key ("1"), *two = blob_key ("2");
  guint seen = 0;
  g_assert_true (blob_put (fixture->blobs, TRUE, one, "1", 1, NULL));
  g_assert_true (blob_put (fixture->blobs, TRUE, two, "2", 1, NULL));
  g_assert_true (blobs_list (fixture->blobs, stop_at_once, &seen, NULL));
  g_assert_cmpuint (seen, ==, 1);
  g_assert_true (blobs_remove (fixture->blobs, one, NULL));
  g_assert_true (blobs_remove (fixture->blobs, two, NULL));
}

static void
test_link (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *key = blob_key ("linked"), *there = g_build_filename (fixture->path, "there", NULL);
  g_autofree char *file = g_build_filename (there, "name.txt", NULL), *sha256 = blob_digest ("linked", 6);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_assert_cmpint (g_mkdir (there, 0700), ==, 0);
  autoclose int there_fd = open (there, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_true (blob_put (fixture->blobs, TRUE, key, "linked", 6, NULL));
  blobs_link (fixture->blobs, key, 6, sha256, there_fd, "name.txt", &error);
  g_assert_no_error (error);
  g_assert_true (blobs_remove (fixture->blobs, key, NULL));
  g_assert_true (g_file_get_contents (file, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "linked");
  g_assert_false (blobs_link (fixture->blobs, key, 6, NULL, there_fd, "other", &error));
  blob_assert_code (error, ADDER_ERROR_NOT_FOUND);
}

/* Threads put, read and remove few contents under many keys. */
#define THREADS 8
#define ROUNDS  40

static gpointer
work (gpointer data)
{
  struct blobs *blobs = data;
  for (guint i = 0; i < ROUNDS; i++) {
    g_autofree char *text = g_strdup_printf ("content %u", i / 4 % 3), *key = blob_key ("shared");
    g_autoptr (GError) error = NULL;
    blob_put (blobs, i % 3 != 0, key, text, strlen (text), &error);
    g_assert_no_error (error);
    blob_assert (blobs, key, text, strlen (text));
    blobs_remove (blobs, key, &error);
    g_assert_no_error (error);
  }
  return NULL;
}

static void
test_threads (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  GThread *threads[THREADS];
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("blobs", work, fixture->blobs);
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
}

/* ---- a directory ---- */

/* Names below FOLDER of the store, of files. */
static guint
count_files (const struct fixture *fixture, const char *folder)
{
  g_autofree char *path = g_build_filename (fixture->path, "blobs", folder, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  guint count = 0;
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    g_autofree char *below = g_build_filename (path, name, NULL),
                    *inner = g_build_filename (folder, name, NULL);
    if (g_file_test (below, G_FILE_TEST_IS_DIR))
      count += count_files (fixture, inner);
    else
      count++;
  }
  return count;
}

static void
stat_key (const struct fixture *fixture, const char *key, struct stat *ret_st)
{
  g_autofree char *path = g_build_filename (fixture->path, "blobs", key, NULL);
  g_assert_cmpint (stat (path, ret_st), ==, 0);
}

static void
test_kept_once (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *one = blob_key ("one"), *two = blob_key ("two");
  struct stat first, second;
  g_assert_true (blob_put (fixture->blobs, TRUE, one, "same", 4, NULL));
  g_assert_true (blob_put (fixture->blobs, FALSE, two, "same", 4, NULL));
  stat_key (fixture, one, &first);
  stat_key (fixture, two, &second);
  g_assert_cmpuint (first.st_ino, ==, second.st_ino);
  g_assert_cmpuint (second.st_nlink, ==, 3);
  g_assert_cmpuint (second.st_mode & 0777, ==, 0600);
  g_assert_true (blobs_remove (fixture->blobs, one, NULL));
  blob_assert (fixture->blobs, two, "same", 4);
  g_assert_cmpuint (count_files (fixture, "content"), ==, 1);
  g_assert_true (blobs_remove (fixture->blobs, two, NULL));
  g_assert_cmpuint (count_files (fixture, "content"), ==, 0);
}

/* A file that is not put leaves nothing; one that is put twice is one content. */
static void
test_created (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *one = blob_key ("one"), *two = blob_key ("two"), *sha256 = blob_digest ("own", 3);
  struct stat st, own;
  close (blob_file (fixture->blobs, "own", 3));
  g_assert_cmpuint (count_files (fixture, "."), ==, 0);
  autoclose int fd = blob_file (fixture->blobs, "own", 3);
  g_assert_true (blobs_put (fixture->blobs, one, fd, 3, sha256, "text/plain", NULL));
  g_assert_true (blobs_put (fixture->blobs, two, fd, 3, sha256, "text/plain", NULL));
  stat_key (fixture, two, &st);
  g_assert_cmpint (fstat (fd, &own), ==, 0);
  g_assert_cmpuint (st.st_ino, ==, own.st_ino); /* not copied */
  /* What has lost all names is put again from its descriptor. */
  g_assert_true (blobs_remove (fixture->blobs, one, NULL));
  g_assert_true (blobs_remove (fixture->blobs, two, NULL));
  g_assert_true (blobs_put (fixture->blobs, one, fd, 3, sha256, "text/plain", NULL));
  blob_assert (fixture->blobs, one, "own", 3);
}

/* A content that was damaged is not given to others. */
static void
test_damaged (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *one = blob_key ("one"), *two = blob_key ("two");
  g_autofree char *path = g_build_filename (fixture->path, "blobs", one, NULL);
  g_assert_true (blob_put (fixture->blobs, TRUE, one, "whole", 5, NULL));
  g_assert_cmpint (truncate (path, 2), ==, 0);
  g_assert_true (blob_put (fixture->blobs, TRUE, two, "whole", 5, NULL));
  blob_assert (fixture->blobs, two, "whole", 5);
}

static void
test_sweep (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *key = blob_key ("swept"), *kept = blob_key ("kept");
  g_autofree char *path = g_build_filename (fixture->path, "blobs", key, NULL);
  g_autofree char *part = g_build_filename (fixture->path, "blobs", "incoming", "01.part", NULL);
  g_assert_true (blob_put (fixture->blobs, TRUE, key, "swept", 5, NULL));
  g_assert_true (blob_put (fixture->blobs, TRUE, kept, "kept", 4, NULL));
  g_assert_cmpint (unlink (path), ==, 0); /* as when the process died here */
  g_assert_true (g_file_set_contents (part, "half", -1, NULL));
  guint removed = 0;
  g_assert_true (blobs_sweep (fixture->blobs, &removed, NULL));
  g_assert_cmpuint (removed, ==, 2);
  g_assert_cmpuint (count_files (fixture, "content"), ==, 1);
  blob_assert (fixture->blobs, kept, "kept", 4);
}

/* Holes stay holes. */
static void
test_sparse (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  const guint64 bytes = 64 << 20;
  g_autofree char *key = blob_key ("sparse"), *zeros = g_malloc0 (bytes);
  autoclose int fd = memfd_create ("sparse", MFD_CLOEXEC);
  zeros[bytes / 2] = 1;
  g_autofree char *sha256 = blob_digest (zeros, bytes);
  g_assert_cmpint (ftruncate (fd, (off_t)bytes), ==, 0);
  g_assert_cmpint (pwrite (fd, "\1", 1, (off_t)bytes / 2), ==, 1);
  g_assert_true (blobs_put (fixture->blobs, key, fd, bytes, sha256, "text/plain", NULL));
  struct stat st;
  stat_key (fixture, key, &st);
  g_assert_cmpuint ((guint64)st.st_size, ==, bytes);
  g_assert_cmpuint ((guint64)st.st_blocks * 512, <, bytes / 8);
  blob_assert (fixture->blobs, key, zeros, bytes);
}

/* Processes that put and remove are killed at any moment: what has a key is whole, and a sweep leaves no
 * content without one. */
static void
test_killed (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  GRand *rand = g_rand_new_with_seed (7);
  for (guint round = 0; round < 30; round++) {
    pid_t children[3];
    for (guint i = 0; i < G_N_ELEMENTS (children); i++) {
      children[i] = fork ();
      if (children[i] == 0) {
        for (;;) {
          g_autofree char *text = g_strdup_printf ("content %u", g_random_int_range (0, 4));
          g_autofree char *key = blob_key (text + strlen (text) - 1);
          if (!blob_put (fixture->blobs, g_random_boolean (), key, text, strlen (text), NULL))
            _exit (1);
          if (g_random_boolean () && !blobs_remove (fixture->blobs, key, NULL))
            _exit (1);
        }
      }
    }
    g_usleep (g_rand_int_range (rand, 500, 20000));
    for (guint i = 0; i < G_N_ELEMENTS (children); i++) {
      int status;
      kill (children[i], SIGKILL);
      g_assert_cmpint (waitpid (children[i], &status, 0), ==, children[i]);
      g_assert_true (WIFSIGNALED (status));
    }
  }
  g_rand_free (rand);

  g_assert_true (blobs_sweep (fixture->blobs, NULL, NULL));
  g_autoptr (GHashTable) keys = blob_list (fixture->blobs);
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    g_autofree char *text = g_strdup_printf ("content %c", ((char *)key)[strlen (key) - 1]);
    blob_assert (fixture->blobs, key, text, strlen (text));
    g_assert_true (blobs_remove (fixture->blobs, key, NULL));
  }
  g_assert_true (blobs_sweep (fixture->blobs, NULL, NULL));
  g_assert_cmpuint (count_files (fixture, "."), ==, 0);
}

static void
test_wrong_urls (void)
{
  static const char *const urls[] = {"", "directory", "directory:relative", "ftp://x", "/tmp"};
  for (guint i = 0; i < G_N_ELEMENTS (urls); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (blobs_open (urls[i], "/tmp/adder-no-scratch", 0, 1000, &error));
    blob_assert_code (error, ADDER_ERROR_INVALID);
  }
}

/* A directory that others may write to would be theirs. */
static void
test_open_to_others (void)
{
  g_autofree char *path = g_dir_make_tmp ("adder-blobs-XXXXXX", NULL);
  g_autofree char *url = g_strconcat ("directory:", path, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (chmod (path, 0777), ==, 0);
  g_assert_null (blobs_open (url, path, 0, 1000, &error));
  blob_assert_code (error, ADDER_ERROR_FAILED);
  g_assert_cmpint (rmdir (path), ==, 0);
}

/* Only what is empty, or was ours before, becomes a place for files. */
static void
test_open_foreign (void)
{
  static const struct {
    const char *folders[3], *file;
    gboolean ours;
  } rows[] = {
      {{NULL}, NULL, TRUE},
      {{"lost+found", NULL}, NULL, TRUE},
      {{"writers", NULL}, "records.db", TRUE},
      {{"output", "content", NULL}, NULL, TRUE},
      {{"content", "incoming", NULL}, "notes.txt", TRUE},
      {{NULL}, "notes.txt", FALSE},
      {{NULL}, ".profile", FALSE},
      {{"content", NULL}, "index.html", FALSE},
      {{"Documents", NULL}, NULL, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = g_dir_make_tmp ("adder-blobs-XXXXXX", NULL);
    g_autofree char *url = g_strconcat ("directory:", path, NULL);
    for (const char *const *folder = rows[i].folders; *folder; folder++) {
      g_autofree char *below = g_build_filename (path, *folder, NULL);
      g_assert_cmpint (g_mkdir (below, 0700), ==, 0);
    }
    g_autofree char *file = rows[i].file ? g_build_filename (path, rows[i].file, NULL) : NULL;
    g_assert_true (!file || g_file_set_contents (file, "x", 1, NULL));
    struct blobs *blobs = blobs_open (url, "/nowhere", 0, 1000, &error);
    g_assert_cmpint (blobs != NULL, ==, rows[i].ours);
    if (!blobs) {
      blob_assert_code (error, ADDER_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, rows[i].file ? rows[i].file : rows[i].folders[0]));
    }
    blobs_close (blobs);
    suite_remove (path);
  }
}

/* Without its directory it says what to do. */
static void
test_gone (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_dir_make_tmp ("adder-blobs-XXXXXX", NULL);
  g_autofree char *url = g_strconcat ("directory:", path, NULL);
  g_autofree char *key = blob_key ("a");
  struct blobs *blobs = blobs_open (url, path, 0, 1000, &error);
  g_assert_no_error (error);
  g_assert_cmpint (rmdir (path), ==, 0);
  g_assert_false (blob_put (blobs, FALSE, key, "x", 1, &error));
  g_assert_nonnull (strstr (error->message, "was removed; restart the daemon, which makes it again"));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  blobs_close (blobs);
}

/* What is no file is neither read nor listed. */
static void
test_no_file (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *key = blob_key ("a"), *other = blob_key ("b");
  g_assert_true (blob_put (fixture->blobs, TRUE, other, "x", 1, NULL));
  g_autofree char *path = g_build_filename (fixture->path, "blobs", key, NULL);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  g_assert_cmpint (blobs_get (fixture->blobs, key, 0, NULL, &error), <, 0);
  blob_assert_code (error, ADDER_ERROR_UNAVAILABLE);
  g_autoptr (GHashTable) keys = blob_list (fixture->blobs);
  g_assert_cmpuint (g_hash_table_size (keys), ==, 1);
  g_assert_cmpint (unlink (path), ==, 0);
}

struct test {
  const char *name;
  void (*run) (struct fixture *, gconstpointer);
};

static const struct test any_tests[] = {
    {"round", test_round},       {"read", test_read},   {"empty_read", test_empty_read},
    {"existing", test_existing}, {"names", test_names}, {"changed", test_changed},
    {"many", test_many},         {"stop", test_stop},   {"link", test_link},
    {"threads", test_threads},
};

static const struct test directory_tests[] = {
    {"kept_once", test_kept_once}, {"created", test_created}, {"damaged", test_damaged},
    {"sweep", test_sweep},         {"sparse", test_sparse},   {"killed", test_killed},
    {"no_file", test_no_file},
};

/* A test whose place the host does not have is skipped. */
static void
run_test (struct fixture *fixture, gconstpointer data)
{
  if (fixture->blobs)
    ((const struct test *)data)->run (fixture, NULL);
}

static void
set_up_directory (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  set_up (fixture, &store_world_blob_kinds[0]);
}

static void
set_up_s3 (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  set_up (fixture, &store_world_blob_kinds[1]);
}

static void
add_tests (const struct store_world_kind *kind, const struct test *tests, gsize count)
{
  gboolean is_s3 = kind != &store_world_blob_kinds[0];
  for (gsize i = 0; i < count; i++) {
    g_autofree char *path = g_strdup_printf ("/store/blobs/%s/%s", kind->name, tests[i].name);
    g_test_add (path, struct fixture, &tests[i], is_s3 ? set_up_s3 : set_up_directory, run_test, tear_down);
  }
}

UNIT_SUITE (store_blobs)
{
  g_test_init (&argc, &argv, NULL);
  for (const struct store_world_kind *kind = store_world_blob_kinds; kind->name; kind++)
    add_tests (kind, any_tests, G_N_ELEMENTS (any_tests));
  add_tests (&store_world_blob_kinds[0], directory_tests, G_N_ELEMENTS (directory_tests));
  g_test_add_func ("/store/blobs/wrong_urls", test_wrong_urls);
  g_test_add_func ("/store/blobs/open_to_others", test_open_to_others);
  g_test_add_func ("/store/blobs/open_foreign", test_open_foreign);
  g_test_add_func ("/store/blobs/gone", test_gone);
  return g_test_run ();
}
