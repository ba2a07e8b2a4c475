/* SPDX-License-Identifier: Apache-2.0 */
/* Environments with added packages being made: who waits for which, and whose turn it is.
 *
 * A request for one that is being made joins it; otherwise a new build is queued until its owner's and the
 * total number allow it. The first in line whose owner may have one more is next, so that an owner with many
 * requests holds up nobody else. A build that has lost all its waiters before its turn is dropped.
 *
 * Each waiter has a socket, on which it gets progress as packets of text. Nothing here waits for one that
 * does not read. */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/guarded.h"
#include "engine/host/environment_with_private.h"

/* Each has a thread. */
#define MAKING_MAX 256

/* Waiters for one build. */
#define LISTENERS_MAX 256

/* Of unread progress: beyond it no more is sent, and the last message still fits. */
#define UNREAD_BYTES (32 << 10)

LOCK_CLASS (making);

struct making {
  char *name, *owner;
  GArray *listeners; /* int: sockets */
  gboolean runs;     /* it is its turn */
};

static MUTEX (making) making_lock;
static GCond making_changed;
GUARDED_BY (making) static GQueue making_all; /* struct making, in order of arrival */

static void
making_free (struct making *making)
{
  g_free (making->name);
  g_free (making->owner);
  g_array_unref (making->listeners);
  g_free (making);
}

/* ---- who waits ---- */

static gboolean
making_is_gone (int fd)
{
  struct pollfd polled = {.fd = fd};
  return poll (&polled, 1, 0) > 0 && (polled.revents & (POLLHUP | POLLERR));
}

/* Forgets the waiters that have left. Returns whether any remain. */
REQUIRES (making)
static gboolean
making_is_awaited (struct making *making)
{
  for (guint i = making->listeners->len; i > 0; i--) {
    int fd = g_array_index (making->listeners, int, i - 1);
    if (!making_is_gone (fd))
      continue;
    close (fd);
    g_array_remove_index_fast (making->listeners, i - 1);
  }
  return making->listeners->len > 0;
}

REQUIRES (making)
static void
making_say (struct making *making, const char *text)
{
  for (guint i = 0; i < making->listeners->len; i++) {
    int fd = g_array_index (making->listeners, int, i), unread = 0;
    if (ioctl (fd, SIOCOUTQ, &unread) == 0 && unread < UNREAD_BYTES)
      (void)send (fd, text, strlen (text), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

REQUIRES (making)
static struct making *
making_find (const char *name)
{
  for (GList *link = making_all.head; link; link = link->next)
    if (g_str_equal (((struct making *)link->data)->name, name))
      return link->data;
  return NULL;
}

/* ---- turns ---- */

/* How many are being made now, of OWNER or (NULL) in all. */
REQUIRES (making)
static guint64
making_count_running (const char *owner)
{
  guint64 count = 0;
  for (GList *link = making_all.head; link; link = link->next) {
    const struct making *making = link->data;
    count += making->runs && (!owner || g_str_equal (making->owner, owner));
  }
  return count;
}

/* OWNER's queued builds that still have waiters. */
REQUIRES (making)
static guint64
making_count_waiting (const char *owner)
{
  guint64 count = 0;
  for (GList *link = making_all.head; link; link = link->next) {
    struct making *making = link->data;
    count += !making->runs && g_str_equal (making->owner, owner) && making_is_awaited (making);
  }
  return count;
}

/* Whether it is the turn of MAKING: it is the first in line whose owner may have one more. */
REQUIRES (making)
static gboolean
making_is_next (const struct making *making, const struct making_bounds *bounds)
{
  if (making_count_running (NULL) >= bounds->most)
    return FALSE;
  for (GList *link = making_all.head; link; link = link->next) {
    const struct making *other = link->data;
    if (!other->runs && making_count_running (other->owner) < bounds->of_owner)
      return other == making;
  }
  return FALSE;
}

gboolean
making_await_turn (struct making *making, const struct making_bounds *bounds, const char *text,
                   GError **error)
{
  gint64 deadline_us = g_get_monotonic_time () + (gint64)bounds->wait_ms * 1000;
  gboolean in_time = TRUE, awaited = TRUE;
  g_mutex_lock (&making_lock);
  if (!making_is_next (making, bounds))
    making_say (making, text);
  while (in_time && awaited && !making_is_next (making, bounds)) {
    in_time = g_cond_wait_until (&making_changed, &making_lock, deadline_us);
    awaited = making_is_awaited (making);
  }
  making->runs = in_time && awaited;
  /* Whoever asks for the same from now on begins it anew, instead of sharing this end. */
  if (!making->runs)
    g_queue_remove (&making_all, making);
  /* There may be room for another. */
  g_cond_broadcast (&making_changed);
  g_mutex_unlock (&making_lock);
  if (!in_time)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "other packages took so long to install (%" G_GUINT64_FORMAT
                 " s) that these were not begun ([packages] builds): ask again later",
                 bounds->wait_ms / 1000);
  else if (!awaited)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "nothing waits for these packages any more");
  return in_time && awaited;
}

/* ---- beginning and end ---- */

/* Those without waiters end by themselves when they check. Returns how many are left. */
REQUIRES (making)
static guint
making_count_wanted (void)
{
  guint count = 0;
  for (GList *link = making_all.head; link; link = link->next) {
    struct making *making = link->data;
    count += making->runs || making_is_awaited (making);
  }
  if (count < g_queue_get_length (&making_all))
    g_cond_broadcast (&making_changed);
  return count;
}

REQUIRES (making)
static gboolean
making_has_room (const struct making *making, const struct making_bounds *bounds, GError **error)
{
  guint64 waiting = making_count_waiting (making->owner);
  if (making_count_wanted () >= MAKING_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "packages of %d other runs are being installed: ask again later", MAKING_MAX);
    return FALSE;
  }
  gboolean waits = waiting > 0 || making_count_running (NULL) >= bounds->most ||
                   making_count_running (making->owner) >= bounds->of_owner;
  if (!waits || waiting < bounds->waiting)
    return TRUE;
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_BUSY,
      "%" G_GUINT64_FORMAT " other sets of packages of this caller are being installed and %" G_GUINT64_FORMAT
      " wait for that ([packages] builds_per_owner, builds_waiting_per_owner): ask again when one of "
      "them is done",
      making_count_running (making->owner), waiting);
  return FALSE;
}

/* FD gets the messages of MAKING, unless it has too many listeners. */
REQUIRES (making)
static gboolean
making_listen (struct making *making, int fd, GError **error)
{
  (void)making_is_awaited (making);
  if (making->listeners->len >= LISTENERS_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "%d other runs wait for the same packages: ask again later", LISTENERS_MAX);
    return FALSE;
  }
  g_array_append_val (making->listeners, fd);
  return TRUE;
}

struct making *
making_begin (const char *name, const char *owner, const struct making_bounds *bounds, int fd,
              gboolean *ret_listens, GError **error)
{
  struct making *made = g_new0 (struct making, 1);
  made->name = g_strdup (name);
  made->owner = g_strdup (owner ? owner : "");
  made->listeners = g_array_new (FALSE, FALSE, sizeof (int));
  g_mutex_lock (&making_lock);
  struct making *there = making_find (name);
  gboolean begins = !there && making_has_room (made, bounds, error);
  *ret_listens = (there || begins) && making_listen (there ? there : made, fd, error);
  if (begins)
    g_queue_push_tail (&making_all, made);
  g_mutex_unlock (&making_lock);
  if (!begins)
    making_free (made);
  return begins ? made : NULL;
}

void
making_tell (struct making *making, const char *text)
{
  g_mutex_lock (&making_lock);
  making_say (making, text);
  g_mutex_unlock (&making_lock);
}

void
making_end (struct making *making, const char *text)
{
  g_mutex_lock (&making_lock);
  g_queue_remove (&making_all, making);
  g_cond_broadcast (&making_changed);
  g_mutex_unlock (&making_lock);
  for (guint i = 0; i < making->listeners->len; i++) {
    int fd = g_array_index (making->listeners, int, i);
    (void)send (fd, text, strlen (text), MSG_NOSIGNAL | MSG_DONTWAIT);
    close (fd);
  }
  making_free (making);
}
