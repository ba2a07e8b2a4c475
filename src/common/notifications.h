/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications of changes, sent by whoever made them to subscribers of the same owner. Costs nothing without
 * subscribers. */
#pragma once

#include <glib.h>

enum notification_kind {
  NOTIFICATION_SESSION,      /* it is busy, idle, or has ended: its id */
  NOTIFICATION_SESSION_LIST, /* there is one more, or one less: its id */
  NOTIFICATION_FILE,         /* one was kept, or is gone: its id */
  NOTIFICATION_TOOLS,        /* tools were switched on or off; no id, and everybody's */
  NOTIFICATION_APPROVAL,     /* it is asked for, decided, or gone: its id */
  NOTIFICATION_REVIEW,       /* it waits, or is settled: its id */
  NOTIFICATION_DAEMON,       /* its program was replaced: the id is "daemon", and it is everybody's */
};

enum notification_change { NOTIFICATION_CREATED, NOTIFICATION_CHANGED, NOTIFICATION_ENDED };

struct notifications;

/* With one reference. */
struct notifications *notifications_new (void);
struct notifications *notifications_ref (struct notifications *notifications);
/* NULL is allowed. */
void notifications_unref (struct notifications *notifications);

/* OWNER NULL: everybody's. ID may be NULL. May be called with locks held: subscribers do not block. */
void notifications_send (struct notifications *notifications, enum notification_kind kind,
                         enum notification_change change, const char *owner, const char *id);

/* Called in the notifier's thread, which may hold locks: it must not wait, query anything, or call
 * notifications_subscribe and notifications_unsubscribe. */
typedef void (*notifications_callback) (gpointer data, enum notification_kind kind,
                                        enum notification_change change, const char *owner, const char *id);

/* Calls CALLBACK for changes of OWNER (NULL: of all), until notifications_unsubscribe with the returned
 * value. */
guint64 notifications_subscribe (struct notifications *notifications, const char *owner,
                                 notifications_callback callback, gpointer data);
/* Once it returns, CALLBACK is not running and not called any more. */
void notifications_unsubscribe (struct notifications *notifications, guint64 number);
