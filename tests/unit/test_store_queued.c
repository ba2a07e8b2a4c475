/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of runs in the queue of a cluster: who sees and cancels one, and when a daemon may run it. Each case
 * is tried with each database that the test world has. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "store/queued.h"
#include "store/store.h"
#include "store_world.h"
#include "suite.h"

#define TRIES      2
#define MOST_BYTES 1000

struct fixture {
  store_world *world;
  struct config *config;
  struct store *store;
  const char *alive;       /* the instance that others know; NULL: none */
  char database[ID_BYTES]; /* as the last run was told */
};

static const struct departed_end cancelled = {"Cancelled", "it was cancelled", "cancelled", 130};
static const struct departed_end ended = {"Failed", "it ended so", NULL, 0};

/* FALSE: the host has no such database. */
static gboolean
set_up (struct fixture *fixture, const struct store_world_kind *kind)
{
  g_autoptr (GError) error = NULL;
  *fixture = (struct fixture){.world = store_world_new (kind)};
  if (!fixture->world)
    return FALSE;
  fixture->config = config_load (NULL, &error);
  g_assert_no_error (error);
  g_free (fixture->config->store_records);
  fixture->config->store_records = g_strdup (store_world_url (fixture->world));
  fixture->config->store_timeout_ms = 60000;
  fixture->store = store_new (fixture->config, &error);
  g_assert_no_error (error);
  return TRUE;
}

static void
tear_down (struct fixture *fixture)
{
  store_close (fixture->store);
  store_unref (fixture->store);
  config_free (fixture->config);
  store_world_free (fixture->world);
}

/* ---- what is tried ---- */

/* FALSE: OWNER has as many as MOST, or BYTES of MOST_BYTES would be too many. */
static gboolean
add_large (struct fixture *fixture, const char *owner, gboolean once, guint64 most, guint64 bytes,
           char ret_id[ID_BYTES])
{
  g_autoptr (GError) error = NULL;
  id_make_queued (ret_id);
  const struct record record = {
      .run_id = ret_id, .started_ms = 1790000000000, .owner = owner, .code = "1", .outcome = "failed"};
  g_autofree char *note = departed_note_text (&record);
  g_autoptr (json_t) shown = json_pack ("{s:s, s:s}", "run_id", ret_id, "owner", owner);
  const struct queued_new made = {ret_id, owner, once, note, shown, bytes, most, MOST_BYTES};
  if (queued_add (fixture->store, &made, fixture->database, &error))
    return TRUE;
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  return FALSE;
}

static gboolean
add (struct fixture *fixture, const char *owner, gboolean once, guint64 most, char ret_id[ID_BYTES])
{
  return add_large (fixture, owner, once, most, 1, ret_id);
}

static gboolean
is_alive (gpointer data, const char *id G_GNUC_UNUSED, const char *instance)
{
  const struct fixture *fixture = data;
  return g_strcmp0 (fixture->alive, instance) == 0;
}

static enum queued_claim
claim (struct fixture *fixture, const char *id, const char *instance)
{
  g_autoptr (GError) error = NULL;
  const struct queued_holder holder = {instance, "000001", TRIES, is_alive, fixture, &cancelled};
  enum queued_claim result = queued_claim (fixture->store, id, fixture->database, &holder, &error);
  g_assert_no_error (error);
  return result;
}

/* How the run ID of OWNER is on record: the type of its error; NULL: it is not. The caller's. */
static char *
recorded (struct fixture *fixture, const char *owner, const char *id)
{
  g_autoptr (json_t) record = records_show (fixture->store, owner, id, NULL);
  const json_t *error = json_object_get (json_object_get (record, "more"), "error");
  return record ? g_strdup (json_member_text (error, "type")) : NULL;
}

static void
assert_recorded (struct fixture *fixture, const char *id, const char *type)
{
  g_autofree char *found = recorded (fixture, NULL, id);
  g_assert_cmpstr (found, ==, type);
}

static void
assert_state (struct fixture *fixture, const char *id, const char *state, gboolean is_cancelled)
{
  struct queued_place place = {.tag = ""};
  g_autoptr (json_t) shown = queued_show (fixture->store, NULL, id, &place, NULL);
  g_assert_cmpstr (shown ? json_member_text (shown, "state") : NULL, ==, state);
  g_assert_cmpint (place.cancelled, ==, is_cancelled);
}

/* ---- cases ---- */

static void
test_owners (struct fixture *fixture)
{
  char id[ID_BYTES], other[ID_BYTES];
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) listed = json_array ();
  g_assert_true (add (fixture, "anna", FALSE, 1, id));
  g_assert_false (add (fixture, "anna", FALSE, 1, other));
  g_assert_true (add (fixture, "berta", FALSE, 1, other));
  g_assert_null (queued_show (fixture->store, "berta", id, NULL, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_true (queued_list (fixture->store, "berta", listed, NULL));
  g_assert_cmpuint (json_array_size (listed), ==, 1);
  g_assert_cmpstr (json_member_text (json_array_get (listed, 0), "run_id"), ==, other);

  /* Another's run is not cancelled, whether it waits or runs. */
  for (int runs = 0; runs < 2; runs++) {
    if (runs)
      g_assert_cmpint (claim (fixture, id, "first"), ==, QUEUED_TAKEN);
    g_assert_false (queued_cancel (fixture->store, "berta", id, &cancelled, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
    g_clear_error (&error);
    assert_state (fixture, id, "queued", FALSE);
  }
  g_assert_true (queued_cancel (fixture->store, "anna", id, &cancelled, NULL));
  assert_state (fixture, id, "queued", TRUE);
  g_assert_true (queued_cancel (fixture->store, NULL, other, &cancelled, NULL));
  assert_state (fixture, other, NULL, FALSE);
  assert_recorded (fixture, other, "Cancelled");
}

/* One daemon at a time, and as often as it may be. */
static void
test_claims (struct fixture *fixture)
{
  char id[ID_BYTES], once[ID_BYTES];
  gboolean flag;
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
  g_assert_cmpint (claim (fixture, id, "first"), ==, QUEUED_TAKEN);
  fixture->alive = "first";
  g_assert_cmpint (claim (fixture, id, "second"), ==, QUEUED_HELD);
  g_assert_true (queued_start (fixture->store, id, "first", &flag, NULL));
  assert_state (fixture, id, "running", FALSE);
  g_assert_true (queued_settle (fixture->store, id, "first", TRUE, &flag, NULL));
  g_assert_false (flag);
  assert_state (fixture, id, "queued", FALSE);
  fixture->alive = NULL;
  g_assert_cmpint (claim (fixture, id, "second"), ==, QUEUED_TAKEN);
  g_assert_false (queued_start (fixture->store, id, "first", &flag, NULL));
  g_assert_true (queued_end (fixture->store, id, "first", &ended, NULL));
  assert_recorded (fixture, id, NULL);
  g_assert_cmpint (claim (fixture, id, "third"), ==, QUEUED_TAKEN);
  g_assert_cmpint (claim (fixture, id, "fourth"), ==, QUEUED_OVER);
  assert_recorded (fixture, id, NODE_LOST);
  g_assert_cmpint (claim (fixture, id, "fifth"), ==, QUEUED_OVER);

  g_assert_true (add (fixture, "anna", TRUE, 9, once));
  g_assert_cmpint (claim (fixture, once, "first"), ==, QUEUED_TAKEN);
  g_assert_cmpint (claim (fixture, once, "second"), ==, QUEUED_OVER);
  assert_recorded (fixture, once, NODE_LOST);
}

/* An owner's runs leave others theirs of the queue. */
static void
test_bytes (struct fixture *fixture)
{
  char id[ID_BYTES], other[ID_BYTES];
  g_assert_true (add_large (fixture, "anna", FALSE, 9, MOST_BYTES + 1, id));
  g_assert_false (add (fixture, "anna", FALSE, 9, other));
  g_assert_true (add_large (fixture, "berta", FALSE, 9, MOST_BYTES - 1, other));
  g_assert_false (add_large (fixture, "berta", FALSE, 9, 2, other));
  g_assert_true (add_large (fixture, "berta", FALSE, 9, 1, other));
  g_assert_true (queued_cancel (fixture->store, NULL, id, &cancelled, NULL));
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
}

/* A run without a row is over, and one that a node has cannot be taken back. */
static void
test_removed (struct fixture *fixture)
{
  char id[ID_BYTES];
  gboolean removed;
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
  g_assert_true (queued_remove (fixture->store, id, &removed, NULL));
  g_assert_true (removed);
  g_assert_cmpint (claim (fixture, id, "first"), ==, QUEUED_OVER);
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
  g_assert_cmpint (claim (fixture, id, "first"), ==, QUEUED_TAKEN);
  g_assert_true (queued_remove (fixture->store, id, &removed, NULL));
  g_assert_false (removed);
  g_assert_true (queued_end (fixture->store, id, "first", &ended, NULL));
  assert_recorded (fixture, id, "Failed");
  assert_state (fixture, id, NULL, FALSE);
}

/* ---- many ---- */

static gboolean
take_count (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  *(gint64 *)data = row[0].integer;
  return TRUE;
}

static gint64
count (struct database *database, const char *sql)
{
  g_autoptr (GError) error = NULL;
  gint64 number = -1;
  struct transaction *transaction = database_begin (database, FALSE, &error);
  g_assert_no_error (error);
  transaction_run (transaction, sql, NULL, 0, take_count, &number, NULL, &error);
  g_assert_no_error (error);
  transaction_end (transaction);
  return number;
}

static void
run (struct transaction *transaction, const char *sql)
{
  g_autoptr (GError) error = NULL;
  transaction_run (transaction, sql, NULL, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* Rows like that of ID, and before it, for how many runs there are with INSTANCE. */
static void
add_many (struct database *database, const char *id, guint many, const char *instance)
{
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  g_autofree char *sql =
      g_strdup_printf ("INSERT INTO queued_runs (id, owner, once, tries, instance, tag, node, started, "
                       "cancelled, note, shown, bytes, queued_ms) "
                       "WITH RECURSIVE numbers(n) AS (SELECT 10000 UNION ALL "
                       "SELECT n + 1 FROM numbers WHERE n < 9999 + %u) "
                       "SELECT '00' || CAST(n AS TEXT), owner, once, tries, '%s', tag, node, started, "
                       "cancelled, note, shown, bytes, queued_ms FROM numbers, queued_runs WHERE id = '%s'",
                       many, instance, id);
  run (transaction, sql);
  transaction_commit (transaction, &error);
  g_assert_no_error (error);
  transaction_end (transaction);
}

static void
test_listed (struct fixture *fixture)
{
  char id[ID_BYTES];
  g_autoptr (json_t) own = json_array ();
  g_autoptr (json_t) all = json_array ();
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
  struct database *database = store_world_open (fixture->world, 30000);
  add_many (database, id, QUEUED_LISTED, "");
  g_assert_true (queued_list (fixture->store, "anna", own, NULL));
  g_assert_true (queued_list (fixture->store, NULL, all, NULL));
  g_assert_cmpuint (json_array_size (own), ==, QUEUED_LISTED);
  g_assert_cmpuint (json_array_size (all), ==, QUEUED_LISTED);
  database_close (database);
}

/* Those that daemons have which live do not hide the others. */
static void
test_swept (struct fixture *fixture)
{
  char id[ID_BYTES];
  g_autoptr (GError) error = NULL;
  const struct queued_holder holder = {"second", "000001", TRIES, is_alive, fixture, &cancelled};
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
  struct database *database = store_world_open (fixture->world, 30000);
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  run (transaction, "UPDATE queued_runs SET queued_ms = 1");
  transaction_commit (transaction, &error);
  g_assert_no_error (error);
  transaction_end (transaction);
  add_many (database, id, 300, "first");
  fixture->alive = "first";
  g_assert_true (queued_sweep (fixture->store, &holder, &error));
  g_assert_no_error (error);
  assert_recorded (fixture, id, NODE_LOST);
  g_assert_cmpint (count (database, "SELECT COUNT(*) FROM queued_runs"), ==, 300);
  database_close (database);
}

/* ---- several daemons ---- */

#define DAEMONS 4
#define MOST    2

struct adding {
  struct fixture fixture; /* with a store of its own */
  GThread *thread;
  char id[ID_BYTES];
};

static gpointer
add_as_another (gpointer data)
{
  struct adding *adding = data;
  return GINT_TO_POINTER (add (&adding->fixture, "anna", FALSE, MOST, adding->id));
}

/* A transaction that holds what every insertion of a row then waits for. */
static struct transaction *
hold_rows (struct database *database)
{
  g_autoptr (GError) error = NULL;
  struct transaction *transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  run (transaction, "CREATE FUNCTION wait_for_test() RETURNS trigger AS $$ "
                    "BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END $$ LANGUAGE plpgsql");
  run (transaction, "CREATE TRIGGER wait_for_test AFTER INSERT ON queued_runs "
                    "FOR EACH ROW EXECUTE FUNCTION wait_for_test()");
  transaction_commit (transaction, &error);
  g_assert_no_error (error);
  transaction_end (transaction);
  transaction = database_begin (database, TRUE, &error);
  g_assert_no_error (error);
  run (transaction, "SELECT pg_advisory_xact_lock(1)");
  return transaction;
}

/* Daemons of which none sees the rows that the others add do not pass the limit together. */
static void
test_at_once (struct fixture *fixture)
{
  struct adding daemons[DAEMONS] = {0};
  g_autoptr (GError) error = NULL;
  guint accepted = 0;
  if (!store_world_is_server (fixture->world))
    return;                                                           /* a file has one writer at a time */
  g_assert_true (add (fixture, "berta", FALSE, MOST, daemons[0].id)); /* the first one names the database */
  struct database *database = store_world_open (fixture->world, 30000);
  struct transaction *held = hold_rows (database);
  for (guint i = 0; i < DAEMONS; i++) {
    daemons[i].fixture.store = store_new (fixture->config, &error);
    g_assert_no_error (error);
    daemons[i].thread = g_thread_new ("adds", add_as_another, &daemons[i]);
  }
  while (count (database, "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") <
         DAEMONS)
    g_usleep (1000);
  transaction_end (held);
  for (guint i = 0; i < DAEMONS; i++) {
    accepted += GPOINTER_TO_INT (g_thread_join (daemons[i].thread)) ? 1 : 0;
    store_close (daemons[i].fixture.store);
    store_unref (daemons[i].fixture.store);
  }
  g_assert_cmpuint (accepted, <=, MOST);
  g_assert_cmpint (count (database, "SELECT COUNT(*) FROM queued_runs WHERE owner = 'anna'"), ==, accepted);
  database_close (database);
}

/* The message of a run of this database may reach a daemon that has another. */
static void
test_elsewhere (struct fixture *fixture)
{
  char id[ID_BYTES], first[ID_BYTES];
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
  g_strlcpy (first, fixture->database, sizeof first);
  g_assert_true (add (fixture, "anna", FALSE, 9, id));
  g_assert_cmpstr (fixture->database, ==, first);
  id_make (fixture->database);
  g_assert_cmpint (claim (fixture, id, "first"), ==, QUEUED_TAKEN);
  id_make_queued (id);
  g_assert_cmpint (claim (fixture, id, "first"), ==, QUEUED_ELSEWHERE);
  g_strlcpy (fixture->database, first, sizeof first);
  g_assert_cmpint (claim (fixture, id, "first"), ==, QUEUED_OVER);
}

struct test_case {
  const char *name;
  void (*run) (struct fixture *fixture);
};

static const struct test_case cases[] = {
    {"owners", test_owners},       {"claims", test_claims}, {"bytes", test_bytes}, {"removed", test_removed},
    {"elsewhere", test_elsewhere}, {"listed", test_listed}, {"swept", test_swept}, {"at_once", test_at_once},
};

struct trial {
  const struct store_world_kind *kind;
  const struct test_case *test;
};

static void
try_case (gconstpointer data)
{
  const struct trial *trial = data;
  struct fixture fixture;
  if (!set_up (&fixture, trial->kind))
    return;
  trial->test->run (&fixture);
  tear_down (&fixture);
}

UNIT_SUITE (store_queued)
{
  g_test_init (&argc, &argv, NULL);
  /* Before there are threads. The state directory of a database that is a file lies beside it. */
  g_autofree char *state = g_dir_make_tmp ("adder-state-XXXXXX", NULL);
  g_setenv ("ADDER_CONFIG_DIR", state, TRUE);
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
  for (const struct store_world_kind *kind = store_world_kinds; kind->name; kind++)
    for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
      g_autofree char *path = g_strdup_printf ("/store/queued/%s/%s", kind->name, cases[i].name);
      const struct trial trial = {kind, &cases[i]};
      g_test_add_data_func_full (path, g_memdup2 (&trial, sizeof trial), try_case, g_free);
    }
  int failed = g_test_run ();
  suite_remove (state);
  return failed;
}
