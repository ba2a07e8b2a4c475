/* SPDX-License-Identifier: Apache-2.0 */
/* Watching what code asks of the sandbox: Python's audit events, sifted, and limits that the kernel enforces
 * without ending anything. */
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <stdbool.h>

/* Calls CALLABLE (event, arguments) for each audit event that may be refused, from now on and in all forked
 * processes. To be called once. Where the interpreter has no such hooks, nothing happens. Returns 0, or -1
 * with an exception. */
int audit_watch (PyObject *callable);

/* Has the interpreter raise its events here, also where nobody wants to be called: for watch.h. May be called
 * again. Returns 0, or -1 with an exception. */
int audit_listen (void);

/* In a sandbox, before its code runs: limits that are met are noted from now on, those of its child processes
 * too. Returns 0 or a negative errno. */
int audit_note_limits (void);

/* What was noted counts no more: another cell of a session begins. */
void audit_forget_limits (void);

/* In a sandbox with landlock alone before the host's files: access () knows nothing of that, so whether a
 * file can be read is tried from now on. */
void audit_try_reading (void);

/* The names of the limits that were met as a new list, None when there are none, which is the usual and costs
 * three system calls; NULL with an exception. THREADS: the code has some. */
PyObject *audit_limits_met (bool threads);
