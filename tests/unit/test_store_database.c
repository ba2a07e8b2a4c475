/* SPDX-License-Identifier: Apache-2.0 */
/* The database: transactions, writing together, what happens when it is away, damaged, full or too new. Each
 * case is tried with each back end that the test world has (store_world.h). */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "store/database.h"
#include "store_world.h"
#include "suite.h"

static gboolean
take_number (gpointer data, const struct sql_value *row, guint columns)
{
  g_assert_cmpuint (columns, ==, 1);
  g_assert_cmpint (row[0].kind, ==, SQL_INTEGER);
  *(gint64 *)data = row[0].integer;
  return TRUE;
}

/* The one number that SQL gives. */
static gint64
ask (struct database *database, const char *sql)
{
  g_autoptr (GError) error = NULL;
  gint64 number = -1;
  struct transaction *transaction = database_begin (database, FALSE, &error);
  g_assert_no_error (error);
  transaction_run (transaction, sql, NULL, 0, take_number, &number, NULL, &error);
  g_assert_no_error (error);
  transaction_end (transaction);
  return number;
}

static gboolean
put (struct transaction *transaction, const char *name, const char *value, GError **error)
{
  const struct sql_value values[] = {SQL_STR (name), SQL_STR (value)};
  return transaction_run (transaction, "INSERT INTO settings (name, value) VALUES ($1, $2)", values, 2, NULL,
                          NULL, NULL, error);
}

static gboolean
put_row (gpointer data, struct transaction *transaction, GError **error)
{
  return put (transaction, data, "value", error);
}

/* ---- the dialect ---- */

struct seen {
  guint rows;
  GString *text;
};

static gboolean
see_row (gpointer data, const struct sql_value *row, guint columns)
{
  struct seen *seen = data;
  seen->rows++;
  for (guint i = 0; i < columns; i++)
    if (row[i].kind == SQL_INTEGER)
      g_string_append_printf (seen->text, "%" G_GINT64_FORMAT ";", row[i].integer);
    else
      g_string_append_printf (seen->text, "%s;", row[i].kind == SQL_TEXT ? row[i].text : "null");
  return TRUE;
}

struct spoken {
  const char *sql;
  struct sql_value values[3];
  guint count;
  gint64 changed;
  const char *rows;
};

static const struct spoken dialect[] = {
    {"INSERT INTO rooms (owner, files, bytes) VALUES ($2, $1, $3)",
     {{.kind = SQL_INTEGER, .integer = 7},
      {.kind = SQL_TEXT, .text = "a'b\"c\\ü\n%s"},
      {.kind = SQL_INTEGER, .integer = G_MAXINT64}},
     3,
     1,
     ""},
    {"SELECT owner, files, bytes FROM rooms", {{0}}, 0, 0, "a'b\"c\\ü\n%s;7;9223372036854775807;"},
    {"UPDATE rooms SET files = files + 1 WHERE files = $1 RETURNING files",
     {{.kind = SQL_INTEGER, .integer = 7}},
     1,
     1,
     "8;"},
    {"INSERT INTO rooms (owner, files, bytes) VALUES ($1, 1, -1) ON CONFLICT (owner) DO UPDATE SET files = 0",
     {{.kind = SQL_TEXT, .text = "a'b\"c\\ü\n%s"}},
     1,
     1,
     ""},
    {"INSERT INTO rooms (owner, files, bytes) VALUES ('b', 1, 5), ('c', 2, 6)", {{0}}, 0, 2, ""},
    {"SELECT count(*), sum(files), sum(bytes) FROM rooms WHERE owner IN ('b', 'c')", {{0}}, 0, 0, "2;3;11;"},
    {"SELECT sum(bytes) FROM rooms WHERE owner = $1", {{.kind = SQL_TEXT, .text = "nobody"}}, 1, 0, "null;"},
    {"SELECT COALESCE(sum(bytes), 0), max(owner) FROM rooms WHERE owner > 'zz'", {{0}}, 0, 0, "0;null;"},
    {"SELECT owner FROM rooms WHERE (CAST($1 AS TEXT) IS NULL OR owner = $1) ORDER BY files DESC, owner "
     "LIMIT $2",
     {{.kind = SQL_NULL}, {.kind = SQL_INTEGER, .integer = 2}},
     2,
     0,
     "c;b;"},
    {"SELECT $1 || owner FROM rooms WHERE owner LIKE 'b%'", {{.kind = SQL_TEXT, .text = "x"}}, 1, 0, "xb;"},
    {"SELECT 1 = 1, 1 = 2, CAST('1.5' AS NUMERIC), CAST('-3' AS NUMERIC)", {{0}}, 0, 0, "1;0;1.5;-3;"},
    {"DELETE FROM rooms WHERE files <= $1", {{.kind = SQL_INTEGER, .integer = 1}}, 1, 2, ""},
    {"DELETE FROM rooms WHERE files <= $1", {{.kind = SQL_INTEGER, .integer = 1}}, 1, 0, ""},
};

static void
test_dialect (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 5000);
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  transaction_run (transaction,
                   "CREATE TABLE rooms (owner TEXT NOT NULL PRIMARY KEY, files BIGINT NOT NULL, bytes BIGINT "
                   "NOT NULL)",
                   NULL, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (dialect); i++) {
    const struct spoken *spoken = &dialect[i];
    struct seen seen = {0, g_string_new (NULL)};
    guint64 changed = 99;
    transaction_run (transaction, spoken->sql, spoken->values, spoken->count, see_row, &seen, &changed,
                     &error);
    g_assert_no_error (error);
    g_assert_cmpstr (seen.text->str, ==, spoken->rows);
    g_assert_cmpint ((gint64)changed, ==, spoken->changed);
    g_string_free (seen.text, TRUE);
  }
  g_assert_true (transaction_commit (transaction, &error));
  transaction_end (transaction);
  database_close (database);
}

static gboolean
stop_at_third (gpointer data, const struct sql_value *row, guint columns)
{
  (void)row, (void)columns;
  return ++*(guint *)data < 3;
}

/* Rows come one by one, and may be stopped; the transaction goes on. */
static void
test_rows (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 5000);
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  for (guint i = 0; i < 1000; i++) {
    g_autofree char *name = g_strdup_printf ("row %04u", i);
    g_assert_true (put (transaction, name, "x", &error));
  }
  guint rows = 0;
  g_assert_true (transaction_run (transaction,
                                  "SELECT name FROM settings WHERE name <> 'additions' ORDER BY name", NULL,
                                  0, stop_at_third, &rows, NULL, &error));
  g_assert_cmpuint (rows, ==, 3);
  gint64 count = 0;
  g_assert_true (transaction_run (transaction, "SELECT count(*) FROM settings WHERE name <> 'additions'",
                                  NULL, 0, take_number, &count, NULL, &error));
  g_assert_cmpint (count, ==, 1000);
  transaction_end (transaction);
  g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, 0);
  database_close (database);
}

/* ---- transactions ---- */

/* What failed can only be taken back, and then others go on. */
static void
test_take_back (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 5000);
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_true (put (transaction, "a", "1", &error));
  g_assert_false (put (transaction, "a", "2", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_false (put (transaction, "b", "2", &error));
  g_clear_error (&error);
  g_assert_false (transaction_commit (transaction, &error));
  g_clear_error (&error);
  transaction_end (transaction);

  transaction = database_begin (database, TRUE, &error);
  g_assert_false (put (transaction, "bad", "\xff\xfe", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  transaction_end (transaction);
  transaction_end (NULL);

  transaction = database_begin (database, TRUE, &error);
  g_assert_true (put (transaction, "c", "1", &error));
  g_assert_true (transaction_commit (transaction, &error));
  transaction_end (transaction);
  g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, 1);
  database_close (database);

  database = store_world_open (world, 5000);
  g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, 1);
  database_close (database);
}

/* A reader sees what was there when it began. */
static void
test_snapshot (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 5000);
  g_autoptr (GError) error = NULL;
  struct transaction *reader = database_begin (database, FALSE, &error);
  gint64 count = -1;
  g_assert_true (transaction_run (reader, "SELECT count(*) FROM settings WHERE name <> 'additions'", NULL, 0,
                                  take_number, &count, NULL, &error));
  g_assert_true (database_commit (database, put_row, (gpointer) "a", &error));
  g_assert_true (transaction_run (reader, "SELECT count(*) FROM settings WHERE name <> 'additions'", NULL, 0,
                                  take_number, &count, NULL, &error));
  g_assert_cmpint (count, ==, 0);
  transaction_end (reader);
  g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, 1);
  database_close (database);
}

/* ---- writing together ---- */

#define WRITERS 16
#define WRITES  40

struct writer {
  struct database *database;
  guint number, done, refused;
};

/* Every tenth step says no of itself, every tenth hits a row that is there. */
static gboolean
write_one (gpointer data, struct transaction *transaction, GError **error)
{
  const struct writer *writer = data;
  guint at = writer->done + writer->refused;
  g_autofree char *name = g_strdup_printf ("%u/%u", writer->number, at);
  if (!put (transaction, at % 10 == 3 ? "common" : name, "x", error))
    return FALSE;
  if (at % 10 != 7)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "not this one");
  return FALSE;
}

static gpointer
write_many (gpointer data)
{
  struct writer *writer = data;
  for (guint i = 0; i < WRITES; i++) {
    g_autoptr (GError) error = NULL;
    if (database_commit (writer->database, write_one, writer, &error)) {
      g_assert_no_error (error);
      writer->done++;
    } else {
      g_assert_nonnull (error);
      if (i % 10 == 7)
        g_assert_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED);
      else
        g_assert_cmpuint (i % 10, ==, 3);
      writer->refused++;
    }
  }
  return NULL;
}

/* What one does and another does not is kept apart; with two who have the database open, as two daemons. */
static void
test_together (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *databases[] = {store_world_open (world, 60000), store_world_open (world, 60000)};
  g_autoptr (GError) error = NULL;
  g_assert_true (database_commit (databases[0], put_row, (gpointer) "common", &error));
  struct writer writers[WRITERS] = {0};
  GThread *threads[WRITERS];
  for (guint i = 0; i < WRITERS; i++) {
    writers[i] = (struct writer){.database = databases[i % 2], .number = i};
    threads[i] = g_thread_new ("writer", write_many, &writers[i]);
  }
  guint done = 1;
  for (guint i = 0; i < WRITERS; i++) {
    g_thread_join (threads[i]);
    g_assert_cmpuint (writers[i].refused, ==, WRITES / 5);
    done += writers[i].done;
  }
  g_assert_cmpint (ask (databases[1], "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, done);
  database_close (databases[0]);
  database_close (databases[1]);
}

/* ---- what is wrong ---- */

static const char *const bad_urls[] = {"",      "sqlite",    "sqlite:records.db", "mysql://host/db",
                                       "/path", "postgres:x"};

static void
test_urls (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_urls); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (database_open (bad_urls[i], 1000, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
}

/* PostgreSQL is a part of its own, that may not be installed. */
static void
test_no_module (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("adder-store-XXXXXX", NULL);
  g_autofree char *before = g_strdup (g_getenv ("ADDER_LIBEXECDIR"));
  g_setenv ("ADDER_LIBEXECDIR", folder, TRUE);
  g_assert_null (database_open ("postgresql://host/database", 1000, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "cannot load adder-postgres"));
  if (before)
    g_setenv ("ADDER_LIBEXECDIR", before, TRUE);
  else
    g_unsetenv ("ADDER_LIBEXECDIR");
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
refuses (const char *url, const char *says)
{
  g_autoptr (GError) error = NULL;
  struct database *database = database_open (url, 1000, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++) {
    g_assert_null (database_begin (database, TRUE, &error));
    g_assert_nonnull (error);
    if (!strstr (error->message, says))
      g_error ("expected \"%s\" in: %s", says, error->message);
    g_clear_error (&error);
  }
  g_assert_false (database_commit (database, put_row, (gpointer) "a", &error));
  g_assert_nonnull (strstr (error->message, says));
  database_close (database);
}

static void
test_damaged (void)
{
  static const struct store_world_kind sqlite = {.name = "sqlite"};
  g_autoptr (store_world) world = store_world_new (&sqlite);
  g_autofree char *path = g_build_filename (store_world_folder (world), "records.db", NULL);
  g_autofree char *noise = g_strnfill (20000, 'x');
  g_autofree char *kept = NULL;
  gsize length;
  g_assert_true (g_file_set_contents (path, noise, -1, NULL));
  refuses (store_world_url (world), "damaged");
  g_assert_true (g_file_get_contents (path, &kept, &length, NULL));
  g_assert_cmpuint (length, ==, 20000);

  g_autofree char *nowhere = g_strconcat (store_world_url (world), "/in/a/file", NULL);
  refuses (nowhere, "Not a directory");
  g_autofree char *folder = g_strconcat ("sqlite:", store_world_folder (world), NULL);
  refuses (folder, "unable to open");
}

/* Tables of an Adder that does not exist yet are left alone. */
static void
test_too_new (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 5000);
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_true (transaction_run (transaction, "UPDATE schema_version SET version = 1000", NULL, 0, NULL,
                                  NULL, NULL, &error));
  g_assert_true (transaction_commit (transaction, &error));
  transaction_end (transaction);
  database_close (database);
  refuses (store_world_url (world), "a newer Adder wrote it");
}

/* A statement that would never end does. */
static void
test_endless (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 60000);
  g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, 0);
  database_close (database);
  database = store_world_open (world, 200);
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  gint64 number = 0;
  g_assert_false (transaction_run (
      transaction,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000000) "
      "SELECT count(*) FROM n",
      NULL, 0, take_number, &number, NULL, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE);
  transaction_end (transaction);
  database_close (database);
}

static gboolean
take_any (gpointer data, G_GNUC_UNUSED const struct sql_value *row, G_GNUC_UNUSED guint columns)
{
  return ++*(guint64 *)data > 0;
}

/* Rows end by what they take, and in a question over all of them, that may take anything, by their time. */
static void
test_endless_rows (gconstpointer data)
{
  static const struct {
    const char *sql, *says;
    gboolean is_long;
  } rows[] = {
      {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) SELECT i, $1 FROM n",
       "far more rows", FALSE},
      {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) SELECT i, $1 FROM n",
       NULL, TRUE},
      {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000000) "
       "SELECT i, $1 FROM n",
       "timeout_ms", TRUE},
  };
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  g_autofree char *text = g_strnfill (10000, 'x');
  struct database *database = store_world_open (world, 60000);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    guint64 taken = 0;
    struct transaction *transaction = database_begin (database, FALSE, &error);
    g_assert_no_error (error);
    if (rows[i].is_long)
      transaction_set_timeout (transaction, rows[i].says ? 1000 : 60000);
    gboolean ok =
        transaction_run (transaction, rows[i].sql, &SQL_STR (text), 1, take_any, &taken, NULL, &error);
    g_assert_true (ok == (rows[i].says == NULL));
    g_assert_true (ok ? taken == 8000 : strstr (error->message, rows[i].says) != NULL);
    transaction_end (transaction);
  }
  database_close (database);
}

/* Whatever is asked how often, a connection remembers so many statements; what the database does not
 * understand ends a transaction alone. */
static void
test_statements (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 60000);
  for (gint64 round = 0; round < 2; round++) {
    g_autoptr (GError) error = NULL;
    struct transaction *transaction = database_begin (database, FALSE, &error);
    g_assert_no_error (error);
    for (gint64 i = 0; i < 300; i++) {
      gint64 number = 0;
      g_autofree char *sql = g_strdup_printf ("SELECT CAST($1 AS BIGINT) + %" G_GINT64_FORMAT, i);
      transaction_run (transaction, sql, &SQL_INT (1000 * round), 1, take_number, &number, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (number, ==, 1000 * round + i);
    }
    static const char *const wrong[] = {"SELECT $1 FROM nowhere", "SELECT name FROM nowhere"};
    g_assert_false (transaction_run (transaction, wrong[round], &SQL_INT (1), round == 0, take_number, NULL,
                                     NULL, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_FAILED);
    transaction_end (transaction);
  }
  g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, 0);
  database_close (database);
}

static gboolean
fail_silently (gpointer data, struct transaction *transaction, GError **error)
{
  (void)data, (void)error;
  return put (transaction, "silent", "1", NULL) && FALSE;
}

/* A step that fails and does not say why is taken back all the same. */
static void
test_silent (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 60000);
  g_autoptr (GError) error = NULL;
  g_assert_false (database_commit (database, fail_silently, NULL, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "it could not be written to the database");
  g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, 0);
  database_close (database);
}

/* A transaction of PostgreSQL begins with its first statement, whatever that is. */
struct first {
  const char *sql;
  guint64 rows;
  gboolean ok, on_server;
};

static gboolean
run_first (gpointer data, struct transaction *transaction, GError **error)
{
  const struct first *first = data;
  guint64 rows = 0;
  if (first->sql && !transaction_run (transaction, first->sql, NULL, 0, take_any, &rows, NULL, error))
    return FALSE;
  g_assert_cmpuint (rows, ==, first->rows);
  return !first->sql || put (transaction, first->sql, "1", error);
}

static void
test_first_statement (gconstpointer data)
{
  static const struct first firsts[] = {
      {NULL, 0, TRUE, FALSE},
      {"SELECT name FROM nowhere", 0, FALSE, FALSE},
      {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) SELECT i FROM n", 8000,
       TRUE, FALSE},
      {"SELECT name FROM settings WHERE name = 'none'", 0, TRUE, FALSE},
      {"DEALLOCATE ALL", 0, FALSE, TRUE}, /* as a proxy does that gives each transaction another server */
      {"SELECT count(*) FROM settings", 1, TRUE, FALSE},
  };
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *database = store_world_open (world, 60000);
  gint64 rows = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (firsts); i++) {
    if (firsts[i].on_server && !store_world_is_server (world))
      continue;
    g_autoptr (GError) error = NULL;
    g_autofree char *after = g_strdup_printf ("after %zu", i);
    gboolean ok = database_commit (database, run_first, (gpointer)&firsts[i], &error);
    g_assert_true (ok == (error == NULL));
    if (!firsts[i].on_server)
      g_assert_true (ok == firsts[i].ok);
    g_clear_error (&error);
    g_assert_true (database_commit (database, put_row, after, &error));
    g_assert_no_error (error);
    rows += 1 + (ok && firsts[i].sql);
    g_assert_cmpint (ask (database, "SELECT count(*) FROM settings WHERE name <> 'additions'"), ==, rows);
  }
  database_close (database);
}

/* Two who make the tables of an empty database at the same time. */
static gpointer
begin_first (gpointer data)
{
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (data, TRUE, &error);
  g_assert_no_error (error);
  transaction_end (transaction);
  return NULL;
}

static void
test_first (gconstpointer data)
{
  g_autoptr (store_world) world = store_world_new (data);
  if (!world)
    return;
  struct database *databases[6];
  GThread *threads[6];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    databases[i] = store_world_open (world, 60000);
    threads[i] = g_thread_new ("first", begin_first, databases[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (ask (databases[0], "SELECT version FROM schema_version"), >=, 1);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    database_close (databases[i]);
}

static const struct {
  const char *name;
  void (*test) (gconstpointer kind);
} cases[] = {
    {"first-statement", test_first_statement},
    {"dialect", test_dialect},
    {"rows", test_rows},
    {"take-back", test_take_back},
    {"snapshot", test_snapshot},
    {"together", test_together},
    {"too-new", test_too_new},
    {"endless", test_endless},
    {"first", test_first},
    {"endless-rows", test_endless_rows},
    {"statements", test_statements},
    {"silent", test_silent},
};

UNIT_SUITE (store_database)
{
  g_test_init (&argc, &argv, NULL);
  for (const struct store_world_kind *kind = store_world_kinds; kind->name; kind++)
    for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
      g_autofree char *path = g_strdup_printf ("/database/%s/%s", kind->name, cases[i].name);
      g_test_add_data_func (path, kind, cases[i].test);
    }
  g_test_add_func ("/database/urls", test_urls);
  g_test_add_func ("/database/no-module", test_no_module);
  g_test_add_func ("/database/damaged", test_damaged);
  return g_test_run ();
}
