/* SPDX-License-Identifier: Apache-2.0 */
/* States, in order of last use: those that expire or must make room are at the head of the queue. */
#include "tools/conversation_state.h"

#include <string.h>

#include "adder.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/size.h"

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
conversation_states_new (const struct config *config, const char *noun)
{
  struct conversation_states *states = g_new0 (struct conversation_states, 1);
  states->config = config;
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

REQUIRES (conversation_states)
static struct conversation_state *
conversation_state_make (struct conversation_states *states, const char *owner, const char *conversation)
{
  conversation_state_make_room (states, owner);
  struct conversation_state *state = g_new0 (struct conversation_state, 1);
  state->key = conversation_state_key_of (owner, conversation);
  state->owner = g_strdup (owner);
  state->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
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

/* ---- from outside ---- */

json_t *
conversation_states_get (struct conversation_states *states, const char *owner, const char *conversation)
{
  json_t *values = json_object ();
  if (!conversation)
    return values;
  g_mutex_lock (&states->lock);
  conversation_state_expire (states);
  struct conversation_state *state = conversation_state_find (states, owner, conversation);
  GHashTableIter iter;
  gpointer name, text;
  if (state) {
    g_hash_table_iter_init (&iter, state->values);
    while (g_hash_table_iter_next (&iter, &name, &text))
      json_object_set_new (values, name, json_text_or_null (text));
  }
  g_mutex_unlock (&states->lock);
  return values;
}

static void
unset (struct conversation_state *state, const char *name)
{
  state->bytes -= conversation_state_bytes_of (state, name);
  g_hash_table_remove (state->values, name);
}

static gboolean
conversation_state_keep (struct conversation_states *states, const char *owner, const char *conversation,
                         gboolean last, const char *name, const char *text, GError **error)
{
  if (!conversation)
    return TRUE;
  g_mutex_lock (&states->lock);
  conversation_state_expire (states);
  struct conversation_state *state = conversation_state_find (states, owner, conversation);
  if (!state)
    state = conversation_state_make (states, owner, conversation);
  gboolean ok = conversation_state_has_room (states, state, last, name, text, error);
  if (ok) {
    conversation_state_set (state, last ? CONVERSATION_STATE_LAST : NULL, text);
    conversation_state_set (state, name, text);
  } else if (last)
    /* An older value in its place would be mistaken for it. */
    unset (state, CONVERSATION_STATE_LAST);
  g_mutex_unlock (&states->lock);
  return ok;
}

gboolean
conversation_states_put (struct conversation_states *states, const char *owner, const char *conversation,
                         const char *name, const char *text, GError **error)
{
  return conversation_state_keep (states, owner, conversation, TRUE, name, text, error);
}

gboolean
conversation_states_set (struct conversation_states *states, const char *owner, const char *conversation,
                         const char *name, const char *text, GError **error)
{
  return conversation_state_keep (states, owner, conversation, FALSE, name, text, error);
}

void
conversation_states_unset (struct conversation_states *states, const char *owner, const char *conversation,
                           const char *name)
{
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
