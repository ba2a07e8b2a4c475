/* SPDX-License-Identifier: Apache-2.0 */
/* A database that goes away, comes back, does not answer, lets nobody in or is somebody else's for a while.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "store/database_private.h"
#include "store_world.h"
#include "suite.h"

#define PATIENCE_US (120 * G_USEC_PER_SEC)

static const struct store_world_kind postgres = {.name = "postgres"}, sqlite = {.name = "sqlite"};

static void
tell (const char *command)
{
  g_autofree char *answer = store_world_tell (command);
  g_assert_cmpstr (answer, ==, "ok");
}

static gboolean
take_number (gpointer data, const struct sql_value *row, guint columns)
{
  (void)columns;
  *(gint64 *)data = row[0].integer;
  return TRUE;
}

static gint64
count_rows (struct database *database, const char *like)
{
  g_autoptr (GError) error = NULL;
  gint64 number = -1;
  const struct sql_value values[] = {SQL_STR (like)};
  struct transaction *transaction = database_begin (database, FALSE, &error);
  g_assert_no_error (error);
  g_assert_true (transaction_run (transaction,
                                  "SELECT count(*) FROM settings WHERE name LIKE $1 AND name <> 'additions'",
                                  values, 1, take_number, &number, NULL, &error));
  transaction_end (transaction);
  return number;
}

static gboolean
put (struct transaction *transaction, const char *name, GError **error)
{
  const struct sql_value values[] = {SQL_STR (name)};
  return transaction_run (transaction, "INSERT INTO settings (name, value) VALUES ($1, '')", values, 1, NULL,
                          NULL, NULL, error);
}

static gboolean
put_row (gpointer data, struct transaction *transaction, GError **error)
{
  return put (transaction, data, error);
}

static gboolean
commit (struct database *database, const char *name, GError **error)
{
  return database_commit (database, put_row, (gpointer)name, error);
}

/* Until it can be written to again: it may be a second after it came back. */
static void
commit_at_last (struct database *database, const char *name)
{
  gint64 end_us = g_get_monotonic_time () + PATIENCE_US;
  for (;;) {
    g_autoptr (GError) error = NULL;
    if (commit (database, name, &error))
      return;
    if (g_get_monotonic_time () > end_us)
      g_error ("it did not come back: %s", error->message);
    g_usleep (20 * 1000);
  }
}

/* ---- it goes away ---- */

static void
test_restart (void)
{
  g_autoptr (store_world) world = store_world_new (&postgres);
  if (!world)
    return;
  struct database *database = store_world_open (world, 20000);
  g_autoptr (GError) error = NULL;
  g_assert_true (commit (database, "before", &error));
  tell ("down");
  for (guint i = 0; i < 3; i++) {
    g_assert_false (commit (database, "meanwhile", &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
    g_clear_error (&error);
  }
  g_assert_null (database_begin (database, FALSE, &error));
  g_clear_error (&error);
  tell ("up");
  commit_at_last (database, "after");
  g_assert_cmpint (count_rows (database, "before"), ==, 1);
  g_assert_cmpint (count_rows (database, "meanwhile"), ==, 0);
  g_assert_cmpint (count_rows (database, "after"), ==, 1);
  database_close (database);
}

/* One that is first wanted while the server is away. */
static void
test_late (void)
{
  g_autoptr (store_world) world = store_world_new (&postgres);
  if (!world)
    return;
  tell ("down");
  struct database *database = store_world_open (world, 20000);
  g_autoptr (GError) error = NULL;
  g_assert_false (commit (database, "a", &error));
  g_assert_nonnull (error);
  tell ("up");
  commit_at_last (database, "a");
  database_close (database);
}

/* Connections that were closed while nobody used them are no failure. */
static void
test_dropped_idle (void)
{
  g_autoptr (store_world) world = store_world_new (&postgres);
  if (!world)
    return;
  struct database *database = store_world_open (world, 20000);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < 5; i++) {
    g_autofree char *name = g_strdup_printf ("%u", i);
    g_assert_true (commit (database, name, &error));
    tell ("drop");
  }
  g_assert_cmpint (count_rows (database, "%"), ==, 5);
  database_close (database);
}

struct plug {
  const char *command;
  guint pulled, most;
};

static gboolean
pull_between (gpointer data, struct transaction *transaction, GError **error)
{
  struct plug *plug = data;
  if (!put (transaction, "first", error))
    return FALSE;
  if (plug->pulled < plug->most) {
    plug->pulled++;
    tell (plug->command);
  }
  return put (transaction, "second", error);
}

/* SQLite with connections that are lost where a transaction ends that changed nothing, LOSES more times. */
static guint loses;

static gboolean
run_or_lose (void *connection, const char *sql, const struct sql_value *values, guint count, sql_row row,
             gpointer data, guint64 *ret_changed, guint64 timeout_ms, struct sql_failure *failure)
{
  if (loses == 0 || strcmp (sql, "ROLLBACK") != 0)
    return sqlite_backend.run (connection, sql, values, count, row, data, ret_changed, timeout_ms, failure);
  loses--;
  *failure = (struct sql_failure){SQL_LOST, "the connection was lost"};
  return FALSE;
}

/* A new connection that is lost once the version of the tables was read, whether they are to be made or not:
 * there is nothing left to be ended, and the next one does. */
static void
test_lost_at_version (void)
{
  g_autoptr (store_world) world = store_world_new (&sqlite);
  struct backend fragile = sqlite_backend;
  fragile.run = run_or_lose;
  fragile.is_shared = TRUE;
  for (guint i = 0; i < 2; i++) {
    struct database *database = store_world_open (world, 20000);
    g_autoptr (GError) error = NULL;
    database->backend = &fragile;
    loses = 1;
    g_assert_false (commit (database, "lost", &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
    g_assert_nonnull (strstr (error->message, "the connection was lost"));
    g_assert_cmpuint (loses, ==, 0);
    commit_at_last (database, i ? "second" : "first");
    g_assert_cmpint (count_rows (database, "%"), ==, i + 1);
    database_close (database);
  }
}

/* In the middle of a transaction: it is made again on another connection, once. */
static void
test_dropped_amid (void)
{
  g_autoptr (store_world) world = store_world_new (&postgres);
  if (!world)
    return;
  struct database *database = store_world_open (world, 20000);
  g_autoptr (GError) error = NULL;
  struct plug plug = {"drop", 0, 2};
  g_assert_true (database_commit (database, pull_between, &plug, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (plug.pulled, ==, 2);
  g_assert_cmpint (count_rows (database, "%"), ==, 2);

  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_true (put (transaction, "third", &error));
  tell ("drop");
  g_assert_false (transaction_commit (transaction, &error));
  g_assert_nonnull (error);
  transaction_end (transaction);
  g_assert_cmpint (count_rows (database, "%"), ==, 2);
  database_close (database);
}

/* A server that is there and says nothing: each of many callers is told so, and not each waits its whole
 * time. */
static void
test_frozen (void)
{
  g_autoptr (store_world) world = store_world_new (&postgres);
  if (!world)
    return;
  struct database *database = store_world_open (world, 20000);
  g_assert_cmpint (count_rows (database, "%"), ==, 0);
  database_close (database);
  database = store_world_open (world, 2000);
  commit_at_last (database, "before");
  g_autoptr (GError) error = NULL;
  struct plug plug = {"freeze", 0, 1};
  gint64 begun_us = g_get_monotonic_time ();
  g_assert_false (database_commit (database, pull_between, &plug, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  g_clear_error (&error);
  for (guint i = 0; i < 200; i++) {
    g_assert_false (commit (database, "meanwhile", &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
    g_clear_error (&error);
  }
  g_assert_cmpint (g_get_monotonic_time () - begun_us, <, 100 * 2 * G_USEC_PER_SEC);
  tell ("thaw");
  commit_at_last (database, "after");
  g_assert_cmpint (count_rows (database, "%"), ==, 2);
  database_close (database);
}

/* ---- what was acknowledged ---- */

#define WRITERS 6

struct writer {
  struct database *database;
  guint number;
  const gboolean *ends;
  GPtrArray *done, *failed; /* names */
};

static gpointer
write_on (gpointer data)
{
  struct writer *writer = data;
  for (guint i = 0; !g_atomic_int_get (writer->ends); i++) {
    char *name = g_strdup_printf ("%u.%u", writer->number, i);
    g_autoptr (GError) error = NULL;
    if (commit (writer->database, name, &error)) {
      g_ptr_array_add (writer->done, name);
    } else {
      g_ptr_array_add (writer->failed, name);
      g_usleep (10 * 1000);
    }
  }
  return NULL;
}

/* Writers go on while the server is bothered by COMMANDS; ASKED: it can always be asked what became of a
 * commit, so what is not acknowledged is not there. */
static void
bother (const char *const *commands, guint times, gboolean asked)
{
  g_autoptr (store_world) world = store_world_new (&postgres);
  if (!world)
    return;
  struct database *database = store_world_open (world, 20000);
  gboolean ends = FALSE;
  struct writer writers[WRITERS];
  GThread *threads[WRITERS];
  for (guint i = 0; i < WRITERS; i++) {
    writers[i] = (struct writer){database, i, &ends, g_ptr_array_new_with_free_func (g_free),
                                 g_ptr_array_new_with_free_func (g_free)};
    threads[i] = g_thread_new ("writer", write_on, &writers[i]);
  }
  for (guint i = 0; i < times; i++) {
    for (const char *const *command = commands; *command; command++)
      tell (*command);
    g_autofree char *name = g_strdup_printf ("back %u", i);
    commit_at_last (database, name);
  }
  g_atomic_int_set (&ends, TRUE);
  guint done = 0;
  for (guint i = 0; i < WRITERS; i++) {
    g_thread_join (threads[i]);
    for (guint k = 0; k < writers[i].done->len; k++)
      g_assert_cmpint (count_rows (database, writers[i].done->pdata[k]), ==, 1);
    for (guint k = 0; asked && k < writers[i].failed->len; k++)
      g_assert_cmpint (count_rows (database, writers[i].failed->pdata[k]), ==, 0);
    done += writers[i].done->len;
    g_ptr_array_unref (writers[i].done);
    g_ptr_array_unref (writers[i].failed);
  }
  g_test_message ("%u acknowledged", done);
  g_assert_cmpuint (done, >, 0);
  database_close (database);
}

static void
test_acknowledged_dropped (void)
{
  bother ((const char *const[]){"drop", NULL}, 30, TRUE);
}

static void
test_acknowledged_restarted (void)
{
  bother ((const char *const[]){"down", "up", NULL}, 5, FALSE);
}

/* ---- it lets nobody in ---- */

static void
refuses (const char *url, const char *says, const char *not_this)
{
  g_autoptr (GError) error = NULL;
  struct database *database = database_open (url, 20000, &error);
  g_assert_no_error (error);
  g_assert_false (commit (database, "a", &error));
  if (!strstr (error->message, says))
    g_error ("expected \"%s\" in: %s", says, error->message);
  g_assert_null (not_this ? strstr (error->message, not_this) : NULL);
  g_assert_null (strchr (error->message, '\n'));
  database_close (database);
}

/* URL with the role of ROLE. */
static char *
as_role (const char *url, const char *role)
{
  g_autofree char *wanted = g_strdup_printf ("//%s@", role);
  g_autoptr (GString) changed = g_string_new (url);
  g_assert_cmpuint (g_string_replace (changed, "//adder@", wanted, 1), ==, 1);
  return g_string_free (g_steal_pointer (&changed), FALSE);
}

static void
test_rights (void)
{
  g_autoptr (store_world) world = store_world_new (&postgres);
  if (!world)
    return;
  g_autofree char *powerless = as_role (store_world_url (world), "powerless");
  refuses (powerless, "its role lacks a right: permission denied for schema public", NULL);
  g_autofree char *wrong = as_role (store_world_url (world), "locked:wrong-word");
  refuses (wrong, "password authentication failed", "wrong-word");
  g_autofree char *silent = as_role (store_world_url (world), "locked");
  refuses (silent, "no password supplied", NULL);
  g_autofree char *stranger = as_role (store_world_url (world), "stranger");
  refuses (stranger, "role \"stranger\" does not exist", NULL);
  refuses ("postgresql://adder:wrong-word@127.0.0.1:1/none", "127.0.0.1", "wrong-word");
  refuses ("postgresql:///none?host=/nowhere&password=wrong-word", "/nowhere", "wrong-word");
  refuses ("postgresql:///none?nonsense=wrong-word", "invalid URI query parameter", "wrong-word");
  refuses ("postgresql://adder:wrong-word/1@127.0.0.1:1/none", "postgresql://...", "wrong-word");
  refuses ("postgresql://adder:wrong-word?1@127.0.0.1:1/none", "postgresql://...", "wrong-word");
  refuses ("postgresql://adder:wrong-word@[none", "the URL cannot be read", "wrong-word");
  refuses ("postgresql://adder:wrong-word%zz@none/none", "the URL cannot be read", "wrong-word");
  refuses ("postgresql://adder@wrong-word@none/none", "its host or port is invalid", "wrong-word");

  /* With the right word, and a table that it may not write to. */
  g_autofree char *name =
      g_strndup (strstr (powerless, "/world") + 1, strcspn (strstr (powerless, "/world") + 1, "?"));
  g_autofree char *grant = g_strdup_printf ("sql %s GRANT CREATE ON SCHEMA public TO locked", name);
  tell (grant);
  g_autofree char *right = as_role (store_world_url (world), "locked:sesame");
  g_autoptr (GError) error = NULL;
  struct database *database = database_open (right, 20000, &error);
  g_assert_true (commit (database, "a", &error));
  g_autofree char *take = g_strdup_printf ("sql %s REVOKE INSERT ON settings FROM locked", name);
  tell (take);
  g_assert_false (commit (database, "b", &error));
  g_assert_nonnull (strstr (error->message, "permission denied for table settings"));
  database_close (database);
}

/* ---- somebody else has it ---- */

static void
test_busy (void)
{
  g_autoptr (store_world) world = store_world_new (&sqlite);
  struct database *database = store_world_open (world, 300), *other = store_world_open (world, 60000);
  g_autoptr (GError) error = NULL;
  commit_at_last (database, "before");
  struct transaction *transaction = database_begin (other, TRUE, &error);
  g_assert_no_error (error);
  g_assert_false (commit (database, "meanwhile", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  g_assert_nonnull (strstr (error->message, "another program is writing"));
  g_clear_error (&error);
  g_assert_cmpint (count_rows (other, "%"), ==, 1);
  g_assert_cmpint (count_rows (database, "%"), ==, 1);
  transaction_end (transaction);
  commit_at_last (database, "after");
  g_assert_cmpint (count_rows (other, "%"), ==, 2);
  database_close (database);
  database_close (other);
}

/* Somebody in this process keeps the turn. */
static void
test_turn (void)
{
  g_autoptr (store_world) world = store_world_new (&sqlite);
  struct database *database = store_world_open (world, 300);
  g_autoptr (GError) error = NULL;
  commit_at_last (database, "before");
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  g_assert_false (commit (database, "meanwhile", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  g_clear_error (&error);
  transaction_end (transaction);
  g_assert_true (commit (database, "after", &error));
  database_close (database);
}

/* Its file is removed, or another takes its place, under those who have it open. */
static void
test_replaced (void)
{
  g_autoptr (store_world) world = store_world_new (&sqlite);
  struct database *database = store_world_open (world, 20000);
  g_autofree char *path = g_build_filename (store_world_folder (world), "records.db", NULL);
  g_autofree char *aside = g_build_filename (store_world_folder (world), "aside.db", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_true (commit (database, "first", &error));
  g_assert_cmpint (g_rename (path, aside), ==, 0);
  g_assert_true (commit (database, "second", &error));
  g_assert_cmpint (count_rows (database, "%"), ==, 1);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (count_rows (database, "%"), ==, 0);
  g_assert_true (commit (database, "third", &error));
  g_assert_no_error (error);
  database_close (database);
}

/* ---- its disk is full ---- */

static gboolean
put_much (gpointer data, struct transaction *transaction, GError **error)
{
  g_autofree char *value = g_strnfill (50 * 1000, 'x');
  const struct sql_value values[] = {SQL_STR (data), SQL_STR (value)};
  return transaction_run (transaction, "INSERT INTO settings (name, value) VALUES ($1, $2)", values, 2, NULL,
                          NULL, NULL, error);
}

/* In a child with a small disk at FOLDER. */
static void
fill (const char *folder)
{
  g_autofree char *url = g_strdup_printf ("sqlite:%s/records.db", folder);
  g_autoptr (GError) error = NULL;
  struct database *database = database_open (url, 20000, &error);
  gint64 kept = 0;
  for (guint i = 0; !error && i < 1000; i++) {
    g_autofree char *name = g_strdup_printf ("%u", i);
    if (database_commit (database, put_much, name, &error))
      kept++;
  }
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  g_assert_nonnull (strstr (error->message, "no space is left on its disk"));
  g_clear_error (&error);
  g_assert_cmpint (kept, >, 0);
  g_assert_cmpint (count_rows (database, "%"), ==, kept);
  g_assert_false (database_commit (database, put_much, (gpointer) "again", &error));
  g_clear_error (&error);
  g_assert_cmpint (mount (NULL, folder, NULL, MS_REMOUNT, "size=64m"), ==, 0);
  commit_at_last (database, "after");
  g_assert_cmpint (count_rows (database, "%"), ==, kept + 1);
  database_close (database);
}

static gboolean
write_file (const char *path, const char *text)
{
  autoclose int fd = open (path, O_WRONLY | O_CLOEXEC);
  return fd >= 0 && fd_write_all (fd, text, strlen (text)) == 0;
}

/* An ordinary user may, as root of a user namespace. */
static gboolean
mount_small (const char *folder)
{
  g_autofree char *uids = g_strdup_printf ("0 %u 1", (unsigned)geteuid ());
  g_autofree char *gids = g_strdup_printf ("0 %u 1", (unsigned)getegid ());
  gboolean is_root = geteuid () == 0;
  if (unshare (CLONE_NEWNS | (is_root ? 0 : CLONE_NEWUSER)) < 0)
    return FALSE;
  if (!is_root && !(write_file ("/proc/self/uid_map", uids) && write_file ("/proc/self/setgroups", "deny") &&
                    write_file ("/proc/self/gid_map", gids)))
    return FALSE;
  return mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount ("tmpfs", folder, "tmpfs", MS_NOSUID, "size=2m,mode=777") == 0;
}

static void
test_full (void)
{
  g_autoptr (store_world) world = store_world_new (&sqlite);
  const char *folder = store_world_folder (world);
  pid_t pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0) {
    if (!mount_small (folder))
      _exit (77);
    fill (folder);
    _exit (0);
  }
  int status;
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77)
    g_test_skip ("this host lets nobody mount a small disk");
  else
    g_assert_cmpint (status, ==, 0);
}

UNIT_SUITE (store_away)
{
  g_test_init (&argc, &argv, NULL);
  /* First: it forks, and nobody has made threads yet. */
  g_test_add_func ("/database/away/full", test_full);
  g_test_add_func ("/database/away/restart", test_restart);
  g_test_add_func ("/database/away/late", test_late);
  g_test_add_func ("/database/away/dropped-idle", test_dropped_idle);
  g_test_add_func ("/database/away/lost-at-version", test_lost_at_version);
  g_test_add_func ("/database/away/dropped-amid", test_dropped_amid);
  g_test_add_func ("/database/away/frozen", test_frozen);
  g_test_add_func ("/database/away/acknowledged-dropped", test_acknowledged_dropped);
  g_test_add_func ("/database/away/acknowledged-restarted", test_acknowledged_restarted);
  g_test_add_func ("/database/away/rights", test_rights);
  g_test_add_func ("/database/away/busy", test_busy);
  g_test_add_func ("/database/away/turn", test_turn);
  g_test_add_func ("/database/away/replaced", test_replaced);
  return g_test_run ();
}
