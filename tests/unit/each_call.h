/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of this program's own code to the system, GLib and SQLite that fail. A test runs a step again and
 * again; each time one call fails, which failed at no earlier time: one at another place, or reached by other
 * callers. It ends when no such call is left. Only for programs with `wraps` in meson.build, whose linker
 * leads these calls here (--wrap); what libraries do among themselves goes past it. It is for what has
 * threads, or is dear to set up: failing.h knows all calls, of a process that is forked each time. */
#pragma once

#include <glib.h>

enum call_fault {
  CALL_ERROR,       /* with EIO, or what says that in a call without errno */
  CALL_FULL,        /* calls that write: ENOSPC */
  CALL_INTERRUPTED, /* calls that a signal can interrupt: EINTR */
  CALL_SHORT,       /* calls that read: nothing more is there */
};

/* FALSE with ERROR: it was refused. */
typedef gboolean (*call_step) (gpointer data, GError **error);

/* What must hold after each time, whatever failed; may be NULL. */
typedef void (*call_check) (gpointer data, gboolean done);

/* Calls of all threads fail, or those of this one. */
enum call_reach { CALLS_HERE, CALLS_EVERYWHERE };

/* Runs STEP until none of its calls is left to fail as KIND. Each time STEP must either succeed or set an
 * error. An interrupted call must not be noticed at all: STEP must succeed. Returns how many calls failed. */
guint each_call_fails (enum call_fault kind, enum call_reach reach, call_step step, call_check check,
                       gpointer data);
