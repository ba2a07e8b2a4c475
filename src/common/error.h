/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel and libc-only code say to GError, in the domain ADDER_ERROR of include/adder.h. */
#pragma once

#include <glib.h>

#include "base/fault.h"

/* Sets ERROR to "FORMAT...: strerror (ERR)". ERR is an errno of either sign. Returns FALSE, so that a failing
 * function ends in `return error_from_errno (error, errno, "cannot open %s", path);`. */
gboolean error_from_errno (GError **error, int err, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Makes the message of *ERROR, which may be NULL, one line of at most so many bytes (common/text.h): for
 * those that quote what stood in a file. */
#define ERROR_SHOWN_BYTES 600
void error_make_printable (GError **error);

/* Sets ERROR from FAULT: "step: strerror". Returns FALSE. */
gboolean error_from_fault (const struct fault *fault, GError **error);
