/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that could end in two places ends with its connection: then it is the client who decides. */
#include "engine/network/proxy_answer.h"

#include <string.h>

/* "HTTP/1.1 200" */
#define STATUS_AT    9
#define STATUS_BYTES 3

/* What an interim answer has, behind which another comes (RFC 9110); 101 is for protocols that no request
 * asked for. */
#define INTERIM        1
#define NO_CONTENT     204
#define NOT_MODIFIED   304
#define OTHER_PROTOCOL 101

void
proxy_answer_init (struct proxy_answer *answer, const struct proxy_request *request)
{
  *answer = (struct proxy_answer){.bodyless = request->is_head, .head = g_string_new (NULL)};
}

void
proxy_answer_clear (struct proxy_answer *answer)
{
  if (answer->head)
    g_string_free (g_steal_pointer (&answer->head), TRUE);
}

/* 0: there is none. */
static guint
status_of (const char *line)
{
  guint64 status;
  if (!g_str_has_prefix (line, "HTTP/1.") || strlen (line) < STATUS_AT + STATUS_BYTES)
    return 0;
  g_autofree char *text = g_strndup (line + STATUS_AT, STATUS_BYTES);
  return g_ascii_string_to_unsigned (text, 10, 100, 999, &status, NULL) ? (guint)status : 0;
}

/* Takes the framing that the header LINE has into FRAMED. FALSE: it is not understood, or the second. */
static gboolean
proxy_answer_take_header (char *line, struct proxy_request *framed)
{
  char *colon = strchr (line, ':');
  if (!colon)
    return FALSE;
  *colon = '\0';
  const char *value = g_strstrip (colon + 1);
  gboolean is_length = g_ascii_strcasecmp (line, "content-length") == 0;
  if (!is_length && g_ascii_strcasecmp (line, "transfer-encoding") != 0)
    return line[0] != ' ' && line[0] != '\t';
  if (framed->body != PROXY_BODY_NONE)
    return FALSE;
  framed->body = is_length ? PROXY_BODY_LENGTH : PROXY_BODY_CHUNKED;
  return is_length ? g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &framed->length, NULL)
                   : g_ascii_strcasecmp (value, "chunked") == 0;
}

/* Reads a head of LENGTH bytes. FALSE: it is that of an interim answer. */
static gboolean
proxy_answer_read_head (struct proxy_answer *answer, const char *text, gsize length)
{
  struct proxy_request framed = {.body = PROXY_BODY_NONE};
  g_autofree char *head = g_strndup (text, length - strlen ("\r\n\r\n"));
  g_auto (GStrv) lines = g_strsplit (head, "\r\n", -1);
  guint status = lines[0] ? status_of (lines[0]) : 0;
  if (status / 100 == INTERIM && status != OTHER_PROTOCOL)
    return FALSE;
  answer->endless = status == 0 || status == OTHER_PROTOCOL || memchr (text, 0, length);
  for (gsize i = 1; !answer->endless && lines[i]; i++)
    answer->endless = !proxy_answer_take_header (lines[i], &framed);
  if (answer->bodyless || status == NO_CONTENT || status == NOT_MODIFIED)
    framed.body = PROXY_BODY_NONE;
  else
    answer->endless = answer->endless || framed.body == PROXY_BODY_NONE;
  proxy_body_init (&answer->body, &framed);
  return TRUE;
}

static gboolean
proxy_answer_take_body (struct proxy_answer *answer, const char *text, gsize length)
{
  answer->endless = answer->endless || proxy_body_take (&answer->body, text, length) < 0;
  return !answer->endless && answer->body.whole;
}

gboolean
proxy_answer_take (struct proxy_answer *answer, const char *text, gsize length)
{
  if (answer->endless || !answer->head)
    return proxy_answer_take_body (answer, text, length);
  g_string_append_len (answer->head, text, (gssize)length);
  gsize at = 0, head;
  while ((head = proxy_head_length (answer->head->str + at, answer->head->len - at)) > 0 &&
         head <= PROXY_HEAD_BYTES) {
    gboolean is_last = proxy_answer_read_head (answer, answer->head->str + at, head);
    at += head;
    if (is_last) {
      g_autoptr (GString) came = g_steal_pointer (&answer->head);
      return proxy_answer_take_body (answer, came->str + at, came->len - at);
    }
  }
  g_string_erase (answer->head, 0, (gssize)at);
  answer->endless = answer->head->len > PROXY_HEAD_BYTES;
  return FALSE;
}
