/* SPDX-License-Identifier: Apache-2.0 */
#include "common/moment.h"

#include <string.h>

#include "adder_types.h"
#include "common/size.h"
#include "common/text.h"

#define MOMENT_MAX 40 /* bytes */

/* TEXT as ISO 8601 has it: a day is its beginning, a minute too. */
static GDateTime *
parse_date (const char *text)
{
  g_autofree char *whole = NULL;
  gsize length = strlen (text);
  if (length == strlen ("2026-11-22"))
    whole = g_strconcat (text, "T00:00:00", NULL);
  else if (length == strlen ("2026-11-22 05:09"))
    whole = g_strconcat (text, ":00", NULL);
  else
    whole = g_strdup (text);
  if (length > strlen ("2026-11-22") && whole[strlen ("2026-11-22")] == ' ')
    whole[strlen ("2026-11-22")] = 'T';
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  return g_date_time_new_from_iso8601 (whole, utc);
}

gboolean
moment_parse (const char *text, gint64 *ret_ms, GError **error)
{
  guint64 ago_ms;
  gint64 now_ms = g_get_real_time () / 1000;
  g_autoptr (GDateTime) date = strlen (text) <= MOMENT_MAX ? parse_date (text) : NULL;
  if (date) {
    *ret_ms = g_date_time_to_unix (date) * 1000 + g_date_time_get_microsecond (date) / 1000;
    return TRUE;
  }
  /* A bare number would be read as milliseconds, which nobody intends. */
  if (text[0] != '\0' && g_ascii_isalpha (text[strlen (text) - 1]) &&
      duration_parse (text, 1, &ago_ms, NULL) && ago_ms <= (guint64)now_ms) {
    *ret_ms = now_ms - (gint64)ago_ms;
    return TRUE;
  }
  g_autofree char *shown = text_one_line (text, MOMENT_MAX);
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_INVALID,
      "\"%s\" is not a time: write a day (2026-11-22), a moment (2026-11-22T05:09:51Z) or how long ago "
      "it was (2h, 7d)",
      shown);
  return FALSE;
}
