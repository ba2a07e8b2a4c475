/* SPDX-License-Identifier: Apache-2.0 */
/* The store: what the configuration may say, where things are made, and who is taken for alive. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder.h"
#include "store/blobs.h"
#include "store/database.h"
#include "store/store.h"
#include "store/writers.h"
#include "suite.h"

static char *state; /* $ADDER_STATE_DIR of a test */

static struct config
make_config (void)
{
  return (struct config){
      .store_records = (char *)"sqlite",
      .store_blobs = (char *)"directory",
      .store_node = (char *)"node-1",
      .store_timeout_ms = 20000,
      .store_record_count = 1000,
      .store_record_bytes = 1 << 30,
      .store_file_age_ms = 60 * 1000,
      .store_files_owner = 1000,
      .store_bytes_owner = 1 << 30,
  };
}

static void
set_up (void)
{
  g_autoptr (GError) error = NULL;
  state = g_dir_make_tmp ("adder-state-XXXXXX", &error);
  g_assert_no_error (error);
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
}

static void
tear_down (void)
{
  suite_remove (state);
  g_clear_pointer (&state, g_free);
}

static guint
count_entries (const char *name)
{
  g_autofree char *path = g_build_filename (state, "store", name, NULL);
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  guint count = 0;
  while (folder && g_dir_read_name (folder))
    count++;
  return count;
}

static void
touch_database (struct database *database)
{
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  transaction_end (transaction);
}

#define LONG_NAME                                                                                            \
  "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

static const struct {
  const char *records, *blobs, *node, *says;
} wrong[] = {
    {"mysql://host", NULL, NULL, "[store] records"},
    {"sqlite:relative", NULL, NULL, "[store] records"},
    {NULL, "ftp://host", NULL, "[store] blobs"},
    {NULL, "directory:relative", NULL, "[store] blobs"},
    {NULL, "s3://", NULL, "cannot be a bucket"},
    {NULL, "s3://bucket?endpoint=foo", NULL, "endpoint=foo"},
    {NULL, NULL, "a/b", "[store] node"},
    {NULL, NULL, "", "[store] node"},
    {NULL, NULL, "two words", "[store] node"},
    {NULL, NULL, LONG_NAME "1", "1 to 100 letters"},
};

static void
test_config (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    struct config config = make_config ();
    config.store_records = (char *)(wrong[i].records ? wrong[i].records : "sqlite");
    config.store_blobs = (char *)(wrong[i].blobs ? wrong[i].blobs : "directory");
    config.store_node = (char *)(wrong[i].node ? wrong[i].node : "node-1");
    g_assert_null (store_new (&config, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, wrong[i].says));
  }
}

/* What the configuration does not name has the host's name; where it names places, they are used. */
static void
test_named (void)
{
  set_up ();
  g_autoptr (GError) error = NULL;
  struct config config = make_config ();
  g_autofree char *folder = g_build_filename (state, "elsewhere", NULL);
  g_autofree char *records = g_strdup_printf ("sqlite:%s/my.db", folder);
  g_autofree char *blobs = g_strdup_printf ("directory:%s/files", folder);
  g_autofree char *file = g_build_filename (folder, "my.db", NULL);
  config.store_records = records;
  config.store_blobs = blobs;
  config.store_node = NULL;
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  struct store *store = store_new (&config, &error);
  g_assert_no_error (error);
  g_autofree char *host =
      g_strcanon (g_strndup (g_get_host_name (), 100), G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-", '-');
  g_assert_cmpstr (store_node (store), ==, host);
  touch_database (store_database (store, &error));
  g_assert_nonnull (store_blobs (store, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_test (file, G_FILE_TEST_IS_REGULAR));
  g_autofree char *lock = g_build_filename (folder, "writers", strrchr (store_writer (store), '/') + 1, NULL);
  g_assert_true (g_file_test (lock, G_FILE_TEST_IS_REGULAR));
  store_unref (store);

  config.store_node = (char *)LONG_NAME;
  store = store_new (&config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (store_node (store), ==, LONG_NAME);
  store_unref (store);
  tear_down ();
}

static struct writers *
show_writer (const char *node, const char *folder)
{
  g_autoptr (GError) error = NULL;
  struct writers *writers = writers_new (node);
  writers_show (writers, folder, FALSE, &error);
  g_assert_no_error (error);
  writers_show (writers, folder, FALSE, &error); /* once is enough */
  g_assert_no_error (error);
  return writers;
}

/* Of a database that others use as well, who is dead is known of the own folder alone. */
static void
test_places (void)
{
  set_up ();
  g_autofree char *here = g_build_filename (state, "here", NULL),
                  *there = g_build_filename (state, "there", NULL);
  struct writers *first = show_writer ("node-1", here), *second = show_writer ("node-1", here);
  struct writers *other = show_writer ("node-1", there);
  g_autofree char *own = g_strdup (writers_own (second)), *others = g_strdup (writers_own (other));
  g_assert_cmpstr (own, !=, writers_own (first));
  g_assert_true (writers_is_alive (first, own));
  writers_free (second);
  writers_free (other);
  g_assert_false (writers_is_alive (first, own));
  g_assert_true (writers_is_alive (first, others));
  g_assert_true (writers_is_alive (first, "node-1/00000000-0000-7000-8000-000000000000"));

  /* Where a lock cannot be looked at, nobody is dead. */
  g_autofree char *path = g_build_filename (here, "writers", strrchr (own, '/') + 1, NULL);
  g_assert_cmpint (symlink ("nowhere", path), ==, 0);
  g_assert_true (writers_is_alive (first, own));
  writers_free (first);
  tear_down ();
}

/* Half-made locks are left to whoever makes them, until they are old. */
static void
test_sweep (void)
{
  set_up ();
  g_autoptr (GError) error = NULL;
  struct writers *writers = writers_new ("node-1");
  g_assert_true (writers_sweep (writers, &error)); /* there is no folder yet */
  g_assert_true (writers_show (writers, state, TRUE, &error));
  const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  static const struct {
    const char *name;
    gboolean is_old, stays;
  } rows[] = {{".young", FALSE, TRUE}, {".old", TRUE, FALSE}, {"dead", FALSE, FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_build_filename (state, "writers", rows[i].name, NULL);
    g_assert_true (g_file_set_contents (path, "", 0, &error));
    if (rows[i].is_old)
      g_assert_cmpint (utimensat (AT_FDCWD, path, old, 0), ==, 0);
  }
  g_assert_true (writers_sweep (writers, &error));
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_build_filename (state, "writers", rows[i].name, NULL);
    g_assert_cmpint (g_file_test (path, G_FILE_TEST_EXISTS), ==, rows[i].stays);
  }
  g_autofree char *own = g_build_filename (state, "writers", strrchr (writers_own (writers), '/') + 1, NULL);
  g_assert_true (g_file_test (own, G_FILE_TEST_EXISTS));
  writers_free (writers);
  g_assert_false (g_file_test (own, G_FILE_TEST_EXISTS));
  tear_down ();
}

/* A folder whose name is no name is nobody's, and a folder that cannot be is said to be none. */
static void
test_no_place (void)
{
  set_up ();
  g_autofree char *place = g_build_filename (state, "place", NULL);
  static const char *const contents[] = {"", "short", "0000000000000000-0000-0000-0000-00000000000z"};
  struct writers *writers = writers_new ("node-1");
  for (gsize i = 0; i < G_N_ELEMENTS (contents); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_true (g_file_set_contents (place, contents[i], -1, &error));
    g_assert_false (writers_show (writers, state, FALSE, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_FAILED);
    g_assert_nonnull (strstr (error->message, "is damaged: end all daemons that use the store"));
  }
  g_autoptr (GError) error = NULL;
  g_assert_false (writers_show (writers, place, FALSE, &error));
  g_assert_nonnull (strstr (error->message, "cannot make the folder"));
  g_clear_error (&error);
  g_assert_cmpint (g_remove (place), ==, 0);
  g_assert_true (writers_show (writers, state, FALSE, &error));
  g_assert_no_error (error);
  writers_free (writers);
  tear_down ();
}

static void
test_none (void)
{
  set_up ();
  g_autoptr (GError) error = NULL;
  struct config config = make_config ();
  config.store_records = (char *)"none";
  struct store *store = store_new (&config, &error);
  g_assert_no_error (error);
  g_assert_false (store_keeps_records (store));
  g_assert_false (store_keeps_files (store));
  g_assert_null (store_database (store, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  store_close (store);
  store_unref (store);

  config = make_config ();
  config.store_blobs = (char *)"none";
  store = store_new (&config, &error);
  g_assert_true (store_keeps_records (store));
  g_assert_false (store_keeps_files (store));
  g_assert_nonnull (store_database (store, &error));
  g_assert_null (store_blobs (store, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  store_unref (store);
  tear_down ();
}

/* Nothing is made before it is wanted, and what is made only its owner may read. */
static void
test_made (void)
{
  set_up ();
  g_autoptr (GError) error = NULL;
  struct config config = make_config ();
  struct store *store = store_new (&config, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_entries ("."), ==, 0);
  g_assert_cmpstr (store_node (store), ==, "node-1");
  g_assert_true (g_str_has_prefix (store_writer (store), "node-1/"));
  struct database *database = store_database (store, &error);
  g_assert_no_error (error);
  g_assert_true (store_database (store, &error) == database);
  g_assert_nonnull (store_blobs (store, &error));
  g_assert_no_error (error);
  touch_database (database);
  g_assert_cmpuint (count_entries ("writers"), ==, 1);
  g_autofree char *path = g_build_filename (state, "store", "records.db", NULL);
  struct stat st;
  g_assert_cmpint (stat (path, &st), ==, 0);
  g_assert_cmpint (st.st_mode & 0777, ==, 0600);
  store_wake (store);
  struct store *other = store_ref (store);
  store_close (store);
  store_unref (store);
  touch_database (store_database (other, &error));
  store_unref (other);
  g_assert_cmpuint (count_entries ("writers"), ==, 0);
  tear_down ();
}

/* A state directory that cannot be had is no error of store_new, and it is tried again. */
static void
test_no_state (void)
{
  set_up ();
  g_autofree char *file = g_build_filename (state, "file", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_true (g_file_set_contents (file, "", 0, &error));
  g_setenv ("ADDER_STATE_DIR", file, TRUE);
  struct config config = make_config ();
  struct store *store = store_new (&config, &error);
  g_assert_no_error (error);
  g_assert_null (store_database (store, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  g_clear_error (&error);
  g_assert_null (store_blobs (store, &error));
  g_clear_error (&error);
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
  g_assert_nonnull (store_database (store, &error));
  g_assert_no_error (error);
  store_unref (store);
  tear_down ();
}

/* In a child: opens the store, tells its writer's name through FD and waits to be killed. */
static void
be_writer (int fd, const char *node)
{
  struct config config = make_config ();
  config.store_node = (char *)node;
  struct store *store = store_new (&config, NULL);
  if (!store || !store_database (store, NULL))
    _exit (1);
  const char *writer = store_writer (store);
  if (write (fd, writer, strlen (writer)) < 0)
    _exit (1);
  for (;;)
    pause ();
}

static pid_t
start_writer (const char *node, char ret_writer[200])
{
  int ends[2];
  g_assert_cmpint (pipe (ends), ==, 0);
  pid_t pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    be_writer (ends[1], node);
  close (ends[1]);
  gssize got = read (ends[0], ret_writer, 199);
  g_assert_cmpint (got, >, 0);
  ret_writer[got] = '\0';
  close (ends[0]);
  return pid;
}

static void
test_writers (void)
{
  set_up ();
  char same[200], renamed[200];
  pid_t first = start_writer ("node-1", same), second = start_writer ("node-2", renamed);
  g_autoptr (GError) error = NULL;
  struct config config = make_config ();
  struct store *store = store_new (&config, &error);
  g_assert_nonnull (store_database (store, &error));
  g_assert_true (store_writer_lives (store, store_writer (store)));
  g_assert_true (store_writer_lives (store, same));
  g_assert_true (store_writer_lives (store, renamed));
  g_assert_false (store_writer_lives (store, "node-1/00000000-0000-7000-8000-000000000000"));
  kill (first, SIGKILL);
  kill (second, SIGKILL);
  waitpid (first, NULL, 0);
  waitpid (second, NULL, 0);
  g_assert_false (store_writer_lives (store, same));
  /* A database that is a file is this machine's, whatever the machine was called. */
  g_assert_false (store_writer_lives (store, renamed));
  /* The thread removes what they left, and takes nobody who lives for dead. */
  store_wake (store);
  gint64 end_us = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  while (count_entries ("writers") > 1 && g_get_monotonic_time () < end_us)
    g_usleep (5000);
  g_assert_cmpuint (count_entries ("writers"), ==, 1);
  g_assert_false (store_writer_lives (store, same));
  g_assert_true (store_writer_lives (store, store_writer (store)));
  store_unref (store);
  tear_down ();
}

UNIT_SUITE (store)
{
  g_test_init (&argc, &argv, NULL);
  /* First: it forks, and nobody has made threads yet. */
  g_test_add_func ("/store/writers", test_writers);
  g_test_add_func ("/store/config", test_config);
  g_test_add_func ("/store/named", test_named);
  g_test_add_func ("/store/places", test_places);
  g_test_add_func ("/store/sweep", test_sweep);
  g_test_add_func ("/store/no-place", test_no_place);
  g_test_add_func ("/store/none", test_none);
  g_test_add_func ("/store/made", test_made);
  g_test_add_func ("/store/no-state", test_no_state);
  return g_test_run ();
}
