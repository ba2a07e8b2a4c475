/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of waiters. */
#include "engine/session/ticket_lock.h"

gboolean
ticket_lock_try (struct ticket_lock *lock)
{
  /* Giving up the lock serves a waiter, so it is free only when nobody waits. */
  if (lock->held)
    return FALSE;
  lock->held = TRUE;
  return TRUE;
}

void
ticket_lock_enter (struct ticket_lock *lock, struct ticket *ticket, struct interrupt *interrupt)
{
  *ticket = (struct ticket){.interrupt = interrupt, .link = {.data = ticket}};
  g_queue_push_tail_link (&lock->waiting, &ticket->link);
}

void
ticket_lock_leave (struct ticket_lock *lock, struct ticket *ticket)
{
  g_queue_unlink (&lock->waiting, &ticket->link);
}

void
ticket_lock_release (struct ticket_lock *lock)
{
  GList *link = g_queue_pop_head_link (&lock->waiting);
  lock->held = link != NULL;
  if (!link)
    return;
  struct ticket *ticket = link->data;
  ticket->served = TRUE;
  interrupt_wake (ticket->interrupt);
}

void
ticket_lock_wake_all (struct ticket_lock *lock)
{
  for (GList *link = lock->waiting.head; link; link = link->next)
    interrupt_wake (((struct ticket *)link->data)->interrupt);
}
