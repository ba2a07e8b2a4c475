/* SPDX-License-Identifier: Apache-2.0 */
/* One at a time, in order of arrival: exclusive use of a session. No lock of its own. */
#pragma once

#include <glib.h>

#include "engine/host/interrupt.h"

struct ticket_lock {
  gboolean held;
  GQueue waiting; /* struct ticket */
};

/* A waiter; embedded in its owner, or on its stack. */
struct ticket {
  struct interrupt *interrupt; /* woken when it has the lock */
  gboolean served;             /* it has it */
  GList link;
};

/* Takes the lock when nobody holds it. Returns whether it did. */
gboolean ticket_lock_try (struct ticket_lock *lock);

/* Waits behind all others, until ticket_lock_leave or until it is served. */
void ticket_lock_enter (struct ticket_lock *lock, struct ticket *ticket, struct interrupt *interrupt);
void ticket_lock_leave (struct ticket_lock *lock, struct ticket *ticket);

/* Gives up the lock: the next waiter holds it and is woken. */
void ticket_lock_release (struct ticket_lock *lock);

/* Wakes all waiters to check again, since their condition has changed. */
void ticket_lock_wake_all (struct ticket_lock *lock);
