/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite: one file that any number of threads and processes of this machine share. Readers and the one writer
 * do not wait for each other (WAL), and a commit is in the kernel before it is reported: a SIGKILL loses
 * nothing, a power cut may lose the last moments but does no damage (synchronous = NORMAL). */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "store/backend.h"

/* Statements are prepared once a connection. */
#define STATEMENTS_MAX 128
#define TEXT_MAX       (64 * 1024 * 1024) /* of one value */
/* Virtual instructions between two checks of the clock: some 100 us. */
#define STEPS_BETWEEN_LOOKS 10000

struct connection {
  sqlite3 *handle;
  GHashTable *statements; /* SQL -> sqlite3_stmt */
  gint64 deadline_us;     /* of the statement that runs */
  char *path;
  dev_t device; /* and the identity of the file when it was opened */
  ino_t inode;
  char *log; /* of a file that nobody wrote to then, and SQLite looks for no changes of; or NULL */
  struct timespec changed;
};

static void
database_sqlite_fail (struct sql_failure *failure, enum sql_trouble trouble, const char *text)
{
  *failure = (struct sql_failure){.trouble = trouble};
  g_strlcpy (failure->text, text, sizeof failure->text);
}

static void
database_sqlite_fail_away (struct sql_failure *failure, const char *text)
{
  database_sqlite_fail (failure, SQL_FAILED, text);
  failure->is_away = TRUE;
}

/* CODE, just returned for CONNECTION, in words. */
static void
database_sqlite_explain (struct connection *connection, int code, struct sql_failure *failure)
{
  int err = connection->handle ? sqlite3_system_errno (connection->handle) : 0;
  switch (code & 0xff) {
  case SQLITE_BUSY:
    if (code == SQLITE_BUSY_SNAPSHOT || g_get_monotonic_time () < connection->deadline_us)
      database_sqlite_fail (failure, SQL_CONFLICT, "somebody else has written to it meanwhile");
    else
      database_sqlite_fail (failure, SQL_TIMEOUT,
                            "another program is writing to it and does not come to an end");
    return;
  case SQLITE_LOCKED:
    database_sqlite_fail (failure, SQL_CONFLICT, "somebody else has locked it");
    return;
  case SQLITE_INTERRUPT:
    database_sqlite_fail (failure, SQL_TIMEOUT, "it took too long to answer ([store] timeout_ms)");
    return;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    database_sqlite_fail_away (
        failure, "the file is damaged, or not a database. Adder leaves it unchanged: replace it by a backup, "
                 "or move it away together with its -wal and -shm files, and a new one is created");
    return;
  case SQLITE_FULL:
    database_sqlite_fail_away (failure, "no space is left on its disk");
    return;
  case SQLITE_READONLY:
    database_sqlite_fail_away (
        failure, "it may not be written to: its file, or the folder that it is in, is read-only");
    return;
  case SQLITE_IOERR:
  case SQLITE_CANTOPEN:
    database_sqlite_fail_away (failure, "no space is left on its disk");
    if (err != ENOSPC && err != EDQUOT)
      g_snprintf (failure->text, sizeof failure->text, "%s: %s", sqlite3_errstr (code),
                  err ? g_strerror (err) : "the system does not say why");
    return;
  default:
    database_sqlite_fail (failure, SQL_FAILED, sqlite3_errmsg (connection->handle));
  }
}

/* ---- waiting ---- */

/* Another process holds the lock: such moments are short, and so are the pauses. */
static int
wait_for_others (void *data, int times)
{
  const struct connection *connection = data;
  if (g_get_monotonic_time () >= connection->deadline_us)
    return 0;
  g_usleep (times < 10 ? 200 : 2000);
  return 1;
}

static int
is_too_late (void *data)
{
  const struct connection *connection = data;
  return g_get_monotonic_time () >= connection->deadline_us;
}

static void
database_sqlite_set_deadline (struct connection *connection, guint64 timeout_ms)
{
  connection->deadline_us = g_get_monotonic_time () + (gint64)timeout_ms * 1000;
}

/* Whether CODE is due to a lock for which there is still time to wait: SQLite does not call wait_for_others
 * where that could deadlock, as when a new file gets its log. */
static gboolean
is_busy_early (const struct connection *connection, int code)
{
  if ((code & 0xff) != SQLITE_BUSY || g_get_monotonic_time () >= connection->deadline_us)
    return FALSE;
  g_usleep (1000);
  return TRUE;
}

/* ---- connections ---- */

static void
finalize (gpointer data)
{
  sqlite3_finalize (data);
}

static void
sqlite_disconnect (void *data)
{
  struct connection *connection = data;
  database_sqlite_set_deadline (connection, 1000);
  g_hash_table_unref (connection->statements);
  sqlite3_close (connection->handle);
  g_free (connection->path);
  g_free (connection->log);
  g_free (connection);
}

/* Whether the file or its folder is read-only, as in a mounted backup. */
static gboolean
database_sqlite_is_read_only (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  return g_file_test (path, G_FILE_TEST_EXISTS) && (access (path, W_OK) < 0 || access (folder, W_OK) < 0);
}

/* Only its owner may read it; SQLite gives the files beside it the same mode. An existing file is not opened:
 * closing it would drop the locks that SQLite holds on it for other threads (fcntl(2)). */
static gboolean
make_file (const char *path, struct sql_failure *failure)
{
  autoclose int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0 || errno == EEXIST)
    return TRUE;
  failure->trouble = SQL_FAILED;
  g_snprintf (failure->text, sizeof failure->text, "the file cannot be made: %s", g_strerror (errno));
  return FALSE;
}

/* Somebody may remove the file, or replace it by a backup: writes to the old one are then lost with it, and
 * SQLite does not check. */
static gboolean
is_in_place (const struct connection *connection)
{
  struct stat st, log;
  if (stat (connection->path, &st) < 0 || st.st_dev != connection->device || st.st_ino != connection->inode)
    return FALSE;
  return !connection->log || ((stat (connection->log, &log) < 0 || log.st_size == 0) &&
                              st.st_mtim.tv_sec == connection->changed.tv_sec &&
                              st.st_mtim.tv_nsec == connection->changed.tv_nsec);
}

static void
note_place (struct connection *connection, const char *path)
{
  struct stat st = {0};
  (void)stat (path, &st);
  connection->path = g_strdup (path);
  connection->device = st.st_dev;
  connection->inode = st.st_ino;
  connection->changed = st.st_mtim;
}

static const struct {
  const char *sql;
  gboolean writes;
} settings[] = {
    {"PRAGMA journal_mode = WAL", TRUE},
    {"PRAGMA synchronous = NORMAL", TRUE},
    {"PRAGMA journal_size_limit = 67108864", TRUE}, /* truncates a log that a long reader let grow */
    {"PRAGMA cache_size = -256", FALSE}, /* KiB of each connection; what was read lately is in the page cache
                                            of the host */
    {"PRAGMA trusted_schema = OFF", FALSE},
    {"PRAGMA cell_size_check = ON", FALSE},
};

/* Opens CONNECTION's file. In a read-only folder, SQLite has to be told that nobody writes, unless somebody
 * who can does so now, or was killed: then the log counts as well, and its index must exist
 * (https://sqlite.org/wal.html#read_only_databases). */
static int
database_sqlite_open (struct connection *connection, gboolean read_only)
{
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (!read_only)
    return sqlite3_open_v2 (connection->path, &connection->handle, flags | SQLITE_OPEN_READWRITE, NULL);
  struct stat st;
  g_autofree char *log = g_strconcat (connection->path, "-wal", NULL);
  g_autofree char *name = g_uri_escape_string (connection->path, "/", FALSE);
  gboolean is_still = stat (log, &st) < 0 || st.st_size == 0;
  connection->log = is_still ? g_steal_pointer (&log) : NULL;
  g_autofree char *uri = g_strconcat ("file:", name, is_still ? "?immutable=1" : "", NULL);
  return sqlite3_open_v2 (uri, &connection->handle, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

static void *
sqlite_connect (const char *where, guint64 timeout_ms, struct sql_failure *failure)
{
  if (!make_file (where, failure))
    return NULL;
  struct connection *connection = g_new0 (struct connection, 1);
  connection->statements = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, finalize);
  note_place (connection, where);
  database_sqlite_set_deadline (connection, timeout_ms);
  gboolean read_only = database_sqlite_is_read_only (where);
  int code = database_sqlite_open (connection, read_only);
  if (code == SQLITE_OK) {
    sqlite3_busy_handler (connection->handle, wait_for_others, connection);
    sqlite3_progress_handler (connection->handle, STEPS_BETWEEN_LOOKS, is_too_late, connection);
    sqlite3_limit (connection->handle, SQLITE_LIMIT_LENGTH, TEXT_MAX);
    sqlite3_limit (connection->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config (connection->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  }
  for (gsize i = 0; code == SQLITE_OK && i < G_N_ELEMENTS (settings); i++)
    do
      code = read_only && settings[i].writes
                 ? SQLITE_OK
                 : sqlite3_exec (connection->handle, settings[i].sql, NULL, NULL, NULL);
    while (is_busy_early (connection, code));
  if (code == SQLITE_OK)
    return connection;
  database_sqlite_explain (connection, code, failure);
  sqlite_disconnect (connection);
  return NULL;
}

/* ---- statements ---- */

/* The connection's, or NULL. */
static sqlite3_stmt *
find_statement (struct connection *connection, const char *sql, struct sql_failure *failure)
{
  sqlite3_stmt *statement = g_hash_table_lookup (connection->statements, sql);
  if (statement)
    return statement;
  int code = sqlite3_prepare_v3 (connection->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
  if (code != SQLITE_OK) {
    database_sqlite_explain (connection, code, failure);
    return NULL;
  }
  if (g_hash_table_size (connection->statements) >= STATEMENTS_MAX)
    g_hash_table_remove_all (connection->statements);
  g_hash_table_insert (connection->statements, g_strdup (sql), statement);
  return statement;
}

/* SQLite numbers parameters by first occurrence; $3 is VALUES[2] wherever it is. */
static int
database_sqlite_bind_values (sqlite3_stmt *statement, const struct sql_value *values, guint count)
{
  int code = SQLITE_OK;
  for (int i = 1; code == SQLITE_OK && i <= sqlite3_bind_parameter_count (statement); i++) {
    const char *name = sqlite3_bind_parameter_name (statement, i);
    guint64 number = name && name[0] == '$' ? g_ascii_strtoull (name + 1, NULL, 10) : 0;
    if (number == 0 || number > count)
      return SQLITE_RANGE;
    const struct sql_value *value = &values[number - 1];
    if (value->kind == SQL_INTEGER)
      code = sqlite3_bind_int64 (statement, i, value->integer);
    else if (value->kind == SQL_TEXT)
      code = sqlite3_bind_text (statement, i, value->text, -1, SQLITE_STATIC);
    else
      code = sqlite3_bind_null (statement, i);
  }
  return code;
}

static struct sql_value
database_sqlite_column (sqlite3_stmt *statement, int at)
{
  switch (sqlite3_column_type (statement, at)) {
  case SQLITE_NULL:
    return (struct sql_value){.kind = SQL_NULL};
  case SQLITE_INTEGER:
    return SQL_INT (sqlite3_column_int64 (statement, at));
  default: {
    gboolean is_blob = sqlite3_column_type (statement, at) == SQLITE_BLOB;
    const char *text = (const char *)sqlite3_column_text (statement, at);
    return (struct sql_value){.kind = is_blob ? SQL_OTHER : SQL_TEXT, .text = text ? text : ""};
  }
  }
}

static gboolean
give_row (sqlite3_stmt *statement, sql_row row, gpointer data)
{
  struct sql_value values[SQL_COLUMNS_MAX];
  int columns = MIN (sqlite3_column_count (statement), SQL_COLUMNS_MAX);
  for (int i = 0; i < columns; i++)
    values[i] = database_sqlite_column (statement, i);
  return row (data, values, (guint)columns);
}

static gboolean
sqlite_run (void *data, const char *sql, const struct sql_value *values, guint count, sql_row row,
            gpointer row_data, guint64 *ret_changed, guint64 timeout_ms, struct sql_failure *failure)
{
  struct connection *connection = data;
  database_sqlite_set_deadline (connection, timeout_ms);
  gboolean begins = g_str_has_prefix (sql, "BEGIN");
  if (begins && !is_in_place (connection)) {
    database_sqlite_fail (failure, SQL_LOST, "its file was taken away, or changed by others");
    return FALSE;
  }
  sqlite3_stmt *statement = find_statement (connection, sql, failure);
  if (!statement)
    return FALSE;
  int code = database_sqlite_bind_values (statement, values, count);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    do
      code = sqlite3_step (statement);
    while (begins && is_busy_early (connection, code));
    if (code == SQLITE_ROW && row && !give_row (statement, row, row_data))
      break;
  }
  gboolean ok = code == SQLITE_DONE || code == SQLITE_ROW;
  if (!ok)
    database_sqlite_explain (connection, code, failure);
  else if (ret_changed)
    *ret_changed = sqlite3_stmt_readonly (statement) ? 0 : (guint64)sqlite3_changes64 (connection->handle);
  sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
  return ok;
}

const struct backend sqlite_backend = {
    .begin_write = "BEGIN IMMEDIATE",
    .now_ms = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    .begin_read = "BEGIN",
    .has_schema = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'",
    .connect = sqlite_connect,
    .disconnect = sqlite_disconnect,
    .run = sqlite_run,
};
