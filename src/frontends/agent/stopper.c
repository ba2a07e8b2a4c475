/* SPDX-License-Identifier: Apache-2.0 */
#include "frontends/agent/stopper.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "base/fd.h"
#include "common/error.h"

struct stopper {
  struct call_target *target;
  int fd;
  GThread *clock;
  GMutex lock; /* of what follows */
  GCond ended;
  gboolean under_way;
  gint64 deadline_us;
  enum stopper_reason reason;
};

struct stopper *
stopper_new (struct call_target *target, GError **error)
{
  int fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make an eventfd");
    return NULL;
  }
  struct stopper *stopper = g_new0 (struct stopper, 1);
  stopper->target = target;
  stopper->fd = fd;
  g_mutex_init (&stopper->lock);
  g_cond_init (&stopper->ended);
  return stopper;
}

void
stopper_free (struct stopper *stopper)
{
  if (!stopper)
    return;
  stopper_end (stopper);
  fd_close (&stopper->fd);
  g_mutex_clear (&stopper->lock);
  g_cond_clear (&stopper->ended);
  g_free (stopper);
}

/* With the lock. The first reason is the one that is told. */
static void
stop (struct stopper *stopper, enum stopper_reason reason)
{
  if (stopper->reason != STOPPER_NONE)
    return;
  stopper->reason = reason;
  (void)eventfd_write (stopper->fd, 1);
  call_target_cancel (stopper->target);
}

static gpointer
clock_thread (gpointer data)
{
  struct stopper *stopper = data;
  g_mutex_lock (&stopper->lock);
  while (stopper->under_way && stopper->reason == STOPPER_NONE)
    if (!g_cond_wait_until (&stopper->ended, &stopper->lock, stopper->deadline_us) && stopper->under_way)
      stop (stopper, STOPPER_TIME);
  g_mutex_unlock (&stopper->lock);
  return NULL;
}

void
stopper_begin (struct stopper *stopper, gint64 deadline_us)
{
  stopper->deadline_us = deadline_us;
  stopper->under_way = TRUE;
  stopper->clock = g_thread_new ("clock", clock_thread, stopper);
}

void
stopper_end (struct stopper *stopper)
{
  eventfd_t count;
  g_mutex_lock (&stopper->lock);
  stopper->under_way = FALSE;
  g_cond_broadcast (&stopper->ended);
  g_mutex_unlock (&stopper->lock);
  g_clear_pointer (&stopper->clock, g_thread_join);
  g_mutex_lock (&stopper->lock);
  stopper->reason = STOPPER_NONE;
  (void)eventfd_read (stopper->fd, &count);
  call_target_resume (stopper->target);
  g_mutex_unlock (&stopper->lock);
}

void
stopper_cancel (struct stopper *stopper)
{
  g_mutex_lock (&stopper->lock);
  stop (stopper, STOPPER_CANCELLED);
  g_mutex_unlock (&stopper->lock);
}

int
stopper_fd (const struct stopper *stopper)
{
  return stopper->fd;
}

enum stopper_reason
stopper_why (struct stopper *stopper)
{
  g_mutex_lock (&stopper->lock);
  enum stopper_reason reason = stopper->reason;
  g_mutex_unlock (&stopper->lock);
  return reason;
}
