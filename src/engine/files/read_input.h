/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what a caller's descriptors hold: copies with a bound, a deadline and an ear for the caller hanging
 * up. */
#pragma once

#include <glib.h>

#include "engine/host/interrupt.h"

/* Copies what is left of FROM into TO, at most MOST bytes; more is ADDER_ERROR_INVALID, which names WHAT and
 * MOST. Waiting for a pipe ends at DEADLINE_US (ADDER_ERROR_TIMEOUT) or when the caller is gone
 * (ADDER_ERROR_CANCELLED). TO running out of space is ADDER_ERROR_INVALID as well. */
gboolean input_copy (int from, int to, guint64 most, const char *what, struct interrupt *interrupt,
                     gint64 deadline_us, GError **error);

/* All of FROM, at most MOST bytes, in a memfd that nobody can change any more, at its beginning. Returns the
 * descriptor or -1 with ERROR. */
int input_read (int from, guint64 most, const char *what, struct interrupt *interrupt, gint64 deadline_us,
                GError **error);
