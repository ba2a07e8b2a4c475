/* SPDX-License-Identifier: Apache-2.0 */
/* multipart/form-data, parsed as it arrives. Undecided bytes wait in a buffer: at most the headers of one
 * part, or the possible beginning of a boundary. */
#include "interfaces/http/http_multipart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/paths.h"

#define PARTS_MAX    128
#define HEADERS_MAX  (8 * 1024) /* bytes, of one part */
#define BOUNDARY_MAX 70         /* RFC 2046, section 5.1.1 */

enum state { STATE_BEFORE, STATE_AFTER_BOUNDARY, STATE_HEADERS, STATE_DATA, STATE_OVER };

struct http_multipart {
  enum state state;
  GString *delimiter; /* CR LF -- and the boundary */
  GString *waiting;
  GArray *parts; /* of struct http_part */
};

static gboolean
http_multipart_fail (GError **error, const char *why)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the body is not multipart/form-data: %s", why);
  return FALSE;
}

/* ---- headers ---- */

char *
http_parameter_of (const char *value, const char *name)
{
  const char *at = strchr (value, ';');
  while (at) {
    at += 1 + strspn (at + 1, " \t");
    gsize length = strcspn (at, "=;");
    gboolean found = length == strlen (name) && g_ascii_strncasecmp (at, name, length) == 0;
    at += length;
    if (*at == ';')
      continue;
    if (*at == '\0')
      break;
    g_autoptr (GString) text = g_string_new (NULL);
    at++;
    if (*at == '"') {
      for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
          at++;
        g_string_append_c (text, *at);
      }
      at += *at == '"';
    } else {
      gsize size = strcspn (at, "; \t");
      g_string_append_len (text, at, (gssize)size);
      at += size;
    }
    if (found)
      return g_string_free (g_steal_pointer (&text), FALSE);
    at = strchr (at, ';');
  }
  return NULL;
}

struct http_multipart *
http_multipart_new (const char *type, GError **error)
{
  g_autofree char *boundary = http_parameter_of (type, "boundary");
  gsize length = boundary ? strlen (boundary) : 0;
  if (length == 0 || length > BOUNDARY_MAX || strpbrk (boundary, "\r\n")) {
    http_multipart_fail (error, "its Content-Type names no boundary");
    return NULL;
  }
  struct http_multipart *multipart = g_new0 (struct http_multipart, 1);
  multipart->delimiter = g_string_new ("\r\n--");
  g_string_append (multipart->delimiter, boundary);
  /* The first boundary may be at the very beginning. */
  multipart->waiting = g_string_new ("\r\n");
  multipart->parts = g_array_new (FALSE, TRUE, sizeof (struct http_part));
  return multipart;
}

void
http_multipart_free (struct http_multipart *multipart)
{
  if (!multipart)
    return;
  for (guint i = 0; i < multipart->parts->len; i++) {
    struct http_part *part = &g_array_index (multipart->parts, struct http_part, i);
    g_free ((char *)part->name);
    g_free ((char *)part->filename);
    g_free ((char *)part->type);
    fd_close (&part->fd);
  }
  g_array_unref (multipart->parts);
  g_string_free (multipart->delimiter, TRUE);
  g_string_free (multipart->waiting, TRUE);
  g_free (multipart);
}

/* Line ends that other readers might interpret differently are refused, as in a request's own headers. */
static gboolean
are_lines (const char *text, gsize length)
{
  for (gsize i = 0; i < length; i++) {
    gboolean ends = text[i] == '\r' && i + 1 < length && text[i + 1] == '\n';
    if (text[i] == '\0' || (!ends && (text[i] == '\r' || text[i] == '\n')))
      return FALSE;
    i += ends;
    if (ends && i + 1 < length && (text[i + 1] == ' ' || text[i + 1] == '\t'))
      return FALSE;
  }
  return TRUE;
}

/* An unnamed file, where files are kept anyway: uploads may be larger than memory. */
static int
nameless_file (GError **error)
{
  g_autofree char *folder = paths_state_dir (error);
  if (!folder)
    return -1;
  int fd = open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    error_from_errno (error, errno, "cannot make a file in %s", folder);
  return fd;
}

static gboolean
begin_part (struct http_multipart *multipart, char *headers, GError **error)
{
  struct http_part part = {.fd = -1};
  g_auto (GStrv) lines = g_strsplit (headers, "\r\n", -1);
  if (multipart->parts->len >= PARTS_MAX)
    return http_multipart_fail (error, "it has more than 128 parts");
  for (gsize i = 0; lines[i]; i++) {
    char *value = strchr (lines[i], ':');
    if (!value)
      continue;
    *value++ = '\0';
    if (!part.name && g_ascii_strcasecmp (lines[i], "Content-Disposition") == 0) {
      part.name = http_parameter_of (value, "name");
      part.filename = part.name ? http_parameter_of (value, "filename") : NULL;
    } else if (!part.type && g_ascii_strcasecmp (lines[i], "Content-Type") == 0)
      part.type = g_strdup (g_strstrip (value));
  }
  gboolean ok = part.name && g_utf8_validate (part.name, -1, NULL) &&
                (!part.filename || g_utf8_validate (part.filename, -1, NULL));
  if (!ok)
    http_multipart_fail (error, "a part has no name");
  else
    ok = (part.fd = nameless_file (error)) >= 0;
  g_array_append_val (multipart->parts, part);
  return ok;
}

/* ---- data ---- */

static gboolean
http_multipart_put (struct http_multipart *multipart, gsize length, GError **error)
{
  struct http_part *part = &g_array_index (multipart->parts, struct http_part, multipart->parts->len - 1);
  int r = fd_write_all (part->fd, multipart->waiting->str, length);
  if (r < 0)
    return error_from_errno (error, r, "cannot keep a part of the body");
  part->bytes += length;
  g_string_erase (multipart->waiting, 0, (gssize)length);
  return TRUE;
}

/* Where TEXT begins in the pending bytes, or -1. */
static gssize
http_multipart_find (const struct http_multipart *multipart, const char *text, gsize length)
{
  const GString *waiting = multipart->waiting;
  const char *at = memmem (waiting->str, waiting->len, text, length);
  return at ? at - waiting->str : -1;
}

/* Before the first boundary, and data until the next: both end at the delimiter. *RET_MORE: more of the
 * pending bytes can be processed. */
static gboolean
to_delimiter (struct http_multipart *multipart, gboolean *ret_more, GError **error)
{
  gssize at = http_multipart_find (multipart, multipart->delimiter->str, multipart->delimiter->len);
  gsize keep = multipart->delimiter->len - 1;
  gsize length = at >= 0 ? (gsize)at : multipart->waiting->len - MIN (multipart->waiting->len, keep);
  if (multipart->state == STATE_DATA) {
    if (!http_multipart_put (multipart, length, error))
      return FALSE;
  } else
    g_string_erase (multipart->waiting, 0, (gssize)length);
  *ret_more = at >= 0;
  if (at >= 0) {
    g_string_erase (multipart->waiting, 0, (gssize)multipart->delimiter->len);
    multipart->state = STATE_AFTER_BOUNDARY;
  }
  return TRUE;
}

/* After a boundary: "--" ends the body, CR LF begins a part. */
static gboolean
after_boundary (struct http_multipart *multipart, gboolean *ret_more, GError **error)
{
  const GString *waiting = multipart->waiting;
  *ret_more = waiting->len >= 2;
  if (waiting->len < 2)
    return TRUE;
  gboolean last = memcmp (waiting->str, "--", 2) == 0;
  if (!last && memcmp (waiting->str, "\r\n", 2) != 0)
    return http_multipart_fail (error, "a boundary does not end its line");
  multipart->state = last ? STATE_OVER : STATE_HEADERS;
  g_string_erase (multipart->waiting, 0, last ? 2 : 0);
  return TRUE;
}

/* The boundary's line end still precedes them, so that a part without headers is no special case. */
static gboolean
take_headers (struct http_multipart *multipart, gboolean *ret_more, GError **error)
{
  gssize at = http_multipart_find (multipart, "\r\n\r\n", 4);
  *ret_more = at >= 0;
  if (at > HEADERS_MAX || (at < 0 && multipart->waiting->len > HEADERS_MAX))
    return http_multipart_fail (error, "the headers of a part are longer than 8 KiB");
  if (at < 0)
    return TRUE;
  if (!are_lines (multipart->waiting->str, (gsize)at))
    return http_multipart_fail (
        error, "a header of a part is not one line that ends with CR LF, or has a zero byte");
  g_autofree char *headers = g_strndup (multipart->waiting->str, (gsize)at);
  if (!begin_part (multipart, headers, error))
    return FALSE;
  g_string_erase (multipart->waiting, 0, at + 4);
  multipart->state = STATE_DATA;
  return TRUE;
}

gboolean
http_multipart_add (struct http_multipart *multipart, const char *bytes, gsize length, GError **error)
{
  gboolean more = TRUE;
  if (multipart->state != STATE_OVER)
    g_string_append_len (multipart->waiting, bytes, (gssize)length);
  while (more) {
    gboolean ok = TRUE;
    switch (multipart->state) {
    case STATE_BEFORE:
    case STATE_DATA:
      ok = to_delimiter (multipart, &more, error);
      break;
    case STATE_AFTER_BOUNDARY:
      ok = after_boundary (multipart, &more, error);
      break;
    case STATE_HEADERS:
      ok = take_headers (multipart, &more, error);
      break;
    case STATE_OVER:
    default:
      /* Text after the last boundary is ignored. */
      more = FALSE;
    }
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

gboolean
http_multipart_end (struct http_multipart *multipart, GError **error)
{
  if (multipart->state != STATE_OVER)
    return http_multipart_fail (error, "its last boundary is missing");
  for (guint i = 0; i < multipart->parts->len; i++)
    if (lseek (g_array_index (multipart->parts, struct http_part, i).fd, 0, SEEK_SET) < 0)
      return error_from_errno (error, errno, "cannot read a part of the body");
  return TRUE;
}

const struct http_part *
http_multipart_parts (const struct http_multipart *multipart, gsize *ret_count)
{
  *ret_count = multipart ? multipart->parts->len : 0;
  return multipart ? (const struct http_part *)(const void *)multipart->parts->data : NULL;
}
