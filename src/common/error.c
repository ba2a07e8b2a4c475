/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel and libc-only code say to GError. */
#include "common/error.h"

#include <errno.h>
#include <stdlib.h>

#include "adder_types.h"
#include "common/text.h"

/* Not G_DEFINE_QUARK, whose static is read and written by threads in no order. */
GQuark
adder_error_quark (void)
{
  return g_quark_from_static_string ("adder-error-quark");
}

/* What errno means to a caller who decides by code; all the rest is "failed". */
static AdderError
error_code_of (int err)
{
  switch (err) {
  case ENOENT:
    return ADDER_ERROR_NOT_FOUND;
  case ETIMEDOUT:
    return ADDER_ERROR_TIMEOUT;
  case ECANCELED:
    return ADDER_ERROR_CANCELLED;
  default:
    return ADDER_ERROR_FAILED;
  }
}

gboolean
error_from_errno (GError **error, int err, const char *format, ...)
{
  err = abs (err);
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, ADDER_ERROR, error_code_of (err), "%s: %s", what, g_strerror (err));
  return FALSE;
}

gboolean
error_from_fault (const struct fault *fault, GError **error)
{
  return error_from_errno (error, fault->err, "%s", fault->step);
}

void
error_make_printable (GError **error)
{
  if (!error || !*error)
    return;
  char *shown = text_one_line ((*error)->message, ERROR_SHOWN_BYTES);
  g_free ((*error)->message);
  (*error)->message = shown;
}
