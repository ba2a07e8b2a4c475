/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of events. Sessions, approvals and reviews come as notifications, runs by the observer of their
 * request; both may hold locks of their own, so the ring's is a leaf, and what an event is about is looked up
 * by its readers. */
#include "library/events.h"

#include <string.h>

#include "adder_types.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/host/interrupt.h"
#include "engine/request/outcome.h"

const char *const event_kind_names[] = {
    [EVENT_RUN] = "run",       [EVENT_SESSION] = "session", [EVENT_APPROVAL] = "approval",
    [EVENT_REVIEW] = "review", [EVENT_DAEMON] = "daemon",   [EVENT_KINDS] = NULL,
};
static const char *const change_names[] = {
    [NOTIFICATION_CREATED] = "created",
    [NOTIFICATION_CHANGED] = "changed",
    [NOTIFICATION_ENDED] = "ended",
};

/* What is shown of a run: it has two events. g_atomic_rc_box; `outcome` and `wall_us` are written before its
 * second event is there, and read for that only. */
struct event_run {
  struct events *events;
  char id[ID_BYTES];
  char *owner, *conversation, *session, *front_end, *tool, *code;
  gint64 started_us;
  AdderOutcome outcome;
  gint64 wall_us;
  gboolean has_started, has_ended;
};

LOCK_CLASS (events);

/* A thread that waits. */
struct events_waiter {
  struct interrupt interrupt;
  struct event_query query; /* whose `after` moves on with events that it does not want */
  gboolean is_woken;        /* and has not looked since */
};

struct events {
  gatomicrefcount references;
  struct notifications *notifications;
  guint64 subscription;
  gsize most;
  MUTEX (events) lock;
  GUARDED_BY (events) struct event **ring; /* of MOST places */
  GUARDED_BY (events) gsize first, count;
  GUARDED_BY (events) gint64 last;    /* number of the newest event, or a later one that a reader was given */
  GUARDED_BY (events) gint64 dropped; /* of the newest event that is not held any more */
  GUARDED_BY (events) GSList *waiters;
  GUARDED_BY (events) gboolean closed;
};

/* ---- events ---- */

static void
event_run_clear (gpointer data)
{
  struct event_run *run = data;
  g_free (run->owner);
  g_free (run->conversation);
  g_free (run->session);
  g_free (run->front_end);
  g_free (run->tool);
  g_free (run->code);
}

static void
event_clear (gpointer data)
{
  struct event *event = data;
  g_free (event->owner);
  if (event->run)
    g_atomic_rc_box_release_full (event->run, event_run_clear);
}

void
event_unref (struct event *event)
{
  g_atomic_rc_box_release_full (event, event_clear);
}

static void
events_forget (gpointer data)
{
  event_unref (data);
}

static struct event *
event_new (enum event_kind kind, enum notification_change change, const char *owner, const char *id)
{
  struct event *event = g_atomic_rc_box_new0 (struct event);
  event->kind = kind;
  event->change = change;
  event->owner = g_strdup (owner ? owner : "");
  g_strlcpy (event->id, id, sizeof event->id);
  return event;
}

const char *
event_change_name (const struct event *event)
{
  return change_names[event->change];
}

json_t *
event_run_to_json (const struct event *event)
{
  const struct event_run *run = event->run;
  gboolean has_ended = event->change == NOTIFICATION_ENDED;
  g_autofree char *started = text_time (run->started_us);
  json_t *shown =
      json_pack ("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:n, s:n}", "run_id", event->id, "state",
                 has_ended ? "ended" : "running", "started", started, "owner", json_text_or_null (run->owner),
                 "conversation", json_text_or_null (run->conversation), "session",
                 json_text_or_null (run->session), "front_end", json_text_or_null (run->front_end), "tool",
                 json_text_or_null (run->tool), "code", json_text_or_null (run->code), "outcome", "wall_ms");
  if (has_ended) {
    json_object_set_new (shown, "outcome", json_string (adder_outcome_name (run->outcome)));
    json_object_set_new (shown, "wall_ms", json_real ((double)run->wall_us / 1000));
  }
  return shown;
}

/* ---- the ring ---- */

REQUIRES (events)
static struct event *
event_at (const struct events *events, gsize index)
{
  return events->ring[(events->first + index) % events->most];
}

static gboolean
event_is_wanted (const struct event *event, const struct event_query *query)
{
  gboolean is_theirs =
      event->kind == EVENT_DAEMON || !query->owner || strcmp (query->owner, event->owner) == 0;
  return (query->kinds & 1u << event->kind) && is_theirs;
}

/* Only those whom it concerns, and once until they look again: a run of one owner costs the others nothing.
 */
REQUIRES (events)
static void
events_wake (struct events *events, const struct event *event)
{
  for (GSList *at = events->waiters; at; at = at->next) {
    struct events_waiter *waiter = at->data;
    if (waiter->is_woken)
      continue;
    waiter->is_woken = event_is_wanted (event, &waiter->query);
    if (waiter->is_woken)
      interrupt_wake (&waiter->interrupt);
    else
      waiter->query.after = event->number;
  }
}

/* Takes EVENT. */
static void
events_add (struct events *events, struct event *event)
{
  struct event *old = NULL;
  g_mutex_lock (&events->lock);
  events->last = event->number = MAX (events->last + 1, g_get_real_time ());
  if (events->count == events->most) {
    old = event_at (events, 0);
    events->dropped = old->number;
    events->first = (events->first + 1) % events->most;
    events->count--;
  }
  events->ring[(events->first + events->count++) % events->most] = event;
  events_wake (events, event);
  g_mutex_unlock (&events->lock);
  if (old)
    event_unref (old);
}

/* The place of the first event after NUMBER. */
REQUIRES (events)
static gsize
events_find (const struct events *events, gint64 number)
{
  gsize low = 0, high = events->count;
  while (low < high) {
    gsize middle = low + (high - low) / 2;
    if (event_at (events, middle)->number > number)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* ---- where events come from ---- */

/* What a notification is as an event; FALSE: none. Sessions tell of their beginning and end to those who
 * watch the list. */
static gboolean
event_kind_of (enum notification_kind kind, enum notification_change change, enum event_kind *ret_kind)
{
  switch (kind) {
  case NOTIFICATION_SESSION:
    *ret_kind = EVENT_SESSION;
    return change == NOTIFICATION_CHANGED;
  case NOTIFICATION_SESSION_LIST:
    *ret_kind = EVENT_SESSION;
    return change != NOTIFICATION_CHANGED;
  case NOTIFICATION_APPROVAL:
    *ret_kind = EVENT_APPROVAL;
    return TRUE;
  case NOTIFICATION_REVIEW:
    *ret_kind = EVENT_REVIEW;
    return TRUE;
  case NOTIFICATION_DAEMON:
    *ret_kind = EVENT_DAEMON;
    return TRUE;
  default:
    return FALSE;
  }
}

static void
events_take_notification (gpointer data, enum notification_kind kind, enum notification_change change,
                          const char *owner, const char *id)
{
  enum event_kind of;
  if (id && event_kind_of (kind, change, &of))
    events_add (data, event_new (of, change, owner, id));
}

static void
event_run_add (struct event_run *run, enum notification_change change)
{
  struct event *event = event_new (EVENT_RUN, change, run->owner, run->id);
  event->run = g_atomic_rc_box_acquire (run);
  events_add (run->events, event);
}

static void
event_run_ended (gpointer data, const struct request_end *end)
{
  struct event_run *run = data;
  run->outcome = end->outcome;
  run->wall_us = end->wall_us;
  run->has_ended = TRUE;
  event_run_add (run, NOTIFICATION_ENDED);
}

/* A run whose caller gave up before its result has no other end. */
static void
event_run_release (gpointer data)
{
  struct event_run *run = data;
  struct events *events = run->events;
  if (run->has_started && !run->has_ended) {
    run->outcome = ADDER_OUTCOME_CANCELLED;
    event_run_add (run, NOTIFICATION_ENDED);
  }
  g_atomic_rc_box_release_full (run, event_run_clear);
  events_unref (events);
}

struct event_run *
events_watch_run (struct events *events, struct run_request *resolved, gboolean shows_code)
{
  struct event_run *run = g_atomic_rc_box_new0 (struct event_run);
  g_atomic_ref_count_inc (&events->references);
  run->events = events;
  run->owner = g_strdup (resolved->owner);
  run->conversation = g_strdup (resolved->conversation);
  run->session = g_strdup (resolved->session);
  run->front_end = g_strdup (resolved->origin.front_end);
  run->tool = g_strdup (resolved->origin.tool);
  run->code = shows_code ? request_code_start (resolved) : NULL;
  request_observe (resolved, event_run_ended, run, event_run_release);
  return run;
}

void
events_note_start (struct event_run *run, const char *run_id)
{
  g_strlcpy (run->id, run_id, sizeof run->id);
  run->started_us = g_get_real_time ();
  run->has_started = TRUE;
  event_run_add (run, NOTIFICATION_CREATED);
}

/* ---- reading ---- */

/* Appends what QUERY wants to FOUND. */
REQUIRES (events)
static void
events_collect (const struct events *events, const struct event_query *query, GPtrArray *found)
{
  for (gsize i = events_find (events, query->after); i < events->count && found->len < query->limit; i++) {
    struct event *event = event_at (events, i);
    if (event_is_wanted (event, query))
      g_ptr_array_add (found, g_atomic_rc_box_acquire (event));
  }
}

/* The number after which nothing was given yet. Without more events to give that is the present: then later
 * events get a later one. */
REQUIRES (events)
static gint64
events_next (struct events *events, const struct event_query *query, const GPtrArray *found)
{
  if (found->len > 0 && found->len == query->limit)
    return ((const struct event *)found->pdata[found->len - 1])->number;
  events->last = MAX (events->last, g_get_real_time ());
  return events->last;
}

/* TRUE: QUERY is answered. */
REQUIRES (events)
static gboolean
events_look (struct events *events, const struct event_query *query, gboolean waits, GPtrArray *found,
             gint64 *ret_next, gboolean *ret_missed)
{
  gboolean asks_only = query->after < 0;
  gboolean missed = !asks_only && (query->after < events->dropped || query->after > events->last);
  if (!asks_only && query->after <= events->last)
    events_collect (events, query, found);
  if (waits && !asks_only && !missed && found->len == 0 && !events->closed)
    return FALSE;
  *ret_next = events_next (events, query, found);
  *ret_missed = missed;
  return TRUE;
}

GPtrArray *
events_list (struct events *events, const struct event_query *query, gint64 *ret_next, gboolean *ret_missed,
             GError **error)
{
  struct events_waiter waiter = {.query = *query};
  struct pollfd room[INTERRUPT_POLLFDS];
  gboolean waits = query->wait_ms > 0 && query->after >= 0;
  if (waits && !interrupt_init (&waiter.interrupt, query->watch_fd, error))
    return NULL;
  gint64 deadline_us = g_get_monotonic_time () + query->wait_ms * 1000;
  GPtrArray *found = g_ptr_array_new_with_free_func (events_forget);
  g_mutex_lock (&events->lock);
  if (waits)
    events->waiters = g_slist_prepend (events->waiters, &waiter);
  gboolean goes_on = waits;
  while (!events_look (events, &waiter.query, goes_on, found, ret_next, ret_missed)) {
    g_mutex_unlock (&events->lock);
    goes_on = interrupt_wait (&waiter.interrupt, room, 0, deadline_us) == WAIT_WOKEN;
    g_mutex_lock (&events->lock);
    waiter.is_woken = FALSE;
  }
  if (waits)
    events->waiters = g_slist_remove (events->waiters, &waiter);
  g_mutex_unlock (&events->lock);
  if (waits)
    interrupt_clear (&waiter.interrupt);
  return found;
}

/* ---- life ---- */

struct events *
events_new (struct notifications *notifications, gsize most)
{
  struct events *events = g_new0 (struct events, 1);
  g_atomic_ref_count_init (&events->references);
  events->notifications = notifications_ref (notifications);
  events->most = most;
  g_mutex_init (&events->lock);
  events->ring = g_new0 (struct event *, most);
  /* What an earlier process gave is before these. */
  events->last = events->dropped = g_get_real_time ();
  events->subscription = notifications_subscribe (notifications, NULL, events_take_notification, events);
  return events;
}

void
events_close (struct events *events)
{
  g_mutex_lock (&events->lock);
  events->closed = TRUE;
  for (GSList *at = events->waiters; at; at = at->next)
    interrupt_wake (&((struct events_waiter *)at->data)->interrupt);
  g_mutex_unlock (&events->lock);
}

void
events_unref (struct events *events)
{
  if (!events || !g_atomic_ref_count_dec (&events->references))
    return;
  notifications_unsubscribe (events->notifications, events->subscription);
  notifications_unref (events->notifications);
  UNSHARED (events);
  for (gsize i = 0; i < events->count; i++)
    event_unref (event_at (events, i));
  g_free (events->ring);
  g_mutex_clear (&events->lock);
  g_free (events);
}
