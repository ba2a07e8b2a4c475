/* SPDX-License-Identifier: Apache-2.0 */
/* States, in order of last use: those that expire or must make room are at the head of the queue. A row has
 * one state, as an object; it is changed here as one in memory is, while its row is locked. */
#include "tools/conversation_state.h"

#include <string.h>

#include "adder.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/size.h"
#include "store/database.h"

struct conversation_state {
  char *key, *owner;
  GHashTable *values; /* name -> text */
  gsize bytes;        /* of all names and texts */
  gint64 used_us;
  GList link; /* in the queue */
};

LOCK_CLASS (conversation_states);

struct conversation_states {
  const struct config *config;
  struct store *store; /* NULL: they are in memory */
  const char *noun;
  MUTEX (conversation_states) lock;
  GUARDED_BY (conversation_states) GHashTable *by_key;
  GUARDED_BY (conversation_states)
  GQueue order; /* of struct conversation_state, the one unused for longest first */
};

static void
state_free (gpointer data)
{
  struct conversation_state *state = data;
  g_free (state->key);
  g_free (state->owner);
  g_hash_table_unref (state->values);
  g_free (state);
}

struct conversation_states *
conversation_states_new (const struct config *config, struct store *store, const char *noun)
{
  struct conversation_states *states = g_new0 (struct conversation_states, 1);
  states->config = config;
  states->store = store && store_is_shared (config) ? store_ref (store) : NULL;
  states->noun = noun;
  g_mutex_init (&states->lock);
  states->by_key = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, state_free);
  g_queue_init (&states->order);
  return states;
}

void
conversation_states_free (struct conversation_states *states)
{
  if (!states)
    return;
  UNSHARED (conversation_states);
  g_hash_table_unref (states->by_key);
  g_mutex_clear (&states->lock);
  store_unref (states->store);
  g_free (states);
}

/* ---- the table ---- */

REQUIRES (conversation_states)
static void
conversation_state_forget (struct conversation_states *states, struct conversation_state *state)
{
  g_queue_unlink (&states->order, &state->link);
  g_hash_table_remove (states->by_key, state->key);
}

REQUIRES (conversation_states)
static void
conversation_state_expire (struct conversation_states *states)
{
  gint64 oldest = g_get_monotonic_time () - (gint64)states->config->context_idle_ms * 1000;
  struct conversation_state *state;
  while ((state = g_queue_peek_head (&states->order)) && state->used_us < oldest)
    conversation_state_forget (states, state);
}

/* An owner has no line break, so the key is unambiguous. The caller's. */
static char *
conversation_state_key_of (const char *owner, const char *conversation)
{
  return g_strdup_printf ("%s\n%s", owner, conversation);
}

/* The state, marked as used now, or NULL. */
REQUIRES (conversation_states)
static struct conversation_state *
conversation_state_find (struct conversation_states *states, const char *owner, const char *conversation)
{
  g_autofree char *key = conversation_state_key_of (owner, conversation);
  struct conversation_state *state = g_hash_table_lookup (states->by_key, key);
  if (!state)
    return NULL;
  state->used_us = g_get_monotonic_time ();
  g_queue_unlink (&states->order, &state->link);
  g_queue_push_tail_link (&states->order, &state->link);
  return state;
}

/* Makes room for one more of OWNER. */
REQUIRES (conversation_states)
static void
conversation_state_make_room (struct conversation_states *states, const char *owner)
{
  guint of_owner = 0;
  struct conversation_state *first = NULL;
  for (GList *at = states->order.head; at; at = at->next) {
    struct conversation_state *state = at->data;
    if (strcmp (state->owner, owner) != 0)
      continue;
    first = first ? first : state;
    of_owner++;
  }
  if (first && of_owner >= states->config->max_contexts_owner)
    conversation_state_forget (states, first);
  if (states->order.length >= states->config->max_contexts)
    conversation_state_forget (states, g_queue_peek_head (&states->order));
}

static GHashTable *
conversation_state_values (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

REQUIRES (conversation_states)
static struct conversation_state *
conversation_state_make (struct conversation_states *states, const char *owner, const char *conversation)
{
  conversation_state_make_room (states, owner);
  struct conversation_state *state = g_new0 (struct conversation_state, 1);
  state->key = conversation_state_key_of (owner, conversation);
  state->owner = g_strdup (owner);
  state->values = conversation_state_values ();
  state->used_us = g_get_monotonic_time ();
  state->link.data = state;
  g_queue_push_tail_link (&states->order, &state->link);
  g_hash_table_insert (states->by_key, state->key, state);
  return state;
}

/* The size of the pair, 0 if the name is absent. */
static gsize
conversation_state_bytes_of (const struct conversation_state *state, const char *name)
{
  const char *text = name ? g_hash_table_lookup (state->values, name) : NULL;
  return text ? strlen (name) + strlen (text) : 0;
}

static void
conversation_state_set (struct conversation_state *state, const char *name, const char *text)
{
  if (!name)
    return;
  state->bytes -= conversation_state_bytes_of (state, name);
  g_hash_table_replace (state->values, g_strdup (name), g_strdup (text));
  state->bytes += conversation_state_bytes_of (state, name);
}

/* Whether TEXT fits under NAME (unless NULL), and, if LAST, as the last value. */
static gboolean
conversation_state_has_room (const struct conversation_states *states, const struct conversation_state *state,
                             gboolean last, const char *name, const char *text, GError **error)
{
  const struct config *config = states->config;
  gsize bytes = state->bytes;
  if (last)
    bytes = bytes - conversation_state_bytes_of (state, CONVERSATION_STATE_LAST) +
            strlen (CONVERSATION_STATE_LAST) + strlen (text);
  gboolean is_new = name && !g_hash_table_contains (state->values, name);
  guint named = g_hash_table_size (state->values) -
                (g_hash_table_contains (state->values, CONVERSATION_STATE_LAST) ? 1 : 0);
  if (name)
    bytes = bytes - conversation_state_bytes_of (state, name) + strlen (name) + strlen (text);
  if (is_new && named >= config->context_values) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the %s was not kept as %s: the conversation has %u %ss, the most that it may have",
                 states->noun, name, named, states->noun);
    return FALSE;
  }
  if (bytes <= config->context_bytes)
    return TRUE;
  g_autofree char *most = size_format (config->context_bytes);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "the %s was not kept%s%s: the %ss of a conversation may take %s together", states->noun,
               name ? " as " : "", name ? name : "", states->noun, most);
  return FALSE;
}

static void
unset (struct conversation_state *state, const char *name)
{
  state->bytes -= conversation_state_bytes_of (state, name);
  g_hash_table_remove (state->values, name);
}

/* What is to be kept: TEXT under NAME (unless NULL), and, if LAST, as the last value. TEXT NULL: what is
 * there under NAME goes. */
struct conversation_change {
  gboolean last;
  const char *name, *text;
};

/* FALSE with ERROR: there is no room. */
static gboolean
conversation_state_apply (const struct conversation_states *states, struct conversation_state *state,
                          const struct conversation_change *change, GError **error)
{
  if (!change->text) {
    unset (state, change->name);
    return TRUE;
  }
  if (conversation_state_has_room (states, state, change->last, change->name, change->text, error)) {
    conversation_state_set (state, change->last ? CONVERSATION_STATE_LAST : NULL, change->text);
    conversation_state_set (state, change->name, change->text);
    return TRUE;
  }
  if (change->last)
    /* An older value in its place would be mistaken for it. */
    unset (state, CONVERSATION_STATE_LAST);
  return FALSE;
}

static json_t *
conversation_state_json (const struct conversation_state *state)
{
  json_t *values = json_object ();
  GHashTableIter iter;
  gpointer name, text;
  g_hash_table_iter_init (&iter, state->values);
  while (g_hash_table_iter_next (&iter, &name, &text))
    json_object_set_new (values, name, json_text_or_null (text));
  return values;
}

/* ---- rows ---- */

struct conversation_row {
  const struct conversation_states *states;
  const char *owner, *conversation, *now;
  const struct conversation_change *change; /* NULL: the row goes */
  char *text;                               /* its state */
  GError *refusal;                          /* there was no room */
};

static gboolean
conversation_row_take (gpointer data, const struct sql_value *columns, guint count G_GNUC_UNUSED)
{
  struct conversation_row *row = data;
  g_free (row->text);
  row->text = g_strdup (columns[0].text);
  return TRUE;
}

/* The state of ROW; UNKNOWN values of other versions are dropped. */
static void
conversation_row_parse (const struct conversation_row *row, struct conversation_state *ret_state)
{
  g_autoptr (json_t) values =
      row->text ? json_parse_object (row->text, strlen (row->text), "a state", NULL) : NULL;
  const char *name;
  json_t *value;
  *ret_state = (struct conversation_state){.values = conversation_state_values ()};
  json_object_foreach (values, name, value)
  {
    if (json_is_string (value))
      conversation_state_set (ret_state, name, json_string_value (value));
  }
}

static gboolean
conversation_row_run (const struct conversation_row *row, struct transaction *transaction, const char *sql,
                      const char *text, GError **error)
{
  const struct sql_value values[] = {SQL_STR (row->states->noun), SQL_STR (row->owner),
                                     SQL_STR (row->conversation), SQL_OPT (text)};
  return transaction_run (transaction, sql, values, text ? 4 : 3, conversation_row_take,
                          (gpointer)(guintptr)row, NULL, error);
}

/* Locks the row, which is made if there is none. */
static gboolean
conversation_row_lock (struct conversation_row *row, struct transaction *transaction, GError **error)
{
  g_autofree char *sql = g_strdup_printf (
      "INSERT INTO conversation_states AS old (noun, owner, conversation, state, used_ms) "
      "VALUES ($1, $2, $3, '{}', %s) ON CONFLICT (noun, owner, conversation) DO UPDATE SET "
      "used_ms = excluded.used_ms, state = CASE WHEN old.used_ms < excluded.used_ms - %" G_GUINT64_FORMAT
      " THEN '{}' ELSE old.state END RETURNING state",
      row->now, (guint64)row->states->config->context_idle_ms);
  return conversation_row_run (row, transaction, sql, NULL, error);
}

/* Those of the owner that are too old or too many go. */
static gboolean
conversation_row_make_room (const struct conversation_row *row, struct transaction *transaction,
                            GError **error)
{
  const struct config *config = row->states->config;
  const struct sql_value values[] = {SQL_STR (row->states->noun), SQL_STR (row->owner)};
  g_autofree char *old =
      g_strdup_printf ("DELETE FROM conversation_states WHERE used_ms < %s - %" G_GUINT64_FORMAT, row->now,
                       (guint64)config->context_idle_ms);
  g_autofree char *many = g_strdup_printf (
      "DELETE FROM conversation_states WHERE noun = $1 AND owner = $2 AND conversation NOT IN (SELECT "
      "conversation FROM conversation_states WHERE noun = $1 AND owner = $2 ORDER BY used_ms DESC LIMIT "
      "%" G_GUINT64_FORMAT ")",
      (guint64)config->max_contexts_owner);
  return transaction_run (transaction, old, NULL, 0, NULL, NULL, NULL, error) &&
         transaction_run (transaction, many, values, 2, NULL, NULL, NULL, error);
}

static gboolean
conversation_row_change (gpointer data, struct transaction *transaction, GError **error)
{
  struct conversation_row *row = data;
  struct conversation_state state;
  g_clear_error (&row->refusal);
  if (!row->change)
    return conversation_row_run (
        row, transaction,
        "DELETE FROM conversation_states WHERE noun = $1 AND owner = $2 AND conversation = $3", NULL, error);
  if (!conversation_row_lock (row, transaction, error))
    return FALSE;
  conversation_row_parse (row, &state);
  (void)conversation_state_apply (row->states, &state, row->change, &row->refusal);
  g_autoptr (json_t) told = conversation_state_json (&state);
  g_autofree char *text = json_to_text (told);
  g_hash_table_unref (state.values);
  return conversation_row_run (
             row, transaction,
             "UPDATE conversation_states SET state = $4 WHERE noun = $1 AND owner = $2 AND conversation = $3",
             text, error) &&
         conversation_row_make_room (row, transaction, error);
}

static gboolean
conversation_row_use (gpointer data, struct transaction *transaction, GError **error)
{
  const struct conversation_row *row = data;
  g_autofree char *sql = g_strdup_printf (
      "UPDATE conversation_states SET used_ms = %s WHERE noun = $1 AND owner = $2 AND conversation = $3",
      row->now);
  return conversation_row_run (row, transaction, sql, NULL, error);
}

/* CHANGE NULL: it goes. FALSE with ERROR. */
static gboolean
conversation_rows_change (const struct conversation_states *states, const char *owner,
                          const char *conversation, const struct conversation_change *change, GError **error)
{
  struct database *database = store_database (states->store, error);
  if (!database)
    return FALSE;
  struct conversation_row row = {states, owner, conversation, database_now_ms (database), change, NULL, NULL};
  gboolean ok = database_commit (database, conversation_row_change, &row, error);
  g_free (row.text);
  if (ok && row.refusal) {
    g_propagate_error (error, row.refusal);
    return FALSE;
  }
  g_clear_error (&row.refusal);
  return ok;
}

/* Most conversations have none: reading needs no commit. */
static json_t *
conversation_rows_get (const struct conversation_states *states, const char *owner, const char *conversation,
                       GError **error)
{
  struct database *database = store_database (states->store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  if (!transaction)
    return NULL;
  struct conversation_row row = {states, owner, conversation, database_now_ms (database), NULL, NULL, NULL};
  g_autofree char *sql =
      g_strdup_printf ("SELECT state FROM conversation_states WHERE noun = $1 AND owner = $2 AND "
                       "conversation = $3 AND used_ms >= %s - %" G_GUINT64_FORMAT,
                       row.now, (guint64)states->config->context_idle_ms);
  gboolean ok = conversation_row_run (&row, transaction, sql, NULL, error);
  transaction_end (transaction);
  if (ok && row.text)
    ok = database_commit (database, conversation_row_use, &row, error);
  struct conversation_state state;
  conversation_row_parse (&row, &state);
  json_t *values = ok ? conversation_state_json (&state) : NULL;
  g_hash_table_unref (state.values);
  g_free (row.text);
  return values;
}

/* ---- from outside ---- */

json_t *
conversation_states_get (struct conversation_states *states, const char *owner, const char *conversation,
                         GError **error)
{
  if (!conversation)
    return json_object ();
  if (states->store)
    return conversation_rows_get (states, owner, conversation, error);
  g_mutex_lock (&states->lock);
  conversation_state_expire (states);
  const struct conversation_state *state = conversation_state_find (states, owner, conversation);
  json_t *values = state ? conversation_state_json (state) : json_object ();
  g_mutex_unlock (&states->lock);
  return values;
}

static gboolean
conversation_state_keep (struct conversation_states *states, const char *owner, const char *conversation,
                         const struct conversation_change *change, GError **error)
{
  if (!conversation)
    return TRUE;
  if (states->store)
    return conversation_rows_change (states, owner, conversation, change, error);
  g_mutex_lock (&states->lock);
  conversation_state_expire (states);
  struct conversation_state *state = conversation_state_find (states, owner, conversation);
  if (!state)
    state = conversation_state_make (states, owner, conversation);
  gboolean ok = conversation_state_apply (states, state, change, error);
  g_mutex_unlock (&states->lock);
  return ok;
}

gboolean
conversation_states_put (struct conversation_states *states, const char *owner, const char *conversation,
                         const char *name, const char *text, GError **error)
{
  const struct conversation_change change = {TRUE, name, text};
  return conversation_state_keep (states, owner, conversation, &change, error);
}

gboolean
conversation_states_set (struct conversation_states *states, const char *owner, const char *conversation,
                         const char *name, const char *text, GError **error)
{
  const struct conversation_change change = {FALSE, name, text};
  return conversation_state_keep (states, owner, conversation, &change, error);
}

void
conversation_states_unset (struct conversation_states *states, const char *owner, const char *conversation,
                           const char *name)
{
  const struct conversation_change change = {FALSE, name, NULL};
  if (states->store) {
    (void)conversation_rows_change (states, owner, conversation, &change, NULL);
    return;
  }
  g_mutex_lock (&states->lock);
  struct conversation_state *state = conversation_state_find (states, owner, conversation);
  if (state)
    unset (state, name);
  g_mutex_unlock (&states->lock);
}

void
conversation_states_drop (struct conversation_states *states, const char *owner, const char *conversation)
{
  if (!conversation)
    return;
  if (states->store) {
    (void)conversation_rows_change (states, owner, conversation, NULL, NULL);
    return;
  }
  g_mutex_lock (&states->lock);
  struct conversation_state *state = conversation_state_find (states, owner, conversation);
  if (state)
    conversation_state_forget (states, state);
  g_mutex_unlock (&states->lock);
}

guint
conversation_states_living (struct conversation_states *states)
{
  g_mutex_lock (&states->lock);
  conversation_state_expire (states);
  guint living = states->order.length;
  g_mutex_unlock (&states->lock);
  return living;
}

gboolean
conversation_states_are_none (struct conversation_states *states)
{
  return !states->store && conversation_states_living (states) == 0;
}
