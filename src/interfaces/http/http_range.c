/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/http_range.h"

#include <string.h>

#include "base/fd.h"
#include "common/json.h"

/* ---- ranges ---- */

/* Digits at *AT, which moves behind them. FALSE: there are none, or too many. */
static gboolean
http_range_read_number (const char **at, guint64 *ret_number)
{
  gsize digits = strspn (*at, "0123456789");
  if (digits == 0 || digits > 18)
    return FALSE;
  *ret_number = g_ascii_strtoull (*at, NULL, 10);
  *at += digits;
  return TRUE;
}

enum http_range
http_range_parse (const char *text, guint64 total, guint64 *ret_first, guint64 *ret_length)
{
  static const char unit[] = "bytes=";
  if (!text || g_ascii_strncasecmp (text, unit, strlen (unit)) != 0)
    return HTTP_RANGE_NONE;
  const char *at = text + strlen (unit);
  guint64 first = 0, last = 0;
  gboolean has_first = http_range_read_number (&at, &first);
  if (*at != '-')
    return HTTP_RANGE_NONE;
  at++;
  gboolean has_last = http_range_read_number (&at, &last);
  /* Several ranges are ignored: RFC 9110 lets a server do so. */
  if (*at != '\0' || (!has_first && !has_last) || (has_first && has_last && last < first))
    return HTTP_RANGE_NONE;
  if (has_first ? first >= total : last == 0 || total == 0)
    return HTTP_RANGE_WRONG;
  if (!has_first) {
    *ret_length = MIN (last, total);
    *ret_first = total - *ret_length;
    return HTTP_RANGE_PART;
  }
  *ret_first = first;
  *ret_length = (has_last ? MIN (last, total - 1) : total - 1) - first + 1;
  return HTTP_RANGE_PART;
}

gboolean
http_range_has_tag (const char *list, const char *tag, gboolean weak)
{
  g_auto (GStrv) items = list ? g_strsplit (list, ",", 64) : NULL;
  for (guint i = 0; items && items[i]; i++) {
    const char *item = g_strstrip (items[i]);
    if (weak && g_str_has_prefix (item, "W/"))
      item += 2;
    if (strcmp (item, tag) == 0 || strcmp (item, "*") == 0)
      return TRUE;
  }
  return FALSE;
}

/* ---- what a browser may do with it ---- */

/* Types without scripts that browsers display. */
static gboolean
is_harmless (const char *type)
{
  static const char *const shown[] = {"image/png",  "image/jpeg", "image/gif", "image/webp",
                                      "text/plain", "audio/wav",  "video/mp4"};
  for (gsize i = 0; i < G_N_ELEMENTS (shown); i++)
    if (strcmp (shown[i], type) == 0)
      return TRUE;
  return FALSE;
}

/* Both forms of RFC 6266: for old clients, and the exact name. The caller's. */
static char *
disposition_of (const char *kind, const char *name)
{
  GString *plain = g_string_new (NULL);
  for (const char *at = name; *at; at++)
    g_string_append_c (plain, g_ascii_isalnum (*at) || strchr (".-_ ", *at) ? *at : '_');
  g_autofree char *escaped = g_uri_escape_string (name, NULL, FALSE);
  char *text = g_strdup_printf ("%s; filename=\"%s\"; filename*=UTF-8''%s", kind, plain->str, escaped);
  g_string_free (plain, TRUE);
  return text;
}

/* Code chose the name, the type and the content: its pages must not act as this server's. */
static void
set_headers (struct http_request *request, const json_t *file, const char *tag, gboolean is_inline)
{
  const char *kind = is_inline && is_harmless (json_member_text (file, "mime")) ? "inline" : "attachment";
  g_autofree char *disposition = disposition_of (kind, json_member_text (file, "name"));
  http_set_header (request, "Content-Disposition", disposition);
  http_set_header (request, "X-Content-Type-Options", "nosniff");
  http_set_header (request, "Content-Security-Policy", "sandbox; default-src 'none'");
  http_set_header (request, "Cross-Origin-Resource-Policy", "same-origin");
  http_set_header (request, "Referrer-Policy", "no-referrer");
  http_set_header (request, "Accept-Ranges", "bytes");
  /* A file never changes; but a caller that loses access must not get it from a cache. */
  http_set_header (request, "Cache-Control", "private, no-cache");
  http_set_header (request, "ETag", tag);
}

/* Text is declared as UTF-8, which code writes: a browser would guess. The caller's. */
static char *
http_range_type_of (const json_t *file)
{
  const char *mime = json_member_text (file, "mime");
  if (*mime == '\0')
    return g_strdup ("application/octet-stream");
  return g_str_has_prefix (mime, "text/") && !strchr (mime, ';') ? g_strconcat (mime, "; charset=utf-8", NULL)
                                                                 : g_strdup (mime);
}

/* ---- the reply ---- */

void
http_range_reply (struct http_request *request, int fd, const json_t *file, gboolean is_inline)
{
  autoclose int own = fd;
  guint64 total = (guint64)json_integer_value (json_object_get (file, "bytes")), first = 0, length = total;
  g_autofree char *tag = g_strdup_printf ("\"%s\"", json_member_text (file, "sha256"));
  g_autofree char *type = http_range_type_of (file);
  const char *same = http_header (request, "If-Match"), *range = http_header (request, "Range");
  const char *if_range = http_header (request, "If-Range");
  set_headers (request, file, tag, is_inline);
  if (same && !http_range_has_tag (same, tag, FALSE)) {
    http_reply_status (request, 412);
    return;
  }
  if (http_range_has_tag (http_header (request, "If-None-Match"), tag, TRUE)) {
    http_reply_status (request, 304);
    return;
  }
  if (if_range && strcmp (if_range, tag) != 0)
    range = NULL;
  enum http_range wanted = http_range_parse (range, total, &first, &length);
  if (wanted == HTTP_RANGE_NONE) {
    http_reply_file (request, 200, type, fd_steal (&own), 0, total);
    return;
  }
  g_autofree char *place =
      wanted == HTTP_RANGE_WRONG
          ? g_strdup_printf ("bytes */%" G_GUINT64_FORMAT, total)
          : g_strdup_printf ("bytes %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, first,
                             first + length - 1, total);
  http_set_header (request, "Content-Range", place);
  if (wanted == HTTP_RANGE_WRONG)
    http_reply_status (request, 416);
  else
    http_reply_file (request, 206, type, fd_steal (&own), first, length);
}
