/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a turn of an agent at once, in the middle of a question or a call: the user, or the clock. */
#pragma once

#include <glib.h>

#include "frontends/call_target.h"

struct stopper;

enum stopper_reason { STOPPER_NONE, STOPPER_CANCELLED, STOPPER_TIME };

/* TARGET, whose calls it ends, must outlive it. NULL with ERROR. */
struct stopper *stopper_new (struct call_target *target, GError **error);
/* NULL is allowed. */
void stopper_free (struct stopper *stopper);

/* From now on, until stopper_end, time is over at DEADLINE_US. What was cancelled before it began is
 * cancelled still. */
void stopper_begin (struct stopper *stopper, gint64 deadline_us);
/* Why it was stopped is forgotten. */
void stopper_end (struct stopper *stopper);

/* From any thread. */
void stopper_cancel (struct stopper *stopper);

/* It can be read when it is time to stop. */
int stopper_fd (const struct stopper *stopper);
enum stopper_reason stopper_why (struct stopper *stopper);
