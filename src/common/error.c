/* SPDX-License-Identifier: Apache-2.0 */
/* From errors of the kernel and libc-only code to GError. */
#include "common/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "adder_types.h"
#include "common/text.h"

/* What an error carries beside its message. */
typedef struct {
  char *advice;        /* the end of the message; NULL: there is none */
  gboolean for_anyone; /* ADVICE is not only for a terminal */
  char *reason;        /* quoted by the message, or NULL */
  gboolean lasting;
} AdderErrorPrivate;

/* GLib's macro calls these for NULL as well, as gcc's analyzer reads it. */
static void
adder_error_private_init (AdderErrorPrivate *own)
{
  if (own)
    *own = (AdderErrorPrivate){0};
}

static void
adder_error_private_copy (const AdderErrorPrivate *from, AdderErrorPrivate *to)
{
  if (from && to)
    *to = (AdderErrorPrivate){g_strdup (from->advice), from->for_anyone, g_strdup (from->reason),
                              from->lasting};
}

static void
adder_error_private_clear (AdderErrorPrivate *own)
{
  if (!own)
    return;
  g_free (own->advice);
  g_free (own->reason);
}

/* Unlike the static of G_DEFINE_QUARK, its own is written once, before any thread reads it. */
G_DEFINE_EXTENDED_ERROR (AdderError, adder_error)

/* Before a module makes an error (error_quark.c). */
__attribute__ ((constructor)) static void
error_register (void)
{
  (void)adder_error_quark ();
}

/* NULL: *ERROR is not ours. */
static AdderErrorPrivate *
error_own (const GError *error)
{
  return error && error->domain == ADDER_ERROR ? adder_error_get_private (error) : NULL;
}

static void error_append (GError **error, gboolean for_anyone, const char *format, va_list args)
    G_GNUC_PRINTF (3, 0);

static void
error_append (GError **error, gboolean for_anyone, const char *format, va_list args)
{
  if (!error || !*error)
    return;
  g_autofree char *advice = g_strdup_vprintf (format, args);
  char *message = g_strconcat ((*error)->message, advice, NULL);
  g_free ((*error)->message);
  (*error)->message = message;
  AdderErrorPrivate *own = error_own (*error);
  if (!own)
    return;
  g_free (own->advice);
  own->advice = g_steal_pointer (&advice);
  own->for_anyone = for_anyone;
}

void
error_add_advice (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  error_append (error, FALSE, format, args);
  va_end (args);
}

void
error_add_general_advice (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  error_append (error, TRUE, format, args);
  va_end (args);
}

char *
error_fact (const GError *error)
{
  const AdderErrorPrivate *own = error_own (error);
  gsize length = strlen (error->message);
  if (own && own->advice && g_str_has_suffix (error->message, own->advice))
    length -= strlen (own->advice);
  return g_strndup (error->message, length);
}

char *
error_told (const GError *error, gboolean at_terminal)
{
  const AdderErrorPrivate *own = error_own (error);
  return at_terminal || !own || own->for_anyone ? g_strdup (error->message) : error_fact (error);
}

void
error_set_reason (GError **error, const char *reason)
{
  AdderErrorPrivate *own = error ? error_own (*error) : NULL;
  if (!own)
    return;
  g_free (own->reason);
  own->reason = g_strdup (reason);
}

const char *
error_reason (const GError *error)
{
  const AdderErrorPrivate *own = error_own (error);
  return own ? own->reason : NULL;
}

void
error_mark_lasting (GError **error)
{
  AdderErrorPrivate *own = error ? error_own (*error) : NULL;
  if (own)
    own->lasting = TRUE;
}

gboolean
error_is_lasting (const GError *error)
{
  const AdderErrorPrivate *own = error_own (error);
  return own && own->lasting;
}

/* What errno means to a caller that decides by code; everything else is "failed". */
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
  /* Others will give theirs back. */
  case EMFILE:
  case ENFILE:
    return ADDER_ERROR_BUSY;
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

gboolean
error_make_unavailable (GError **error)
{
  static const AdderError codes[] = {ADDER_ERROR_FAILED, ADDER_ERROR_NOT_FOUND, ADDER_ERROR_TIMEOUT};
  for (gsize i = 0; error && *error && i < G_N_ELEMENTS (codes); i++)
    if (g_error_matches (*error, ADDER_ERROR, (gint)codes[i])) {
      (*error)->code = ADDER_ERROR_UNAVAILABLE;
      break;
    }
  return FALSE;
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
