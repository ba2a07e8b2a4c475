/* SPDX-License-Identifier: Apache-2.0 */
/* The failures of each conversation, in the order of last use. */
#include "policy/loops.h"

#include <string.h>

#include "adder_types.h"
#include "common/guarded.h"
#include "common/json.h"

/* For one conversation; the oldest are forgotten first. More than the configurable maximum of failures, so
 * that several loops at once are noticed. */
#define ATTEMPTS_MAX  32

#define MESSAGE_BYTES 500

struct attempt {
  json_t *said; /* {"digest", "near"} */
  guint64 setting;
  guint32 error;
};

struct conversation {
  char *owner, *name;
  GQueue failed;     /* struct attempt, the oldest first */
  gint64 expires_us; /* g_get_monotonic_time */
};

LOCK_CLASS (loops);

struct loops {
  gatomicrefcount references;
  guint64 failures, max, max_owner;
  gint64 forget_us;
  MUTEX (loops) lock;
  GUARDED_BY (loops) GQueue all; /* struct conversation, least recently used first */
};

static void
attempt_free (gpointer data)
{
  struct attempt *attempt = data;
  json_decref (attempt->said);
  g_free (attempt);
}

static void
conversation_free (gpointer data)
{
  struct conversation *conversation = data;
  g_queue_clear_full (&conversation->failed, attempt_free);
  g_free (conversation->owner);
  g_free (conversation->name);
  g_free (conversation);
}

struct loops *
loops_new (const struct config *config)
{
  struct loops *loops = g_new0 (struct loops, 1);
  g_atomic_ref_count_init (&loops->references);
  g_mutex_init (&loops->lock);
  g_queue_init (&loops->all);
  loops->failures = config->loop_failures;
  loops->max = config->max_loops;
  loops->max_owner = config->max_loops_owner;
  loops->forget_us = (gint64)config->loop_forget_ms * 1000;
  return loops;
}

struct loops *
loops_ref (struct loops *loops)
{
  g_atomic_ref_count_inc (&loops->references);
  return loops;
}

void
loops_unref (struct loops *loops)
{
  if (!loops || !g_atomic_ref_count_dec (&loops->references))
    return;
  g_queue_clear_full (&loops->all, conversation_free);
  g_mutex_clear (&loops->lock);
  g_free (loops);
}

/* ---- the table ---- */

REQUIRES (loops)
static void
loops_drop (struct loops *loops, GList *link)
{
  conversation_free (link->data);
  g_queue_delete_link (&loops->all, link);
}

REQUIRES (loops)
static void
loops_purge (struct loops *loops)
{
  gint64 now = g_get_monotonic_time ();
  /* All have the same time to live, so the least recently used expires first. */
  while (loops->all.head && ((struct conversation *)loops->all.head->data)->expires_us <= now)
    loops_drop (loops, loops->all.head);
}

REQUIRES (loops)
static GList *
loops_find (struct loops *loops, const char *owner, const char *name)
{
  for (GList *at = loops->all.tail; at; at = at->prev) {
    const struct conversation *conversation = at->data;
    if (strcmp (conversation->name, name) == 0 && strcmp (conversation->owner, owner) == 0)
      return at;
  }
  return NULL;
}

/* Room for one more of OWNER: an owner with too many loses one of their own. */
REQUIRES (loops)
static void
loops_make_room (struct loops *loops, const char *owner)
{
  guint64 own = 0;
  GList *first = NULL;
  for (GList *at = loops->all.tail; at; at = at->prev)
    if (strcmp (((struct conversation *)at->data)->owner, owner) == 0) {
      own++;
      first = at;
    }
  if (first && own >= loops->max_owner)
    loops_drop (loops, first);
  else if (loops->all.length >= loops->max)
    loops_drop (loops, loops->all.head);
}

REQUIRES (loops)
static struct conversation *
use (struct loops *loops, const char *owner, const char *name)
{
  GList *link = loops_find (loops, owner, name);
  if (link)
    g_queue_unlink (&loops->all, link);
  else {
    loops_make_room (loops, owner);
    struct conversation *made = g_new0 (struct conversation, 1);
    made->owner = g_strdup (owner);
    made->name = g_strdup (name);
    g_queue_init (&made->failed);
    link = g_list_append (NULL, made);
  }
  g_queue_push_tail_link (&loops->all, link);
  struct conversation *conversation = link->data;
  conversation->expires_us = g_get_monotonic_time () + loops->forget_us;
  return conversation;
}

/* ---- errors ---- */

guint32
loops_error_key (const char *type, const char *message)
{
  g_autoptr (GString) plain = g_string_new (type);
  g_string_append_c (plain, ':');
  for (const char *at = message; *at != '\0' && plain->len < MESSAGE_BYTES; at++) {
    char last = plain->str[plain->len - 1];
    gboolean hexadecimal = at[0] == '0' && at[1] == 'x';
    if (hexadecimal || g_ascii_isdigit (*at)) {
      for (at += hexadecimal ? 2 : 0; hexadecimal ? g_ascii_isxdigit (*at) : g_ascii_isdigit (*at); at++)
        ;
      at--;
      if (last != '#')
        g_string_append_c (plain, '#');
    } else if (g_ascii_isspace (*at)) {
      if (last != ' ')
        g_string_append_c (plain, ' ');
    } else
      g_string_append_c (plain, *at);
  }
  return g_str_hash (plain->str);
}

static guint32
loops_key_of (const struct request_end *end)
{
  const char *type = json_string_value (json_object_get (end->error, "type"));
  const char *message = json_string_value (json_object_get (end->error, "message"));
  return loops_error_key (type ? type : adder_outcome_name (end->outcome), message ? message : "");
}

/* ---- queries and reports ---- */

static json_t *
failed_in (const struct conversation *conversation, guint64 setting)
{
  json_t *list = json_array ();
  for (GList *at = conversation->failed.head; at; at = at->next) {
    const struct attempt *attempt = at->data;
    if (attempt->setting != setting)
      continue;
    json_t *item = json_copy (attempt->said);
    json_object_set_new (item, "error", json_integer (attempt->error));
    json_array_append_new (list, item);
  }
  return list;
}

json_t *
loops_attempts (struct loops *loops, const char *owner, const char *conversation, guint64 setting)
{
  if (loops->failures == 0)
    return NULL;
  g_mutex_lock (&loops->lock);
  loops_purge (loops);
  GList *link = loops_find (loops, owner ? owner : "", conversation);
  json_t *failed = link ? failed_in (link->data, setting) : json_array ();
  g_mutex_unlock (&loops->lock);
  return json_pack ("{s:I, s:o}", "most", (json_int_t)loops->failures, "failed", failed);
}

/* Whether the code itself is the reason for END; runs that never started, or were ended by somebody, say
 * nothing. */
static gboolean
has_failed (const struct request_end *end)
{
  switch (end->outcome) {
  case ADDER_OUTCOME_ERROR:
  case ADDER_OUTCOME_TIMEOUT:
  case ADDER_OUTCOME_CPU_LIMIT:
  case ADDER_OUTCOME_MEMORY_LIMIT:
  case ADDER_OUTCOME_OUTPUT_LIMIT:
  case ADDER_OUTCOME_CRASHED:
    return TRUE;
  case ADDER_OUTCOME_REFUSED:
    return g_strcmp0 (json_string_value (json_object_get (end->error, "type")), "Loop") != 0;
  default:
    return FALSE;
  }
}

/* Code that ran, and whose changes wait for approval, is no failure. */
static gboolean
has_succeeded (const struct request_end *end)
{
  return end->outcome == ADDER_OUTCOME_OK ||
         (end->outcome == ADDER_OUTCOME_APPROVAL_REQUIRED && end->attempt != NULL);
}

REQUIRES (loops)
static void
add_failure (struct loops *loops, const char *owner, const char *name, guint64 setting,
             const struct request_end *end)
{
  struct conversation *conversation = use (loops, owner, name);
  struct attempt *attempt = g_new0 (struct attempt, 1);
  attempt->said = json_incref ((json_t *)(guintptr)end->attempt);
  attempt->setting = setting;
  attempt->error = loops_key_of (end);
  g_queue_push_tail (&conversation->failed, attempt);
  if (conversation->failed.length > ATTEMPTS_MAX)
    attempt_free (g_queue_pop_head (&conversation->failed));
}

void
loops_ended (struct loops *loops, const char *owner, const char *conversation, guint64 setting,
             const struct request_end *end)
{
  owner = owner ? owner : "";
  g_mutex_lock (&loops->lock);
  loops_purge (loops);
  GList *link = has_succeeded (end) ? loops_find (loops, owner, conversation) : NULL;
  if (link)
    loops_drop (loops, link);
  else if (end->attempt && has_failed (end))
    add_failure (loops, owner, conversation, setting, end);
  g_mutex_unlock (&loops->lock);
}
