/* SPDX-License-Identifier: Apache-2.0 */
/* A failure in code that may use nothing but libc: which step failed, and with what errno.
 * It holds no pointers, so that it crosses from a sandbox or a zygote to the daemon whole. */
#pragma once

#define FAULT_STEP_BYTES 160

struct fault {
  int err;                     /* a positive errno; 0: nothing failed */
  char step[FAULT_STEP_BYTES]; /* "cannot mount tmpfs on /tmp": operation and object, no full stop, always
                                  terminated */
};

/* Fills FAULT (which may be NULL) with ERR, a positive errno, and a formatted step. Returns -ERR, so that a
 * failing function ends in `return fault_set (fault, errno, "cannot open %s", path);`. */
int fault_set (struct fault *fault, int err, const char *format, ...) __attribute__ ((format (printf, 3, 4)));

/* The same with TEXT of elsewhere as the step. Of one that is too long, its beginning and its end are kept,
 * each in whole characters of UTF-8: words of a program often begin with how it was called, and end with what
 * failed. */
int fault_set_text (struct fault *fault, int err, const char *text);
