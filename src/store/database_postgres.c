/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL: the module adder-postgres. Each wait for an answer has a deadline, since a stopped server or a
 * broken network sends nothing. */
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <string.h>

#include "store/backend.h"

/* What the server calls the types of parameters and columns (pg_type.dat). */
enum { TYPE_BOOL = 16, TYPE_INT8 = 20, TYPE_INT2 = 21, TYPE_INT4 = 23, TYPE_TEXT = 25, TYPE_NUMERIC = 1700 };

#define PARAMETERS_MAX 64
/* Statements that a connection has the server remember; further ones are read anew each time. */
#define STATEMENTS_MAX 256

struct connection {
  PGconn *link;
  GHashTable *statements; /* SQL and the kinds of its parameters -> name */
  gboolean forgets;       /* a proxy between us and the server does not keep prepared statements */
  gboolean begins;        /* a transaction begins with the next statement */
  char *transaction;      /* the name of the one that began so */
  gint64 deadline_us;
};

static void
database_postgres_fail (struct sql_failure *failure, enum sql_trouble trouble, const char *text)
{
  *failure = (struct sql_failure){.trouble = trouble};
  g_strlcpy (failure->text, text, sizeof failure->text);
  g_strdelimit (g_strchomp (failure->text), "\n\t", ' ');
}

/* By SQLSTATE or its class (PostgreSQL's appendix A). */
static const struct {
  const char *state;
  enum sql_trouble trouble;
  const char *text; /* before the server's own words */
  gboolean is_away;
} troubles[] = {
    {"40", SQL_CONFLICT, "", FALSE},
    {"55P03", SQL_CONFLICT, "", FALSE},
    {"08", SQL_LOST, "", FALSE},
    {"57P", SQL_LOST, "", FALSE},
    {"25P03", SQL_LOST, "", FALSE},
    {"25006", SQL_LOST, "it takes no changes (a standby?): ", FALSE},
    {"26000", SQL_CONFLICT, "", FALSE},
    {"42P05", SQL_CONFLICT, "", FALSE},
    {"53", SQL_FAILED, "", TRUE},
    {"53100", SQL_FAILED, "no space is left on the server's disk: ", TRUE},
    {"58", SQL_FAILED, "", TRUE},
    {"42501", SQL_FAILED, "its role lacks a right: ", TRUE},
};

static void
explain_result (struct connection *connection, const PGresult *result, struct sql_failure *failure)
{
  const char *state = result ? PQresultErrorField (result, PG_DIAG_SQLSTATE) : NULL;
  const char *said = result ? PQresultErrorField (result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
  if (!said)
    said = PQerrorMessage (connection->link);
  enum sql_trouble trouble = SQL_FAILED;
  gboolean is_away = FALSE;
  const char *before = "";
  for (gsize i = 0; state && i < G_N_ELEMENTS (troubles); i++)
    if (g_str_has_prefix (state, troubles[i].state)) {
      trouble = troubles[i].trouble;
      before = troubles[i].text;
      is_away = troubles[i].is_away;
    }
  if (state && (strcmp (state, "26000") == 0 || strcmp (state, "42P05") == 0))
    connection->forgets = TRUE;
  if (PQstatus (connection->link) == CONNECTION_BAD)
    trouble = SQL_LOST;
  g_autofree char *text = g_strconcat (before, said[0] ? said : "the connection was lost", NULL);
  database_postgres_fail (failure, trouble, text);
  failure->is_away = is_away;
}

/* ---- waiting ---- */

static void
database_postgres_set_deadline (struct connection *connection, guint64 timeout_ms)
{
  connection->deadline_us = g_get_monotonic_time () + (gint64)timeout_ms * 1000;
}

/* Until the connection has one of EVENTS. */
static gboolean
database_postgres_wait_for (struct connection *connection, short events, struct sql_failure *failure)
{
  for (;;) {
    gint64 left_us = connection->deadline_us - g_get_monotonic_time ();
    struct pollfd wanted = {.fd = PQsocket (connection->link), .events = events};
    int ready = left_us <= 0 ? 0 : poll (&wanted, 1, (int)((left_us + 999) / 1000));
    if (ready > 0)
      return TRUE;
    if (ready == 0) {
      database_postgres_fail (failure, SQL_TIMEOUT, "the server did not answer in time ([store] timeout_ms)");
      return FALSE;
    }
    if (errno != EINTR) {
      database_postgres_fail (failure, SQL_LOST, g_strerror (errno));
      return FALSE;
    }
  }
}

/* Everything was passed to the kernel. The server's messages are read meanwhile, to avoid a deadlock. */
static gboolean
database_postgres_flush (struct connection *connection, struct sql_failure *failure)
{
  int left;
  while ((left = PQflush (connection->link)) > 0)
    if (!database_postgres_wait_for (connection, POLLIN | POLLOUT, failure))
      return FALSE;
    else if (!PQconsumeInput (connection->link))
      break;
  if (left == 0)
    return TRUE;
  explain_result (connection, NULL, failure);
  return FALSE;
}

/* The next result, NULL after the last one; FALSE: it did not come. */
static gboolean
next_result (struct connection *connection, PGresult **ret_result, struct sql_failure *failure)
{
  while (PQisBusy (connection->link)) {
    if (!database_postgres_wait_for (connection, POLLIN, failure))
      return FALSE;
    if (!PQconsumeInput (connection->link)) {
      explain_result (connection, NULL, failure);
      failure->trouble = SQL_LOST;
      return FALSE;
    }
  }
  *ret_result = PQgetResult (connection->link);
  return TRUE;
}

/* ---- connections ---- */

static void
say_nothing (void *data, const PGresult *result)
{
  (void)data, (void)result;
}

static void
postgres_disconnect (void *data)
{
  struct connection *connection = data;
  PQfinish (connection->link);
  g_hash_table_unref (connection->statements);
  g_free (connection->transaction);
  g_free (connection);
}

static gboolean
finish_connecting (struct connection *connection, struct sql_failure *failure)
{
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state == PGRES_POLLING_WRITING || state == PGRES_POLLING_READING) {
    if (PQstatus (connection->link) == CONNECTION_BAD)
      break;
    if (!database_postgres_wait_for (connection, state == PGRES_POLLING_WRITING ? POLLOUT : POLLIN, failure))
      return FALSE;
    state = PQconnectPoll (connection->link);
  }
  if (state == PGRES_POLLING_OK)
    return TRUE;
  database_postgres_fail (failure, SQL_LOST, PQerrorMessage (connection->link));
  return FALSE;
}

static gboolean postgres_run (void *data, const char *sql, const struct sql_value *values, guint count,
                              sql_row row, gpointer row_data, guint64 *ret_changed, guint64 timeout_ms,
                              struct sql_failure *failure);

/* The server frees what a vanished client holds: one that was cut off, or put to sleep. */
static gboolean
database_postgres_settle (struct connection *connection, guint64 timeout_ms, struct sql_failure *failure)
{
  g_autofree char *locks = g_strdup_printf ("SET lock_timeout = %" G_GUINT64_FORMAT, timeout_ms);
  const char *const settings[] = {
      locks,
      "SET idle_in_transaction_session_timeout = '5min'",
      PQserverVersion (connection->link) >= 140000 ? "SET client_connection_check_interval = '1s'" : NULL,
  };
  for (gsize i = 0; i < G_N_ELEMENTS (settings); i++)
    if (settings[i] &&
        !postgres_run (connection, settings[i], NULL, 0, NULL, NULL, NULL, timeout_ms, failure))
      return FALSE;
  return TRUE;
}

/* Whether OPTION's value can be a server address. libpq takes a password with a / in it for a port, and of
 * one with an @ the end for a part of the host; only a socket's name may have one. */
static gboolean
database_postgres_is_place (const PQconninfoOption *option)
{
  const char *value = option->val ? option->val : "";
  if (strcmp (option->keyword, "port") == 0)
    return value[strspn (value, "0123456789,")] == '\0';
  return strcmp (option->keyword, "host") != 0 || strchr ("/@", value[0]) || !strchr (value, '@');
}

/* libpq quotes what it cannot parse, including passwords: only its words before the quotation are shown. */
static gboolean
database_postgres_check_url (const char *where, struct sql_failure *failure)
{
  char *problem = NULL;
  PQconninfoOption *options = PQconninfoParse (where, &problem);
  gboolean ok = options != NULL;
  for (const PQconninfoOption *option = options; ok && option && option->keyword; option++)
    ok = database_postgres_is_place (option);
  char *quotation = problem ? strstr (problem, ": \"") : NULL;
  if (quotation)
    *quotation = '\0';
  g_autofree char *text =
      g_strconcat ("the URL cannot be read: ",
                   problem   ? problem
                   : options ? "its host or port is invalid (in a password @ is %40, and / is %2F)"
                             : "no memory is left",
                   NULL);
  PQfreemem (problem);
  PQconninfoFree (options);
  if (!ok)
    database_postgres_fail (failure, SQL_FAILED, text);
  return ok;
}

static void *
postgres_connect (const char *where, guint64 timeout_ms, struct sql_failure *failure)
{
  if (!database_postgres_check_url (where, failure))
    return NULL;
  static const char *const keys[] = {"dbname", "fallback_application_name", "client_encoding", NULL};
  const char *const values[] = {where, "adder", "UTF8", NULL};
  struct connection *connection = g_new0 (struct connection, 1);
  connection->statements = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  database_postgres_set_deadline (connection, timeout_ms);
  connection->link = PQconnectStartParams (keys, values, 1);
  if (connection->link && PQstatus (connection->link) != CONNECTION_BAD)
    PQsetNoticeReceiver (connection->link, say_nothing, NULL);
  if (connection->link && finish_connecting (connection, failure) &&
      PQsetnonblocking (connection->link, 1) == 0 &&
      database_postgres_settle (connection, timeout_ms, failure))
    return connection;
  if (!connection->link)
    database_postgres_fail (failure, SQL_FAILED, "no memory is left for a connection");
  postgres_disconnect (connection);
  return NULL;
}

/* ---- statements ---- */

/* VALUES for the library: numbers as text in NUMBERS. */
struct parameters {
  Oid types[PARAMETERS_MAX];
  const char *texts[PARAMETERS_MAX];
  char numbers[PARAMETERS_MAX][24];
  char kinds[PARAMETERS_MAX + 1]; /* a letter for each type */
};

static void
fill_parameters (struct parameters *parameters, const struct sql_value *values, guint count)
{
  for (guint i = 0; i < count; i++) {
    parameters->texts[i] = NULL;
    parameters->types[i] = 0; /* whatever the statement makes of it */
    parameters->kinds[i] = 'n';
    if (values[i].kind == SQL_INTEGER) {
      g_snprintf (parameters->numbers[i], sizeof parameters->numbers[i], "%" G_GINT64_FORMAT,
                  values[i].integer);
      parameters->texts[i] = parameters->numbers[i];
      parameters->types[i] = TYPE_INT8;
      parameters->kinds[i] = 'i';
    } else if (values[i].kind == SQL_TEXT) {
      parameters->texts[i] = values[i].text;
      parameters->types[i] = TYPE_TEXT;
      parameters->kinds[i] = 't';
    }
  }
  parameters->kinds[count] = '\0';
}

/* Reads the rest of the server's answer, so that it can be asked again. FALSE: one part was an error. */
static gboolean
read_to_end (struct connection *connection, struct sql_failure *failure)
{
  gboolean ok = TRUE;
  for (PGresult *result; next_result (connection, &result, failure);) {
    if (!result)
      return ok;
    ExecStatusType status = PQresultStatus (result);
    if (ok && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_SINGLE_TUPLE) {
      explain_result (connection, result, failure);
      ok = FALSE;
    }
    PQclear (result);
  }
  return FALSE;
}

/* The name of the prepared SQL on the server; *RET_NAME NULL: it must be sent whole. */
static gboolean
database_postgres_prepare (struct connection *connection, const char *sql,
                           const struct parameters *parameters, guint count, const char **ret_name,
                           struct sql_failure *failure)
{
  *ret_name = NULL;
  if (connection->forgets)
    return TRUE;
  g_autofree char *key = g_strconcat (parameters->kinds, " ", sql, NULL);
  *ret_name = g_hash_table_lookup (connection->statements, key);
  if (*ret_name || g_hash_table_size (connection->statements) >= STATEMENTS_MAX)
    return TRUE;
  g_autofree char *name = g_strdup_printf ("adder%u", g_hash_table_size (connection->statements));
  if (!PQsendPrepare (connection->link, name, sql, (int)count, parameters->types)) {
    explain_result (connection, NULL, failure);
    return FALSE;
  }
  if (!database_postgres_flush (connection, failure) || !read_to_end (connection, failure))
    return FALSE;
  *ret_name = name;
  g_hash_table_insert (connection->statements, g_steal_pointer (&key), g_steal_pointer (&name));
  return TRUE;
}

static gboolean
database_postgres_is_number (const char *text)
{
  gsize digits = text[0] == '-' ? 1 : 0;
  return text[digits] != '\0' && text[digits + strspn (text + digits, "0123456789")] == '\0' &&
         strlen (text) <= 20;
}

static struct sql_value
database_postgres_column (const PGresult *result, int row, int at)
{
  if (PQgetisnull (result, row, at))
    return (struct sql_value){.kind = SQL_NULL};
  const char *text = PQgetvalue (result, row, at);
  switch (PQftype (result, at)) {
  case TYPE_BOOL:
    return SQL_INT (text[0] == 't');
  case TYPE_NUMERIC: /* a sum of numbers */
    if (!database_postgres_is_number (text))
      return SQL_STR (text);
    G_GNUC_FALLTHROUGH;
  case TYPE_INT2:
  case TYPE_INT4:
  case TYPE_INT8:
    return SQL_INT (g_ascii_strtoll (text, NULL, 10));
  default:
    return SQL_STR (text);
  }
}

/* FALSE: enough. */
static gboolean
give_rows (const PGresult *result, sql_row row, gpointer data)
{
  struct sql_value values[SQL_COLUMNS_MAX] = {0};
  int columns = MIN (PQnfields (result), SQL_COLUMNS_MAX);
  for (int at = 0; at < PQntuples (result); at++) {
    for (int i = 0; i < columns; i++)
      values[i] = database_postgres_column (result, at, i);
    if (!row (data, values, (guint)columns))
      return FALSE;
  }
  return TRUE;
}

/* The number of changed rows; 0 for a query. */
static guint64
count_changed (PGresult *result)
{
  return g_str_has_prefix (PQcmdStatus (result), "SELECT")
             ? 0
             : g_ascii_strtoull (PQcmdTuples (result), NULL, 10);
}

static gboolean
database_postgres_read_rows (struct connection *connection, sql_row row, gpointer data, guint64 *ret_changed,
                             struct sql_failure *failure)
{
  gboolean ok = TRUE;
  for (PGresult *result; next_result (connection, &result, failure);) {
    if (!result)
      return ok;
    ExecStatusType status = PQresultStatus (result);
    if (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK) {
      if (row && !give_rows (result, row, data))
        row = NULL;
    } else if (ok && status != PGRES_COMMAND_OK) {
      explain_result (connection, result, failure);
      ok = FALSE;
    }
    if (ok && ret_changed && status != PGRES_SINGLE_TUPLE)
      *ret_changed = count_changed (result);
    PQclear (result);
  }
  return FALSE;
}

static gboolean
database_postgres_take_text (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  char **text = data;
  g_free (*text);
  *text = g_strdup (row[0].text);
  return TRUE;
}

/* SQL, or the prepared statement NAME where that is not NULL, is on its way. */
static gboolean
database_postgres_send (struct connection *connection, const char *sql, const char *name,
                        const struct parameters *parameters, guint count, struct sql_failure *failure)
{
  int sent = name ? PQsendQueryPrepared (connection->link, name, (int)count, parameters->texts, NULL, NULL, 0)
                  : PQsendQueryParams (connection->link, sql, (int)count, parameters->types,
                                       parameters->texts, NULL, NULL, 0);
  if (!sent)
    explain_result (connection, NULL, failure);
  return sent;
}

#define BEGIN_WRITE "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
#define ASK_NAME    "SELECT CAST(txid_current() AS TEXT)"

#ifdef LIBPQ_HAS_PIPELINING /* version 14 */

/* What a transaction needs before its first statement, with that statement: all in one message. */
static gboolean
database_postgres_begin_and_run (struct connection *connection, const char *sql, const char *name,
                                 const struct parameters *parameters, guint count, sql_row row, gpointer data,
                                 guint64 *ret_changed, struct sql_failure *failure)
{
  static const char *const first[] = {BEGIN_WRITE, ASK_NAME};
  const char *names[G_N_ELEMENTS (first)];
  struct parameters none = {0};
  struct sql_failure unused;
  PGresult *end = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (first); i++)
    if (!database_postgres_prepare (connection, first[i], &none, 0, &names[i], failure))
      return FALSE;
  gboolean ok = PQenterPipelineMode (connection->link) == 1;
  for (gsize i = 0; ok && i < G_N_ELEMENTS (first); i++)
    ok = database_postgres_send (connection, first[i], names[i], &none, 0, failure);
  ok = ok && database_postgres_send (connection, sql, name, parameters, count, failure) &&
       PQpipelineSync (connection->link) == 1;
  if (!ok) {
    database_postgres_fail (failure, SQL_LOST, PQerrorMessage (connection->link));
    return FALSE;
  }
  if (!database_postgres_flush (connection, failure))
    return FALSE;
  /* After a failure the server skips the rest, and the first failure is the one to tell. */
  ok = database_postgres_read_rows (connection, NULL, NULL, NULL, failure);
  ok = database_postgres_read_rows (connection, database_postgres_take_text, &connection->transaction, NULL,
                                    ok ? failure : &unused) &&
       ok;
  (void)PQsetSingleRowMode (connection->link);
  ok = database_postgres_read_rows (connection, row, data, ret_changed, ok ? failure : &unused) && ok;
  gboolean ended = next_result (connection, &end, ok ? failure : &unused);
  if (ended)
    PQclear (end);
  if (PQexitPipelineMode (connection->link) == 1)
    return ok;
  if (ok && ended)
    database_postgres_fail (failure, SQL_LOST, "the server's answers have no end");
  return FALSE;
}

static gboolean
postgres_begin_with_next (void *data)
{
  struct connection *connection = data;
  struct pollfd said = {.fd = PQsocket (connection->link), .events = POLLIN};
  /* A server that says something unasked says goodbye. */
  connection->begins = poll (&said, 1, 0) == 0;
  return connection->begins;
}

#else

#define postgres_begin_with_next NULL

#endif

static gboolean
postgres_run (void *data, const char *sql, const struct sql_value *values, guint count, sql_row row,
              gpointer row_data, guint64 *ret_changed, guint64 timeout_ms, struct sql_failure *failure)
{
  struct connection *connection = data;
  struct parameters parameters;
  const char *name = NULL;
  if (strcmp (sql, "ROLLBACK") == 0 && connection->begins) {
    connection->begins = FALSE; /* it never did */
    return TRUE;
  }
  if (strcmp (sql, "ROLLBACK") == 0 || strcmp (sql, "COMMIT") == 0)
    g_clear_pointer (&connection->transaction, g_free);
  database_postgres_set_deadline (connection, timeout_ms);
  if (count > PARAMETERS_MAX) {
    database_postgres_fail (failure, SQL_FAILED, "too many parameters");
    return FALSE;
  }
  fill_parameters (&parameters, values, count);
  if (count > 0 && !database_postgres_prepare (connection, sql, &parameters, count, &name, failure))
    return FALSE;
#ifdef LIBPQ_HAS_PIPELINING
  if (connection->begins) {
    connection->begins = FALSE;
    return database_postgres_begin_and_run (connection, sql, name, &parameters, count, row, row_data,
                                            ret_changed, failure);
  }
#endif
  if (!database_postgres_send (connection, sql, name, &parameters, count, failure))
    return FALSE;
  /* Rows come one by one, however many there are, even if none is expected. */
  (void)PQsetSingleRowMode (connection->link);
  return database_postgres_flush (connection, failure) &&
         database_postgres_read_rows (connection, row, row_data, ret_changed, failure);
}

/* ---- how a commit ended ---- */

static char *
postgres_name_transaction (void *data, guint64 timeout_ms, struct sql_failure *failure)
{
  struct connection *connection = data;
  g_autofree char *name = NULL;
  if (connection->transaction)
    return g_steal_pointer (&connection->transaction);
  database_postgres_fail (failure, SQL_FAILED, "the server gave the transaction no number");
  return postgres_run (data, ASK_NAME, NULL, 0, database_postgres_take_text, &name, NULL, timeout_ms, failure)
             ? g_steal_pointer (&name)
             : NULL;
}

static enum commit_end
postgres_ask_end (void *data, const char *name, guint64 timeout_ms)
{
  struct sql_failure unused;
  const struct sql_value values[] = {SQL_STR (name)};
  gint64 end_us = g_get_monotonic_time () + (gint64)timeout_ms * 1000;
  g_autofree char *status = NULL;
  do {
    if (!postgres_run (data, "SELECT txid_status(CAST($1 AS BIGINT))", values, 1, database_postgres_take_text,
                       &status, NULL, timeout_ms, &unused))
      return COMMIT_UNKNOWN;
    if (g_strcmp0 (status, "in progress") != 0)
      break;
    g_usleep (5000); /* the other connection's backend does not yet know that its client is gone */
  } while (g_get_monotonic_time () < end_us);
  if (g_strcmp0 (status, "committed") == 0)
    return COMMIT_DONE;
  return g_strcmp0 (status, "aborted") == 0 ? COMMIT_TAKEN_BACK : COMMIT_UNKNOWN;
}

__attribute__ ((visibility ("default"))) extern const struct backend adder_postgres_backend;

/* Changing tables needs the lock of this number, which spells "adder". */
const struct backend adder_postgres_backend = {
    .is_shared = TRUE,
    .begin_write = BEGIN_WRITE,
    .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    /* Not to_regclass, which may use a cache from before the wait for the lock. */
    .has_schema = "SELECT count(*) FROM pg_class WHERE relname = 'schema_version' AND relkind = 'r' AND "
                  "pg_table_is_visible(oid)",
    .now_ms = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
    .lock_schema = "SELECT pg_advisory_xact_lock(418313331058)",
    .connect = postgres_connect,
    .disconnect = postgres_disconnect,
    .run = postgres_run,
    .begin_with_next = postgres_begin_with_next,
    .name_transaction = postgres_name_transaction,
    .ask_end = postgres_ask_end,
};
