/* SPDX-License-Identifier: Apache-2.0 */
/* Subscribers in a list, under one lock that is also held during callbacks. */
#include "common/notifications.h"

#include <string.h>

#include "common/guarded.h"

struct subscriber {
  guint64 number;
  char *owner;
  notifications_callback callback;
  gpointer data;
};

LOCK_CLASS (notifications);

struct notifications {
  gatomicrefcount references;
  gint count; /* number of subscribers; atomic, so that without any nobody takes the lock */
  MUTEX (notifications) lock;
  GUARDED_BY (notifications) GPtrArray *subscribers;
  GUARDED_BY (notifications) guint64 numbers;
};

static void
subscriber_free (gpointer data)
{
  struct subscriber *subscriber = data;
  g_free (subscriber->owner);
  g_free (subscriber);
}

struct notifications *
notifications_new (void)
{
  struct notifications *notifications = g_new0 (struct notifications, 1);
  g_atomic_ref_count_init (&notifications->references);
  g_mutex_init (&notifications->lock);
  notifications->subscribers = g_ptr_array_new_with_free_func (subscriber_free);
  return notifications;
}

struct notifications *
notifications_ref (struct notifications *notifications)
{
  g_atomic_ref_count_inc (&notifications->references);
  return notifications;
}

void
notifications_unref (struct notifications *notifications)
{
  if (!notifications || !g_atomic_ref_count_dec (&notifications->references))
    return;
  UNSHARED (notifications);
  g_ptr_array_unref (notifications->subscribers);
  g_mutex_clear (&notifications->lock);
  g_free (notifications);
}

void
notifications_send (struct notifications *notifications, enum notification_kind kind,
                    enum notification_change change, const char *owner, const char *id)
{
  if (g_atomic_int_get (&notifications->count) == 0)
    return;
  g_mutex_lock (&notifications->lock);
  for (guint i = 0; i < notifications->subscribers->len; i++) {
    const struct subscriber *subscriber = notifications->subscribers->pdata[i];
    if (!owner || !subscriber->owner || strcmp (owner, subscriber->owner) == 0)
      subscriber->callback (subscriber->data, kind, change, owner, id);
  }
  g_mutex_unlock (&notifications->lock);
}

guint64
notifications_subscribe (struct notifications *notifications, const char *owner,
                         notifications_callback callback, gpointer data)
{
  struct subscriber *subscriber = g_new0 (struct subscriber, 1);
  subscriber->owner = g_strdup (owner);
  subscriber->callback = callback;
  subscriber->data = data;
  g_mutex_lock (&notifications->lock);
  subscriber->number = ++notifications->numbers;
  g_ptr_array_add (notifications->subscribers, subscriber);
  g_atomic_int_inc (&notifications->count);
  guint64 number = subscriber->number;
  g_mutex_unlock (&notifications->lock);
  return number;
}

void
notifications_unsubscribe (struct notifications *notifications, guint64 number)
{
  g_mutex_lock (&notifications->lock);
  for (guint i = 0; i < notifications->subscribers->len; i++)
    if (((struct subscriber *)notifications->subscribers->pdata[i])->number == number) {
      g_ptr_array_remove_index_fast (notifications->subscribers, i);
      g_atomic_int_add (&notifications->count, -1);
      break;
    }
  g_mutex_unlock (&notifications->lock);
}
