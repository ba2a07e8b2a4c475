/* SPDX-License-Identifier: Apache-2.0 */
#include "store/queued.h"

#include <string.h>

#include "adder_types.h"
#include "common/json.h"
#include "common/text.h"
#include "store/underway.h"

#define SWEEP_AT_ONCE 64
#define SWEEP_LATE_MS 60000 /* the clock of the queue may differ */

struct queued_row {
  char *owner, *instance, *node, *note;
  gint64 once, tries, cancelled;
  gboolean found;
};

#define QUEUED_COLUMNS "owner, once, tries, instance, node, cancelled, note"

static void
queued_row_clear (struct queued_row *row)
{
  g_free (row->owner);
  g_free (row->instance);
  g_free (row->node);
  g_free (row->note);
  *row = (struct queued_row){0};
}

static gboolean
queued_take_row (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct queued_row *ret_row = data;
  queued_row_clear (ret_row);
  *ret_row = (struct queued_row){.owner = g_strdup (row[0].text),
                                 .once = row[1].integer,
                                 .tries = row[2].integer,
                                 .instance = g_strdup (row[3].text),
                                 .node = g_strdup (row[4].text),
                                 .cancelled = row[5].integer,
                                 .note = g_strdup (row[6].text),
                                 .found = TRUE};
  return TRUE;
}

static gboolean
queued_read (struct transaction *transaction, const char *owner, const char *id, struct queued_row *row,
             GError **error)
{
  const struct sql_value values[] = {SQL_STR (id), SQL_OPT (owner)};
  return transaction_run (transaction,
                          owner ? "SELECT " QUEUED_COLUMNS " FROM queued_runs WHERE id = $1 AND owner = $2"
                                : "SELECT " QUEUED_COLUMNS " FROM queued_runs WHERE id = $1",
                          values, owner ? 2 : 1, queued_take_row, row, NULL, error);
}

static gboolean
queued_fail_missing (const char *id, GError **error)
{
  g_autofree char *shown = text_one_line (id, 60);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "no run %s is running", shown);
  return FALSE;
}

/* Removes the row as it was read. *RET_GONE FALSE: another daemon changed it. */
static gboolean
queued_delete (struct transaction *transaction, const char *id, const struct queued_row *row,
               gboolean *ret_gone, GError **error)
{
  const struct sql_value values[] = {SQL_STR (id), SQL_STR (row->instance), SQL_INT (row->tries)};
  guint64 changed = 0;
  gboolean ok =
      transaction_run (transaction, "DELETE FROM queued_runs WHERE id = $1 AND instance = $2 AND tries = $3",
                       values, 3, NULL, NULL, &changed, error);
  *ret_gone = changed == 1;
  return ok;
}

/* NODE is the node in whose records it ends. */
static gboolean
queued_end_row (struct store *store, struct transaction *transaction, const char *id,
                const struct queued_row *row, const char *node, const struct departed_end *end,
                gboolean *ret_gone, GError **error)
{
  if (!queued_delete (transaction, id, row, ret_gone, error))
    return FALSE;
  return !*ret_gone || departed_add (store, transaction, node, row->note, end, error);
}

/* ---- one step in a transaction ---- */

struct queued_step {
  struct store *store;
  const char *id, *owner, *instance;
  const struct queued_new *made;
  const char *shown, *now;
  const struct queued_holder *holder;
  const struct departed_end *end;
  const char *database;
  char *ret_database; /* ID_BYTES long */
  enum queued_claim claim;
  gboolean untried, found, over, cancelled;
};

static gboolean
queued_commit (struct store *store, database_step step, struct queued_step *data, GError **error)
{
  struct database *database = store_database (store, error);
  if (!database)
    return FALSE;
  data->store = store;
  data->now = database_now_ms (database);
  return database_commit (database, step, data, error);
}

/* ---- which database it is ---- */

static gboolean
queued_take_database (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  g_strlcpy (data, row[0].text ? row[0].text : "", ID_BYTES);
  return TRUE;
}

/* *RET_DATABASE "": no run was ever queued in it. */
static gboolean
queued_read_database (struct transaction *transaction, char ret_database[ID_BYTES], GError **error)
{
  *ret_database = '\0';
  return transaction_run (transaction, "SELECT value FROM settings WHERE name = 'queue'", NULL, 0,
                          queued_take_database, ret_database, NULL, error);
}

/* The first id that it is given stays. */
static gboolean
queued_name_database (struct transaction *transaction, char ret_database[ID_BYTES], GError **error)
{
  char id[ID_BYTES];
  if (!queued_read_database (transaction, ret_database, error))
    return FALSE;
  if (*ret_database)
    return TRUE;
  id_make (id);
  return transaction_run (transaction,
                          "INSERT INTO settings (name, value) VALUES ('queue', $1) "
                          "ON CONFLICT (name) DO NOTHING",
                          &SQL_STR (id), 1, NULL, NULL, NULL, error) &&
         queued_read_database (transaction, ret_database, error);
}

/* ---- coming and going ---- */

struct queued_others {
  guint64 runs, bytes;
};

static gboolean
queued_take_others (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  *(struct queued_others *)data = (struct queued_others){(guint64)row[0].integer, (guint64)row[1].integer};
  return TRUE;
}

/* Whether the owner's other runs leave room for it. A first one has room, however large it is. */
static gboolean
queued_check_room (struct transaction *transaction, const struct queued_new *made, GError **error)
{
  struct queued_others others = {0};
  const struct sql_value values[] = {SQL_STR (made->owner), SQL_STR (made->id)};
  if (!transaction_run (transaction,
                        "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM queued_runs "
                        "WHERE owner = $1 AND id <> $2",
                        values, 2, queued_take_others, &others, NULL, error))
    return FALSE;
  if (others.runs >= made->most)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "%" G_GUINT64_FORMAT
                 " of your runs are in the background, the most allowed (max_background)",
                 made->most);
  else if (others.runs > 0 && others.bytes + made->bytes > made->most_bytes)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                         "your background runs would fill more than half of the queue ([cluster] "
                         "queue_bytes): try again later");
  else
    return TRUE;
  return FALSE;
}

static gboolean
queued_step_add (gpointer data, struct transaction *transaction, GError **error)
{
  const struct queued_step *step = data;
  const struct queued_new *made = step->made;
  const struct sql_value values[] = {SQL_STR (made->id),   SQL_STR (made->owner), SQL_INT (made->once),
                                     SQL_STR (made->note), SQL_STR (step->shown), SQL_INT (made->bytes)};
  g_autofree char *sql = g_strdup_printf ("INSERT INTO queued_runs (id, owner, once, tries, instance, tag, "
                                          "node, started, cancelled, note, shown, bytes, queued_ms) "
                                          "VALUES ($1, $2, $3, 0, '', '', '', 0, 0, $4, $5, $6, %s)",
                                          step->now);
  return queued_name_database (transaction, step->ret_database, error) &&
         queued_check_room (transaction, made, error) &&
         transaction_run (transaction, sql, values, G_N_ELEMENTS (values), NULL, NULL, NULL, error);
}

/* Daemons that added at the same moment did not see each other's rows. But the last to commit sees all of
 * them now, and takes its own back, as may others. A lock would do as well, but a daemon that freezes would
 * keep it. */
static gboolean
queued_check_again (struct store *store, const struct queued_new *made, GError **error)
{
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  gboolean ok = transaction && queued_check_room (transaction, made, error);
  transaction_end (transaction);
  return ok;
}

gboolean
queued_add (struct store *store, const struct queued_new *made, char ret_database[ID_BYTES], GError **error)
{
  g_autofree char *shown = json_to_text (made->shown);
  struct queued_step step = {.made = made, .shown = shown, .ret_database = ret_database};
  gboolean removed;
  if (!queued_commit (store, queued_step_add, &step, error))
    return FALSE;
  if (queued_check_again (store, made, error))
    return TRUE;
  (void)queued_remove (store, made->id, &removed, NULL);
  return FALSE;
}

static gboolean
queued_step_remove (gpointer data, struct transaction *transaction, GError **error)
{
  struct queued_step *step = data;
  guint64 changed = 0;
  gboolean ok = transaction_run (transaction, "DELETE FROM queued_runs WHERE id = $1 AND instance = ''",
                                 &SQL_STR (step->id), 1, NULL, NULL, &changed, error);
  step->found = changed > 0;
  return ok;
}

gboolean
queued_remove (struct store *store, const char *id, gboolean *ret_removed, GError **error)
{
  struct queued_step step = {.id = id};
  gboolean ok = queued_commit (store, queued_step_remove, &step, error);
  *ret_removed = step.found;
  return ok;
}

/* ---- looking ---- */

struct queued_found {
  json_t *list;
  struct queued_place place;
};

static gboolean
queued_take_shown (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct queued_found *found = data;
  json_t *shown = row[0].text ? json_loads (row[0].text, JSON_REJECT_DUPLICATES, NULL) : NULL;
  gboolean runs = row[1].integer != 0;
  if (!json_is_object (shown)) {
    json_decref (shown);
    return TRUE;
  }
  json_object_set_new (shown, "state", json_string (runs ? "running" : "queued"));
  json_object_set_new (shown, "can_follow", json_true ());
  json_array_append_new (found->list, shown);
  found->place.cancelled = row[4].integer != 0;
  g_strlcpy (found->place.tag, runs && row[2].text ? row[2].text : "", sizeof found->place.tag);
  g_strlcpy (found->place.instance, runs && row[3].text ? row[3].text : "", sizeof found->place.instance);
  return TRUE;
}

static gboolean
queued_select (struct store *store, const char *sql, const struct sql_value *values, guint count,
               struct queued_found *found, GError **error)
{
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  gboolean ok =
      transaction && transaction_run (transaction, sql, values, count, queued_take_shown, found, NULL, error);
  transaction_end (transaction);
  return ok;
}

#define SELECT_SHOWN "SELECT shown, started, tag, instance, cancelled FROM queued_runs WHERE "

json_t *
queued_show (struct store *store, const char *owner, const char *id, struct queued_place *ret_place,
             GError **error)
{
  const struct sql_value values[] = {SQL_STR (id), SQL_OPT (owner)};
  g_autoptr (json_t) list = json_array ();
  struct queued_found found = {.list = list};
  if (!queued_select (store, owner ? SELECT_SHOWN "id = $1 AND owner = $2" : SELECT_SHOWN "id = $1", values,
                      owner ? 2 : 1, &found, error))
    return NULL;
  if (ret_place)
    *ret_place = found.place;
  json_t *shown = json_array_get (list, 0);
  if (!shown)
    queued_fail_missing (id, error);
  return json_incref (shown);
}

gboolean
queued_list (struct store *store, const char *owner, json_t *list, GError **error)
{
  const struct sql_value values[] = {SQL_INT (QUEUED_LISTED), SQL_OPT (owner)};
  struct queued_found found = {.list = list};
  return queued_select (store,
                        owner ? SELECT_SHOWN "started = 0 AND owner = $2 ORDER BY id LIMIT $1"
                              : SELECT_SHOWN "started = 0 ORDER BY id LIMIT $1",
                        values, owner ? 2 : 1, &found, error);
}

/* ---- cancelling ---- */

static gboolean
queued_step_cancel (gpointer data, struct transaction *transaction, GError **error)
{
  struct queued_step *step = data;
  struct queued_row row = {0};
  gboolean gone = FALSE;
  const struct sql_value values[] = {SQL_STR (step->id), SQL_OPT (step->owner)};
  gboolean ok =
      transaction_run (transaction,
                       step->owner ? "UPDATE queued_runs SET cancelled = 1 WHERE id = $1 AND owner = $2"
                                   : "UPDATE queued_runs SET cancelled = 1 WHERE id = $1",
                       values, step->owner ? 2 : 1, NULL, NULL, NULL, error) &&
      queued_read (transaction, step->owner, step->id, &row, error);
  step->found = ok && row.found;
  if (ok && row.found && *row.instance == '\0')
    ok = queued_end_row (step->store, transaction, step->id, &row, store_node (step->store), step->end, &gone,
                         error);
  queued_row_clear (&row);
  if (ok && !step->found)
    return queued_fail_missing (step->id, error);
  return ok;
}

gboolean
queued_cancel (struct store *store, const char *owner, const char *id, const struct departed_end *end,
               GError **error)
{
  struct queued_step step = {.id = id, .owner = owner, .end = end};
  return queued_commit (store, queued_step_cancel, &step, error);
}

/* ---- claiming ---- */

static gboolean
queued_is_recorded (struct transaction *transaction, const char *id, gboolean *ret_recorded, GError **error)
{
  gint64 count = 0;
  gboolean ok = transaction_read_number (transaction, "SELECT COUNT(*) FROM records WHERE run_id = $1",
                                         &SQL_STR (id), 1, &count, error);
  *ret_recorded = count > 0;
  return ok;
}

static gboolean
queued_take (struct queued_step *step, struct transaction *transaction, const struct queued_row *row,
             GError **error)
{
  const struct queued_holder *holder = step->holder;
  const struct sql_value values[] = {SQL_STR (step->id),      SQL_STR (row->instance),
                                     SQL_INT (row->tries),    SQL_STR (holder->instance),
                                     SQL_STR (holder->tag),   SQL_STR (store_node (step->store)),
                                     SQL_INT (row->tries + 1)};
  guint64 changed = 0;
  gboolean ok =
      transaction_run (transaction,
                       "UPDATE queued_runs SET instance = $4, tag = $5, node = $6, tries = $7, started = 0 "
                       "WHERE id = $1 AND instance = $2 AND tries = $3",
                       values, G_N_ELEMENTS (values), NULL, NULL, &changed, error);
  step->claim = changed == 1 ? QUEUED_TAKEN : QUEUED_HELD;
  return ok;
}

/* It has no tries left. */
static gboolean
queued_lose (struct queued_step *step, struct transaction *transaction, const struct queued_row *row,
             GError **error)
{
  gboolean gone = FALSE;
  g_autofree char *times = row->once
                               ? g_strdup ("it runs at most once")
                               : g_strdup_printf ("it was tried %" G_GINT64_FORMAT " times", row->tries);
  g_autofree char *message =
      *row->instance ? g_strdup_printf (NODE_LOST_OF "; %s", row->node, times)
                     : g_strdup_printf ("node_lost: its node %s could not record it; %s", row->node, times);
  const struct departed_end end = {.type = NODE_LOST, .message = message};
  if (!queued_end_row (step->store, transaction, step->id, row, row->node, &end, &gone, error))
    return FALSE;
  step->claim = gone ? QUEUED_OVER : QUEUED_HELD;
  return TRUE;
}

/* Without a row a run is over, if it had one here. */
static gboolean
queued_miss (struct queued_step *step, struct transaction *transaction, GError **error)
{
  char here[ID_BYTES];
  if (!queued_read_database (transaction, here, error))
    return FALSE;
  step->claim = step->database && strcmp (step->database, here) != 0 ? QUEUED_ELSEWHERE : QUEUED_OVER;
  return TRUE;
}

static gboolean
queued_decide (struct queued_step *step, struct transaction *transaction, const struct queued_row *row,
               GError **error)
{
  const struct queued_holder *holder = step->holder;
  gboolean recorded = FALSE, gone = FALSE;
  if (!row->found)
    return queued_miss (step, transaction, error);
  if (!queued_is_recorded (transaction, step->id, &recorded, error))
    return FALSE;
  step->claim = QUEUED_HELD;
  if (*row->instance && holder->is_alive (holder->data, step->id, row->instance))
    return TRUE;
  if (recorded || row->cancelled) {
    gboolean ok = recorded ? queued_delete (transaction, step->id, row, &gone, error)
                           : queued_end_row (step->store, transaction, step->id, row,
                                             store_node (step->store), holder->cancelled, &gone, error);
    step->claim = gone ? QUEUED_OVER : QUEUED_HELD;
    return ok;
  }
  guint64 most = row->once ? 1 : holder->tries;
  return (guint64)row->tries < most ? queued_take (step, transaction, row, error)
                                    : queued_lose (step, transaction, row, error);
}

static gboolean
queued_step_claim (gpointer data, struct transaction *transaction, GError **error)
{
  struct queued_step *step = data;
  struct queued_row row = {0};
  gboolean ok = queued_read (transaction, NULL, step->id, &row, error) &&
                queued_decide (step, transaction, &row, error);
  queued_row_clear (&row);
  return ok;
}

enum queued_claim
queued_claim (struct store *store, const char *id, const char *database, const struct queued_holder *holder,
              GError **error)
{
  struct queued_step step = {.id = id, .database = database, .holder = holder};
  return queued_commit (store, queued_step_claim, &step, error) ? step.claim : QUEUED_FAILED;
}

static gboolean
queued_step_start (gpointer data, struct transaction *transaction, GError **error)
{
  struct queued_step *step = data;
  const struct sql_value values[] = {SQL_STR (step->id), SQL_STR (step->instance)};
  struct queued_row row = {0};
  gboolean ok =
      transaction_run (transaction, "UPDATE queued_runs SET started = 1 WHERE id = $1 AND instance = $2",
                       values, 2, NULL, NULL, NULL, error) &&
      queued_read (transaction, NULL, step->id, &row, error);
  step->found = row.found && strcmp (row.instance, step->instance) == 0;
  step->cancelled = row.cancelled != 0;
  queued_row_clear (&row);
  if (ok && !step->found)
    return queued_fail_missing (step->id, error);
  return ok;
}

gboolean
queued_start (struct store *store, const char *id, const char *instance, gboolean *ret_cancelled,
              GError **error)
{
  struct queued_step step = {.id = id, .instance = instance};
  gboolean ok = queued_commit (store, queued_step_start, &step, error);
  *ret_cancelled = step.cancelled;
  return ok;
}

/* ---- ending ---- */

/* It waits again. */
static gboolean
queued_release (const struct queued_step *step, struct transaction *transaction, GError **error)
{
  const struct sql_value values[] = {SQL_STR (step->id), SQL_STR (step->instance), SQL_INT (step->untried)};
  return transaction_run (transaction,
                          "UPDATE queued_runs SET instance = '', tag = '', started = 0, tries = tries - $3 "
                          "WHERE id = $1 AND instance = $2",
                          values, 3, NULL, NULL, NULL, error);
}

static gboolean
queued_step_settle (gpointer data, struct transaction *transaction, GError **error)
{
  struct queued_step *step = data;
  const struct sql_value values[] = {SQL_STR (step->id), SQL_STR (step->instance)};
  if (!queued_is_recorded (transaction, step->id, &step->over, error))
    return FALSE;
  return step->over ? transaction_run (transaction, "DELETE FROM queued_runs WHERE id = $1 AND instance = $2",
                                       values, 2, NULL, NULL, NULL, error)
                    : queued_release (step, transaction, error);
}

gboolean
queued_settle (struct store *store, const char *id, const char *instance, gboolean untried,
               gboolean *ret_over, GError **error)
{
  struct queued_step step = {.id = id, .instance = instance, .untried = untried};
  gboolean ok = queued_commit (store, queued_step_settle, &step, error);
  *ret_over = step.over;
  return ok;
}

static gboolean
queued_step_end (gpointer data, struct transaction *transaction, GError **error)
{
  struct queued_step *step = data;
  struct queued_row row = {0};
  gboolean gone = FALSE;
  gboolean ok = queued_read (transaction, NULL, step->id, &row, error);
  if (ok && row.found && strcmp (row.instance, step->instance) == 0)
    ok = queued_end_row (step->store, transaction, step->id, &row, store_node (step->store), step->end, &gone,
                         error);
  queued_row_clear (&row);
  return ok;
}

gboolean
queued_end (struct store *store, const char *id, const char *instance, const struct departed_end *end,
            GError **error)
{
  struct queued_step step = {.id = id, .instance = instance, .end = end};
  return queued_commit (store, queued_step_end, &step, error);
}

/* ---- runs that the queue has dropped ---- */

static gboolean
queued_step_sweep (gpointer data, struct transaction *transaction, GError **error)
{
  struct queued_step *step = data;
  const struct queued_holder *holder = step->holder;
  struct queued_row row = {0};
  gboolean recorded = FALSE, gone = FALSE;
  gboolean ok = queued_read (transaction, NULL, step->id, &row, error);
  if (ok && row.found && !(*row.instance && holder->is_alive (holder->data, step->id, row.instance)))
    ok = queued_is_recorded (transaction, step->id, &recorded, error) &&
         (recorded ? queued_delete (transaction, step->id, &row, &gone, error)
                   : queued_end_row (step->store, transaction, step->id, &row, store_node (step->store),
                                     row.cancelled ? holder->cancelled : step->end, &gone, error));
  queued_row_clear (&row);
  return ok;
}

struct queued_old {
  const struct queued_holder *holder;
  GPtrArray *ids; /* of those that no daemon has that lives */
  char *last;     /* id that was read */
  guint rows;     /* of the page */
};

static gboolean
queued_take_old (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct queued_old *old = data;
  const char *id = row[0].text, *instance = row[1].text;
  old->rows++;
  g_free (old->last);
  old->last = g_strdup (id);
  if (!*instance || !old->holder->is_alive (old->holder->data, id, instance))
    g_ptr_array_add (old->ids, g_strdup (id));
  return TRUE;
}

/* Page by page, until there are enough of them. */
static gboolean
queued_find_old (struct store *store, struct queued_old *old, GError **error)
{
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  if (!transaction)
    return FALSE;
  g_autofree char *sql = g_strdup_printf ("SELECT id, instance FROM queued_runs WHERE queued_ms < %s - $1 "
                                          "AND id > $2 ORDER BY id LIMIT %d",
                                          database_now_ms (database), SWEEP_AT_ONCE);
  gint64 age_ms = (gint64)store_config (store)->cluster_queue_age_ms + SWEEP_LATE_MS;
  gboolean ok = TRUE;
  for (old->rows = SWEEP_AT_ONCE; ok && old->rows == SWEEP_AT_ONCE && old->ids->len < SWEEP_AT_ONCE;) {
    const struct sql_value values[] = {SQL_INT (age_ms), SQL_STR (old->last)};
    old->rows = 0;
    ok = transaction_run (transaction, sql, values, 2, queued_take_old, old, NULL, error);
  }
  transaction_end (transaction);
  return ok;
}

gboolean
queued_sweep (struct store *store, const struct queued_holder *holder, GError **error)
{
  const struct departed_end end = {.type = NODE_LOST,
                                   .message = "no node ran it in time ([cluster] queue_age_ms)"};
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  struct queued_old old = {.holder = holder, .ids = ids, .last = g_strdup ("")};
  gboolean ok = queued_find_old (store, &old, error);
  g_free (old.last);
  for (guint i = 0; ok && i < ids->len; i++) {
    struct queued_step step = {.id = ids->pdata[i], .holder = holder, .end = &end};
    ok = queued_commit (store, queued_step_sweep, &step, error);
  }
  return ok;
}
