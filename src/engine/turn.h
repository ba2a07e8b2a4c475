/* SPDX-License-Identifier: Apache-2.0 */
/* One at a time, in the order of asking: whose turn it is at a session. Has no lock of its own. */
#pragma once

#include <glib.h>

#include "engine/interrupt.h"

struct turn {
  gboolean held;
  GQueue waiting; /* struct turn_place */
};

/* Who waits; embedded in what waits, or on its stack. */
struct turn_place {
  struct interrupt *interrupt; /* woken when it is its turn */
  gboolean served;             /* it is */
  GList link;
};

/* Takes the turn when nobody has it. Returns whether it did. */
gboolean turn_try (struct turn *turn);

/* Waits behind all others. Left by turn_leave, or when it is served. */
void turn_enter (struct turn *turn, struct turn_place *place, struct interrupt *interrupt);
void turn_leave (struct turn *turn, struct turn_place *place);

/* Gives up the turn: the next who waits has it and is woken. */
void turn_pass (struct turn *turn);

/* Has all who wait look again, for what they wait for has changed. */
void turn_wake_all (struct turn *turn);
