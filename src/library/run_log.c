/* SPDX-License-Identifier: Apache-2.0 */
#include "library/run_log.h"

#include <string.h>

#include "common/guarded.h"
#include "engine/host/interrupt.h"

#define EVENT_BYTES 128 /* what an event takes besides its text, about */

LOCK_CLASS (run_log);

struct run_log {
  gint references;
  guint64 most;
  MUTEX (run_log) lock;
  GUARDED_BY (run_log) GHashTable *events; /* number -> struct run_logged: FIRST to LAST */
  GUARDED_BY (run_log) guint64 first, last, bytes;
  GUARDED_BY (run_log) GSList *waiters; /* of struct interrupt, each on the stack of a thread */
  GUARDED_BY (run_log) gboolean ended;
};

/* ---- events ---- */

static void
run_logged_clear (gpointer data)
{
  struct run_logged *event = data;
  g_free (event->name);
  g_free (event->text);
}

struct run_logged *
run_logged_ref (struct run_logged *event)
{
  return g_atomic_rc_box_acquire (event);
}

void
run_logged_unref (struct run_logged *event)
{
  g_atomic_rc_box_release_full (event, run_logged_clear);
}

static void
run_log_forget (gpointer data)
{
  run_logged_unref (data);
}

/* ---- the log ---- */

struct run_log *
run_log_new (guint64 most)
{
  struct run_log *log = g_new0 (struct run_log, 1);
  log->references = 1;
  log->most = most;
  g_mutex_init (&log->lock);
  log->events = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, run_log_forget);
  log->first = 1;
  return log;
}

struct run_log *
run_log_ref (struct run_log *log)
{
  g_atomic_int_inc (&log->references);
  return log;
}

void
run_log_unref (struct run_log *log)
{
  if (!log || !g_atomic_int_dec_and_test (&log->references))
    return;
  UNSHARED (run_log);
  g_hash_table_unref (log->events);
  g_mutex_clear (&log->lock);
  g_free (log);
}

REQUIRES (run_log)
static void
run_log_wake (struct run_log *log)
{
  for (GSList *at = log->waiters; at; at = at->next)
    interrupt_wake (at->data);
}

static guint64
cost_of (const struct run_logged *event)
{
  return EVENT_BYTES + strlen (event->text);
}

REQUIRES (run_log)
static void
run_log_drop_first (struct run_log *log)
{
  const struct run_logged *event = g_hash_table_lookup (log->events, &log->first);
  log->bytes -= cost_of (event);
  g_hash_table_remove (log->events, &log->first);
  log->first++;
}

void
run_log_add (struct run_log *log, const char *name, const char *text)
{
  struct run_logged *event = g_atomic_rc_box_new0 (struct run_logged);
  event->name = g_strdup (name);
  event->text = g_strdup (text);
  g_mutex_lock (&log->lock);
  event->number = ++log->last;
  g_hash_table_insert (log->events, &event->number, event);
  log->bytes += cost_of (event);
  while (log->bytes > log->most && log->first < log->last)
    run_log_drop_first (log);
  run_log_wake (log);
  g_mutex_unlock (&log->lock);
}

void
run_log_end (struct run_log *log)
{
  g_mutex_lock (&log->lock);
  log->ended = TRUE;
  run_log_wake (log);
  g_mutex_unlock (&log->lock);
}

guint64
run_log_bytes (struct run_log *log)
{
  g_mutex_lock (&log->lock);
  guint64 bytes = log->bytes;
  g_mutex_unlock (&log->lock);
  return bytes;
}

/* ---- followers ---- */

/* FALSE: wait for it. */
REQUIRES (run_log)
static gboolean
run_log_look (struct run_log *log, guint64 after, enum run_log_found *ret_found,
              struct run_logged **ret_event, guint64 *ret_missed)
{
  guint64 number = after + 1;
  if (number < log->first) {
    *ret_missed = log->first - number;
    *ret_found = RUN_LOG_MISSED;
  } else if (number <= log->last) {
    *ret_event = run_logged_ref (g_hash_table_lookup (log->events, &number));
    *ret_found = RUN_LOG_EVENT;
  } else if (log->ended)
    *ret_found = RUN_LOG_ENDED;
  else
    return FALSE;
  return TRUE;
}

enum run_log_found
run_log_next (struct run_log *log, guint64 after, int watch_fd, struct run_logged **ret_event,
              guint64 *ret_missed)
{
  enum run_log_found found = RUN_LOG_GONE;
  struct interrupt interrupt;
  struct pollfd room[INTERRUPT_POLLFDS];
  gboolean gone = !interrupt_init (&interrupt, watch_fd, NULL);
  if (gone)
    return RUN_LOG_GONE;
  g_mutex_lock (&log->lock);
  log->waiters = g_slist_prepend (log->waiters, &interrupt);
  while (!gone && !run_log_look (log, after, &found, ret_event, ret_missed)) {
    g_mutex_unlock (&log->lock);
    gone = interrupt_wait (&interrupt, room, 0, -1) == WAIT_CANCELLED;
    g_mutex_lock (&log->lock);
  }
  log->waiters = g_slist_remove (log->waiters, &interrupt);
  g_mutex_unlock (&log->lock);
  interrupt_clear (&interrupt);
  return found;
}
