/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of links to files of the store: made, used while files are removed, and left by the dead. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "store/blobs.h"
#include "suite.h"

struct fixture {
  char *path;
  struct blobs *blobs;
};

static struct blobs *
open_blobs (const struct fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *url = g_strdup_printf ("directory:%s/blobs", fixture->path);
  struct blobs *blobs = blobs_open (url, fixture->path, 1 << 20, 20000, &error);
  g_assert_no_error (error);
  return blobs;
}

static void
set_up (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  fixture->path = g_dir_make_tmp ("adder-links-XXXXXX", NULL);
  fixture->blobs = open_blobs (fixture);
}

static void
tear_down (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  blobs_close (fixture->blobs);
  suite_remove (fixture->path);
  g_free (fixture->path);
}

/* TEXT under KEY; its digest, the caller's. */
static char *
put (struct fixture *fixture, const char *key, const char *text)
{
  g_autoptr (GError) error = NULL;
  char *sha256 = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
  autoclose int fd = blobs_create (fixture->blobs, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fd_write_all (fd, text, strlen (text)), ==, 0);
  blobs_put (fixture->blobs, key, fd, strlen (text), sha256, "text/plain", &error);
  g_assert_no_error (error);
  return sha256;
}

static struct blob_links *
new_links (struct blobs *blobs)
{
  g_autoptr (GError) error = NULL;
  struct blob_links *links = blob_links_new (blobs, &error);
  g_assert_no_error (error);
  return links;
}

static void
assert_reads (const struct blob_links *links, const char *place, const char *name, const char *text)
{
  char found[64] = "";
  autoclose int directory = blob_links_open (links, place);
  g_assert_cmpint (directory, >=, 0);
  autoclose int fd = openat (directory, name, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (read (fd, found, sizeof found - 1), ==, (int)strlen (text));
  g_assert_cmpstr (found, ==, text);
}

/* How many regular files there are below the store, whatever their names are. */
static guint
count_files (const char *path)
{
  guint count = 0;
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  for (const char *name; directory && (name = g_dir_read_name (directory));) {
    g_autofree char *below = g_build_filename (path, name, NULL);
    count += g_file_test (below, G_FILE_TEST_IS_DIR) ? count_files (below) : 1;
  }
  return count;
}

static void
test_use (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sha256 = put (fixture, "uploaded/1_a.csv", "first");
  g_autofree char *other = put (fixture, "uploaded/2_b.csv", "second");
  struct blob_links *links = new_links (fixture->blobs);
  g_assert_true (blob_links_add (links, "uploaded/1_a.csv", 5, sha256, "work/a.csv", &error));
  g_assert_true (blob_links_add (links, "uploaded/2_b.csv", 6, other, "tmp/deep/er/b.csv", &error));
  g_assert_true (blob_links_add (links, "uploaded/1_a.csv", 5, sha256, "tmp/a.csv", &error));
  assert_reads (links, "work", "a.csv", "first");
  assert_reads (links, "tmp", "deep/er/b.csv", "second");
  assert_reads (links, "tmp", "a.csv", "first");
  g_assert_cmpint (blob_links_open (links, "other"), <, 0);
  g_assert_false (blob_links_add (links, "uploaded/none", 5, sha256, "tmp/x", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_autofree char *deep = g_strnfill (65, 'd');
  for (gsize i = 1; i < 64; i += 2)
    deep[i] = '/';
  g_assert_true (blob_links_add (links, "uploaded/1_a.csv", 5, sha256, deep, &error));
  g_autofree char *deeper = g_strconcat ("a/", deep, NULL);
  g_assert_false (blob_links_add (links, "uploaded/1_a.csv", 5, sha256, deeper, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  /* What is a file already is no directory. */
  g_assert_false (blob_links_add (links, "uploaded/1_a.csv", 5, sha256, "work/a.csv/b", &error));
  g_assert_nonnull (strstr (error->message, "cannot make the directory of the link work/a.csv/b"));
  g_clear_error (&error);
  blob_links_free (links);
  g_autofree char *folder = g_build_filename (fixture->path, "blobs/links", NULL);
  g_assert_cmpuint (count_files (folder), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* A file may be removed while it is bind-mounted: it is there until the folder is gone, and then nothing of
 * it is. */
static void
test_removed (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sha256 = put (fixture, "uploaded/1_a", "content");
  struct blob_links *links = new_links (fixture->blobs);
  g_assert_true (blob_links_add (links, "uploaded/1_a", 7, sha256, "work/a", &error));
  g_assert_true (blobs_remove (fixture->blobs, "uploaded/1_a", &error));
  g_assert_true (blobs_sweep (fixture->blobs, NULL, &error));
  assert_reads (links, "work", "a", "content");
  blob_links_free (links);
  g_assert_cmpuint (count_files (fixture->path), ==, 0);
}

/* Where the folder of them cannot be, it is said so, and a sweep goes on without. */
static void
test_no_folder (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (fixture->path, "blobs/links", NULL);
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  g_assert_null (blob_links_new (fixture->blobs, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  g_assert_nonnull (strstr (error->message, "cannot make the folder"));
  g_clear_error (&error);
  g_assert_true (blobs_sweep (fixture->blobs, NULL, &error));
  g_assert_cmpint (g_remove (path), ==, 0);
  blob_links_free (new_links (fixture->blobs));
}

/* Of two processes one dies: its folder goes, the other's stays. */
static void
test_dead (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sha256 = put (fixture, "uploaded/1_a", "content");
  struct blob_links *ours = new_links (fixture->blobs);
  g_assert_true (blob_links_add (ours, "uploaded/1_a", 7, sha256, "work/a", &error));
  int ends[2];
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  pid_t pid = fork ();
  if (pid == 0) {
    struct blob_links *theirs = blob_links_new (fixture->blobs, NULL);
    gboolean ok = theirs && blob_links_add (theirs, "uploaded/1_a", 7, sha256, "tmp/d/a", NULL);
    fd_write_all (ends[1], ok ? "y" : "n", 1);
    pause ();
    _exit (0);
  }
  char answer = 0;
  g_assert_cmpint (read (ends[0], &answer, 1), ==, 1);
  g_assert_true (answer == 'y');
  g_assert_true (blobs_sweep (fixture->blobs, NULL, &error));
  g_autofree char *folder = g_build_filename (fixture->path, "blobs/links", NULL);
  g_assert_cmpuint (count_files (folder), ==, 2);
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
  fd_close (&ends[0]);
  fd_close (&ends[1]);
  /* Who opens the store next sweeps when it first makes such a folder. */
  struct blobs *next = open_blobs (fixture);
  struct blob_links *links = new_links (next);
  g_assert_cmpuint (count_files (folder), ==, 1);
  blob_links_free (links);
  blobs_close (next);
  assert_reads (ours, "work", "a", "content");
  blob_links_free (ours);
  g_assert_true (blobs_remove (fixture->blobs, "uploaded/1_a", &error));
  g_assert_cmpuint (count_files (fixture->path), ==, 0);
}

/* Folders are made while another thread sweeps: none is taken from who makes it. */
static gpointer
sweep (gpointer data)
{
  struct fixture *fixture = data;
  for (guint i = 0; i < 300; i++)
    g_assert_true (blobs_sweep (fixture->blobs, NULL, NULL));
  return NULL;
}

static void
test_threads (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sha256 = put (fixture, "uploaded/1_a", "content");
  g_autoptr (GThread) thread = g_thread_new ("sweep", sweep, fixture);
  for (guint i = 0; i < 300; i++) {
    struct blob_links *links = new_links (fixture->blobs);
    blob_links_add (links, "uploaded/1_a", 7, sha256, "work/a", &error);
    g_assert_no_error (error);
    assert_reads (links, "work", "a", "content");
    blob_links_free (links);
  }
  g_thread_join (g_steal_pointer (&thread));
}

UNIT_SUITE (store_links)
{
  static const struct {
    const char *name;
    void (*run) (struct fixture *fixture, gconstpointer data);
  } tests[] = {{"/store/links/use", test_use},
               {"/store/links/removed", test_removed},
               {"/store/links/no-folder", test_no_folder},
               {"/store/links/dead", test_dead},
               {"/store/links/threads", test_threads}};
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, struct fixture, NULL, set_up, tests[i].run, tear_down);
  return g_test_run ();
}
