/* SPDX-License-Identifier: Apache-2.0 */
/* From errors of the kernel and libc-only code to GError, in the domain ADDER_ERROR of include/adder.h. */
#pragma once

#include <glib.h>

#include "base/fault.h"

/* Sets ERROR to "FORMAT...: strerror (ERR)". ERR is an errno of either sign. Returns FALSE, so that a failing
 * function ends in `return error_from_errno (error, errno, "cannot open %s", path);`. */
gboolean error_from_errno (GError **error, int err, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Makes the message of *ERROR, which may be NULL, one line of at most so many bytes (common/text.h): for
 * messages that quote a file. */
#define ERROR_SHOWN_BYTES 600
void error_make_printable (GError **error);

/* For errors of the store: *ERROR becomes ADDER_ERROR_UNAVAILABLE, unless it is about the request or about
 * too few descriptors. ERROR may be NULL. Returns FALSE. */
gboolean error_make_unavailable (GError **error);

/* Advice for a person at a terminal only: a command that helps. Appended to the message of *ERROR with its
 * own punctuation ("; adder tool list lists them"), and kept distinct from it, unless the message goes into
 * that of another error. ERROR may be NULL. Only for ADDER_ERROR. */
void error_add_advice (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* The same for advice that helps every caller; one with better advice takes error_fact. */
void error_add_general_advice (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* The message without advice of either kind. The caller's. */
char *error_fact (const GError *error);
/* The message, without that of a terminal unless it is read AT_TERMINAL. The caller's. */
char *error_told (const GError *error, gboolean at_terminal);

/* The reason quoted by the message, for those who quote it elsewhere. ERROR may be NULL; REASON is copied.
 * error_reason is the error's; NULL: none was set. */
void error_set_reason (GError **error, const char *reason);
const char *error_reason (const GError *error);

/* Retrying later will not help, though the code is ADDER_ERROR_BUSY. ERROR may be NULL. */
void error_mark_lasting (GError **error);
gboolean error_is_lasting (const GError *error);

/* Sets ERROR from FAULT: "step: strerror". Returns FALSE. */
gboolean error_from_fault (const struct fault *fault, GError **error);
