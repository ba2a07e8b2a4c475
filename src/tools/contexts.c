/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, in the order of their last use: those that expire and those that have to go are at the head of
 * the queue. */
#include "tools/contexts.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/size.h"

struct context {
  char *key, *owner;
  GHashTable *values; /* name -> text */
  gsize bytes;        /* of all names and texts */
  gint64 used_us;
  GList link; /* in the queue */
};

struct contexts {
  const struct config *config;
  const char *noun;
  GMutex lock;
  GHashTable *by_key;
  GQueue order; /* of struct context, the one unused for longest first */
};

static void
context_free (gpointer data)
{
  struct context *context = data;
  g_free (context->key);
  g_free (context->owner);
  g_hash_table_unref (context->values);
  g_free (context);
}

struct contexts *
contexts_new (const struct config *config, const char *noun)
{
  struct contexts *contexts = g_new0 (struct contexts, 1);
  contexts->config = config;
  contexts->noun = noun;
  g_mutex_init (&contexts->lock);
  contexts->by_key = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, context_free);
  g_queue_init (&contexts->order);
  return contexts;
}

void
contexts_free (struct contexts *contexts)
{
  if (!contexts)
    return;
  g_hash_table_unref (contexts->by_key);
  g_mutex_clear (&contexts->lock);
  g_free (contexts);
}

/* ---- with the lock held ---- */

static void
forget (struct contexts *contexts, struct context *context)
{
  g_queue_unlink (&contexts->order, &context->link);
  g_hash_table_remove (contexts->by_key, context->key);
}

static void
expire (struct contexts *contexts)
{
  gint64 oldest = g_get_monotonic_time () - (gint64)contexts->config->context_idle_ms * 1000;
  struct context *context;
  while ((context = g_queue_peek_head (&contexts->order)) && context->used_us < oldest)
    forget (contexts, context);
}

/* An owner has no line break, so two pairs cannot have one key. The caller's. */
static char *
key_of (const char *owner, const char *conversation)
{
  return g_strdup_printf ("%s\n%s", owner, conversation);
}

/* The context, as used now, or NULL. */
static struct context *
find (struct contexts *contexts, const char *owner, const char *conversation)
{
  g_autofree char *key = key_of (owner, conversation);
  struct context *context = g_hash_table_lookup (contexts->by_key, key);
  if (!context)
    return NULL;
  context->used_us = g_get_monotonic_time ();
  g_queue_unlink (&contexts->order, &context->link);
  g_queue_push_tail_link (&contexts->order, &context->link);
  return context;
}

/* Makes room for one more of OWNER. */
static void
make_room (struct contexts *contexts, const char *owner)
{
  guint of_owner = 0;
  struct context *first = NULL;
  for (GList *at = contexts->order.head; at; at = at->next) {
    struct context *context = at->data;
    if (strcmp (context->owner, owner) != 0)
      continue;
    first = first ? first : context;
    of_owner++;
  }
  if (first && of_owner >= contexts->config->max_contexts_owner)
    forget (contexts, first);
  if (contexts->order.length >= contexts->config->max_contexts)
    forget (contexts, g_queue_peek_head (&contexts->order));
}

static struct context *
make (struct contexts *contexts, const char *owner, const char *conversation)
{
  make_room (contexts, owner);
  struct context *context = g_new0 (struct context, 1);
  context->key = key_of (owner, conversation);
  context->owner = g_strdup (owner);
  context->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  context->used_us = g_get_monotonic_time ();
  context->link.data = context;
  g_queue_push_tail_link (&contexts->order, &context->link);
  g_hash_table_insert (contexts->by_key, context->key, context);
  return context;
}

/* What the pair takes, 0 where the name is not there. */
static gsize
bytes_of (const struct context *context, const char *name)
{
  const char *text = name ? g_hash_table_lookup (context->values, name) : NULL;
  return text ? strlen (name) + strlen (text) : 0;
}

static void
set (struct context *context, const char *name, const char *text)
{
  if (!name)
    return;
  context->bytes -= bytes_of (context, name);
  g_hash_table_replace (context->values, g_strdup (name), g_strdup (text));
  context->bytes += bytes_of (context, name);
}

/* Whether TEXT may be kept under NAME (unless NULL), and, where it is the LAST value, as that. */
static gboolean
has_room (const struct contexts *contexts, const struct context *context, gboolean last, const char *name,
          const char *text, GError **error)
{
  const struct config *config = contexts->config;
  gsize bytes = context->bytes;
  if (last)
    bytes = bytes - bytes_of (context, CONTEXT_LAST) + strlen (CONTEXT_LAST) + strlen (text);
  gboolean is_new = name && !g_hash_table_contains (context->values, name);
  guint named =
      g_hash_table_size (context->values) - (g_hash_table_contains (context->values, CONTEXT_LAST) ? 1 : 0);
  if (name)
    bytes = bytes - bytes_of (context, name) + strlen (name) + strlen (text);
  if (is_new && named >= config->context_values) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the %s was not kept as %s: the conversation has %u %ss, the most that it may have",
                 contexts->noun, name, named, contexts->noun);
    return FALSE;
  }
  if (bytes <= config->context_bytes)
    return TRUE;
  g_autofree char *most = size_format (config->context_bytes);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "the %s was not kept%s%s: the %ss of a conversation may take %s together", contexts->noun,
               name ? " as " : "", name ? name : "", contexts->noun, most);
  return FALSE;
}

/* ---- from outside ---- */

json_t *
contexts_get (struct contexts *contexts, const char *owner, const char *conversation)
{
  json_t *values = json_object ();
  if (!conversation)
    return values;
  g_mutex_lock (&contexts->lock);
  expire (contexts);
  struct context *context = find (contexts, owner, conversation);
  GHashTableIter iter;
  gpointer name, text;
  if (context) {
    g_hash_table_iter_init (&iter, context->values);
    while (g_hash_table_iter_next (&iter, &name, &text))
      json_object_set_new (values, name, json_text_or_null (text));
  }
  g_mutex_unlock (&contexts->lock);
  return values;
}

static void
unset (struct context *context, const char *name)
{
  context->bytes -= bytes_of (context, name);
  g_hash_table_remove (context->values, name);
}

static gboolean
keep (struct contexts *contexts, const char *owner, const char *conversation, gboolean last, const char *name,
      const char *text, GError **error)
{
  if (!conversation)
    return TRUE;
  g_mutex_lock (&contexts->lock);
  expire (contexts);
  struct context *context = find (contexts, owner, conversation);
  if (!context)
    context = make (contexts, owner, conversation);
  gboolean ok = has_room (contexts, context, last, name, text, error);
  if (ok) {
    set (context, last ? CONTEXT_LAST : NULL, text);
    set (context, name, text);
  } else if (last)
    /* An older value in its place would be taken for it. */
    unset (context, CONTEXT_LAST);
  g_mutex_unlock (&contexts->lock);
  return ok;
}

gboolean
contexts_put (struct contexts *contexts, const char *owner, const char *conversation, const char *name,
              const char *text, GError **error)
{
  return keep (contexts, owner, conversation, TRUE, name, text, error);
}

gboolean
contexts_set (struct contexts *contexts, const char *owner, const char *conversation, const char *name,
              const char *text, GError **error)
{
  return keep (contexts, owner, conversation, FALSE, name, text, error);
}

void
contexts_unset (struct contexts *contexts, const char *owner, const char *conversation, const char *name)
{
  g_mutex_lock (&contexts->lock);
  struct context *context = find (contexts, owner, conversation);
  if (context)
    unset (context, name);
  g_mutex_unlock (&contexts->lock);
}

void
contexts_drop (struct contexts *contexts, const char *owner, const char *conversation)
{
  if (!conversation)
    return;
  g_mutex_lock (&contexts->lock);
  struct context *context = find (contexts, owner, conversation);
  if (context)
    forget (contexts, context);
  g_mutex_unlock (&contexts->lock);
}

guint
contexts_living (struct contexts *contexts)
{
  g_mutex_lock (&contexts->lock);
  expire (contexts);
  guint living = contexts->order.length;
  g_mutex_unlock (&contexts->lock);
  return living;
}
