/* SPDX-License-Identifier: Apache-2.0 */
/* One at a time, in the order of asking: who may use a session. Has no lock of its own. */
#pragma once

#include <glib.h>

#include "engine/host/interrupt.h"

struct ticket_lock {
  gboolean held;
  GQueue waiting; /* struct ticket */
};

/* Who waits; embedded in what waits, or on its stack. */
struct ticket {
  struct interrupt *interrupt; /* woken when it has the lock */
  gboolean served;             /* it is */
  GList link;
};

/* Takes the lock when nobody holds it. Returns whether it did. */
gboolean ticket_lock_try (struct ticket_lock *lock);

/* Waits behind all others. Left by ticket_lock_leave, or when it is served. */
void ticket_lock_enter (struct ticket_lock *lock, struct ticket *ticket, struct interrupt *interrupt);
void ticket_lock_leave (struct ticket_lock *lock, struct ticket *ticket);

/* Gives up the lock: the next who waits holds it and is woken. */
void ticket_lock_release (struct ticket_lock *lock);

/* Has all who wait look again, for what they wait for has changed. */
void ticket_lock_wake_all (struct ticket_lock *lock);
