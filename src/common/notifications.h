/* SPDX-License-Identifier: Apache-2.0 */
/* What changed, for those who want to know: told by who changed it, to subscribers of the same owner. Costs
 * nothing without subscribers. */
#pragma once

#include <glib.h>

enum notification_kind {
  NOTIFICATION_SESSION,      /* it is busy, idle, or has ended: its id */
  NOTIFICATION_SESSION_LIST, /* there is one more, or one less: its id */
  NOTIFICATION_FILE,         /* one was kept, or is gone: its id */
  NOTIFICATION_TOOLS,        /* tools were switched on or off; no id, and everybody's */
};

struct notifications;

/* With one reference. */
struct notifications *notifications_new (void);
struct notifications *notifications_ref (struct notifications *notifications);
/* NULL is allowed. */
void notifications_unref (struct notifications *notifications);

/* OWNER NULL: everybody's. ID may be NULL. May be called with locks held: subscribers do not wait. */
void notifications_send (struct notifications *notifications, enum notification_kind kind, const char *owner,
                         const char *id);

/* Called in the thread of who tells, whose locks it knows nothing of: it must not wait, ask for anything, or
 * call notifications_subscribe and notifications_unsubscribe. */
typedef void (*notifications_callback) (gpointer data, enum notification_kind kind, const char *owner,
                                        const char *id);

/* CALLBACK is told of what changes of OWNER (NULL: of all), until notifications_unsubscribe with what is
 * returned. */
guint64 notifications_subscribe (struct notifications *notifications, const char *owner,
                                 notifications_callback callback, gpointer data);
/* When it returns, CALLBACK is not at work and is not called any more. */
void notifications_unsubscribe (struct notifications *notifications, guint64 number);
