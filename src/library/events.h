/* SPDX-License-Identifier: Apache-2.0 */
/* What changed lately: runs, sessions, approvals, reviews and the daemon itself, in one bounded ring for any
 * number of readers that come and go. Writers never wait for readers, and a reader that is too slow is told
 * so.
 *
 * An event is numbered by the microsecond at which it happened, so that numbers grow over restarts of a
 * daemon, and gaps between them tell nobody how much others do. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/notifications.h"
#include "engine/host/id.h"
#include "engine/request/request.h"

enum event_kind { EVENT_RUN, EVENT_SESSION, EVENT_APPROVAL, EVENT_REVIEW, EVENT_DAEMON, EVENT_KINDS };
extern const char *const event_kind_names[]; /* ends with NULL */

struct event_run;

/* Never changes. g_atomic_rc_box. */
struct event {
  gint64 number;
  enum event_kind kind;
  enum notification_change change;
  char *owner; /* "" for none; of EVENT_DAEMON, which everybody sees */
  char id[ID_BYTES];
  struct event_run *run; /* of EVENT_RUN */
};
void event_unref (struct event *event);
typedef struct event event_auto; /* for g_autoptr */

/* "created", "changed" or "ended". */
const char *event_change_name (const struct event *event);
/* Of EVENT_RUN: the run as it was then, as run.list has it, with the beginning of its code, and "outcome" and
 * "wall_ms", which are null until it ends. The caller's. */
json_t *event_run_to_json (const struct event *event);

struct events;

/* MOST: events that it holds. Subscribes to NOTIFICATIONS, which is referenced. With one reference. */
struct events *events_new (struct notifications *notifications, gsize most);
/* Ends all waiting, for good. */
void events_close (struct events *events);
/* After events_close. NULL is allowed. */
void events_unref (struct events *events);

/* Makes EVENTS hold when RESOLVED ends. What is returned is to be given to events_note_start when its run
 * has started, before anything else is done with that. SHOWS_CODE: the beginning of its code is held as well.
 */
struct event_run *events_watch_run (struct events *events, struct run_request *resolved, gboolean shows_code);
void events_note_start (struct event_run *run, const char *run_id);

struct event_query {
  const char *owner; /* NULL: of everybody */
  guint kinds;       /* 1 << enum event_kind */
  gint64 after;      /* the number after which to begin; negative: only the present number is wanted */
  guint limit;
  gint64 wait_ms; /* how long to wait for one, if there is none */
  int watch_fd;   /* a socket: the wait ends when its peer hangs up; -1: none */
};

/* The events of QUERY, oldest first (struct event, the array's); may be none. *RET_NEXT is the number to ask
 * with next. *RET_MISSED: events between `after` and these may have been dropped, or happened in an earlier
 * process. NULL with ERROR: no descriptor is left to wait with. */
GPtrArray *events_list (struct events *events, const struct event_query *query, gint64 *ret_next,
                        gboolean *ret_missed, GError **error);
