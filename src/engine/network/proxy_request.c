/* SPDX-License-Identifier: Apache-2.0 */
/* The one reader of what sandboxes send to the proxy. */
#include "engine/network/proxy_request.h"

#include <string.h>

#include "engine/network/network_rules.h"

#define METHOD_BYTES 20
#define HTTP         "http://"

/* RFC 9110: what a method, and the name of a header, may have. */
#define TOKEN "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Those that are between the sender and the proxy alone, and those that the proxy writes itself. */
static const char *const hop_headers[] = {
    "host",
    "connection",
    "proxy-connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "content-length",
    "upgrade",
    "proxy-authorization",
    "proxy-authenticate",
    NULL,
};

/* A piece of the head. */
struct piece {
  const char *text;
  gsize length;
};

/* What is gathered from the headers. */
struct framing {
  gboolean has_length, chunked, has_host, is_1_0;
  guint64 length;
  GPtrArray *named; /* in lower case: headers that Connection names */
};

static gboolean
piece_is (const struct piece *piece, const char *word)
{
  return piece->length == strlen (word) && g_ascii_strncasecmp (piece->text, word, piece->length) == 0;
}

static gboolean
proxy_request_consists_of (const struct piece *piece, const char *letters)
{
  for (gsize i = 0; i < piece->length; i++)
    if (piece->text[i] == '\0' || !strchr (letters, piece->text[i]))
      return FALSE;
  return piece->length > 0;
}

/* Without what other readers may take for an end, or leave out. */
static gboolean
is_printable (const struct piece *piece, gboolean blanks)
{
  for (gsize i = 0; i < piece->length; i++) {
    guchar c = (guchar)piece->text[i];
    if (c < 0x20 ? !(blanks && c == '\t') : c == 0x7f || (c == ' ' && !blanks))
      return FALSE;
  }
  return TRUE;
}

static struct piece
trimmed (struct piece piece)
{
  while (piece.length > 0 && (piece.text[0] == ' ' || piece.text[0] == '\t')) {
    piece.text++;
    piece.length--;
  }
  while (piece.length > 0 && (piece.text[piece.length - 1] == ' ' || piece.text[piece.length - 1] == '\t'))
    piece.length--;
  return piece;
}

gsize
proxy_head_length (const char *text, gsize length)
{
  const char *end = memmem (text, length, "\r\n\r\n", 4);
  return end ? (gsize)(end - text) + 4 : 0;
}

/* The next line of what is left in REST, without its end. */
static struct piece
next_line (struct piece *rest)
{
  const char *end = memmem (rest->text, rest->length, "\r\n", 2);
  struct piece line = {rest->text, end ? (gsize)(end - rest->text) : rest->length};
  gsize taken = MIN (line.length + 2, rest->length);
  rest->text += taken;
  rest->length -= taken;
  return line;
}

/* ---- the first line ---- */

static const char *
parse_connect (const struct piece *target, struct proxy_request *request)
{
  if (!host_port_parse (target->text, target->length, &request->host, &request->port))
    return "has no host with a port of one meaning";
  return request->port == 0 ? "has no port" : NULL;
}

/* http://host[:port][/path][?query] */
static const char *
parse_absolute (const struct piece *target, const struct piece *method, struct proxy_request *request)
{
  gsize scheme = strlen (HTTP);
  if (target->length < scheme || g_ascii_strncasecmp (target->text, HTTP, scheme) != 0)
    return "does not ask for http://HOST/, as requests to a proxy do; for https:// there is CONNECT";
  const char *host = target->text + scheme, *end = target->text + target->length, *path = host;
  while (path < end && *path != '/' && *path != '?')
    path++;
  if (memchr (host, '@', (gsize)(path - host)))
    return "has a user's name before its host";
  if (!host_port_parse (host, (gsize)(path - host), &request->host, &request->port))
    return "has no host of one meaning";
  if (memchr (path, '#', (gsize)(end - path)))
    return "has a fragment in its address";
  if (request->port == 0)
    request->port = NETWORK_PORT_HTTP;
  request->is_head = method->length == 4 && strncmp (method->text, "HEAD", 4) == 0;
  request->head = g_string_sized_new (512);
  g_string_append_len (request->head, method->text, (gssize)method->length);
  g_string_append (request->head, path < end && *path == '/' ? " " : " /");
  g_string_append_len (request->head, path, end - path);
  g_string_append (request->head, " HTTP/1.1\r\n");
  return NULL;
}

static const char *
parse_first (const struct piece *line, struct proxy_request *request, struct framing *framing)
{
  const char *first = memchr (line->text, ' ', line->length);
  const char *last = first ? memrchr (line->text, ' ', line->length) : NULL;
  if (!first || first == last)
    return "has no method, address and version in its first line";
  struct piece method = {line->text, (gsize)(first - line->text)};
  struct piece target = {first + 1, (gsize)(last - first - 1)};
  struct piece version = {last + 1, (gsize)(line->text + line->length - last - 1)};
  if (!proxy_request_consists_of (&method, TOKEN) || method.length > METHOD_BYTES)
    return "has no method";
  if (!is_printable (&target, FALSE) || target.length == 0)
    return "has an address with characters that none has";
  /* It would have the host send back what the proxy added. */
  if (piece_is (&method, "TRACE") || piece_is (&method, "TRACK"))
    return "is a TRACE";
  framing->is_1_0 = piece_is (&version, "HTTP/1.0");
  if (!framing->is_1_0 && !piece_is (&version, "HTTP/1.1"))
    return "is not of HTTP/1.1";
  request->connect = method.length == 7 && strncmp (method.text, "CONNECT", 7) == 0;
  return request->connect ? parse_connect (&target, request) : parse_absolute (&target, &method, request);
}

/* ---- headers ---- */

static void
note_named (struct framing *framing, const struct piece *value)
{
  g_autofree char *text = g_ascii_strdown (value->text, (gssize)value->length);
  g_auto (GStrv) names = g_strsplit (text, ",", PROXY_HEAD_HEADERS);
  for (char **name = names; *name; name++)
    g_ptr_array_add (framing->named, g_strdup (g_strstrip (*name)));
}

static const char *
note_length (struct framing *framing, const struct piece *value)
{
  g_autofree char *number = g_strndup (value->text, value->length);
  if (framing->has_length)
    return "has more than one Content-Length";
  if (!proxy_request_consists_of (value, "0123456789") ||
      !g_ascii_string_to_unsigned (number, 10, 0, G_MAXINT64, &framing->length, NULL))
    return "has a Content-Length that is no number";
  framing->has_length = TRUE;
  return NULL;
}

static const char *
note_header (struct framing *framing, const struct piece *name, const struct piece *value)
{
  if (piece_is (name, "connection") || piece_is (name, "proxy-connection"))
    note_named (framing, value);
  if (piece_is (name, "content-length"))
    return note_length (framing, value);
  if (piece_is (name, "transfer-encoding")) {
    if (framing->chunked || !piece_is (value, "chunked"))
      return "has a Transfer-Encoding other than chunked";
    framing->chunked = TRUE;
  }
  if (piece_is (name, "host")) {
    if (framing->has_host)
      return "has more than one Host";
    framing->has_host = TRUE;
  }
  return NULL;
}

static const char *
split_header (const struct piece *line, struct piece *ret_name, struct piece *ret_value)
{
  const char *colon = memchr (line->text, ':', line->length);
  *ret_name = (struct piece){line->text, colon ? (gsize)(colon - line->text) : 0};
  if (!colon || !proxy_request_consists_of (ret_name, TOKEN))
    return "has a header without a name";
  *ret_value = trimmed ((struct piece){colon + 1, (gsize)(line->text + line->length - colon - 1)});
  return is_printable (ret_value, TRUE) ? NULL : "has a header with control characters";
}

static gboolean
passes (const struct piece *name, const struct framing *framing, const char *dropped)
{
  g_autofree char *lower = g_ascii_strdown (name->text, (gssize)name->length);
  return !g_strv_contains (hop_headers, lower) && (!dropped || !piece_is (name, dropped)) &&
         !g_ptr_array_find_with_equal_func (framing->named, lower, g_str_equal, NULL);
}

/* All headers twice: which of them pass is known when all were seen. */
static const char *
parse_headers (struct piece rest, const char *dropped, struct proxy_request *request, struct framing *framing)
{
  struct piece again = rest, name, value;
  guint count = 0;
  for (struct piece line = next_line (&rest); line.length > 0; line = next_line (&rest)) {
    const char *wrong = split_header (&line, &name, &value);
    if (!wrong)
      wrong = note_header (framing, &name, &value);
    if (wrong)
      return wrong;
    if (++count > PROXY_HEAD_HEADERS)
      return "has too many headers";
  }
  for (struct piece line = next_line (&again); line.length > 0 && request->head; line = next_line (&again)) {
    if (split_header (&line, &name, &value) || !passes (&name, framing, dropped))
      continue;
    g_string_append_len (request->head, name.text, (gssize)name.length);
    g_string_append (request->head, ": ");
    g_string_append_len (request->head, value.text, (gssize)value.length);
    g_string_append (request->head, "\r\n");
  }
  return NULL;
}

static const char *
settle_framing (struct proxy_request *request, const struct framing *framing)
{
  if (framing->chunked && framing->has_length)
    return "has both a Content-Length and a Transfer-Encoding";
  if (framing->chunked && framing->is_1_0)
    return "has a Transfer-Encoding, which HTTP/1.0 does not know";
  if (!request->head)
    return framing->chunked || (framing->has_length && framing->length > 0) ? "has a body, and is a CONNECT"
                                                                            : NULL;
  request->body = framing->chunked      ? PROXY_BODY_CHUNKED
                  : framing->has_length ? PROXY_BODY_LENGTH
                                        : PROXY_BODY_NONE;
  request->length = framing->length;
  if (framing->chunked)
    g_string_append (request->head, "Transfer-Encoding: chunked\r\n");
  else if (framing->has_length)
    g_string_append_printf (request->head, "Content-Length: %" G_GUINT64_FORMAT "\r\n", framing->length);
  gboolean ipv6 = request->host.is_address && strchr (request->host.text, ':');
  g_string_append_printf (request->head, "Host: %s%s%s", ipv6 ? "[" : "", request->host.text,
                          ipv6 ? "]" : "");
  if (request->port != NETWORK_PORT_HTTP)
    g_string_append_printf (request->head, ":%u", request->port);
  /* One request for each connection: nothing that follows could be taken for another. */
  g_string_append (request->head, "\r\nConnection: close\r\n");
  return NULL;
}

const char *
proxy_request_parse (const char *text, gsize length, const char *dropped, struct proxy_request *ret_request)
{
  struct proxy_request request = {.connect = FALSE};
  struct framing framing = {.named = g_ptr_array_new_with_free_func (g_free)};
  struct piece rest = {text, length};
  const char *wrong = memchr (text, 0, length) ? "has a zero byte" : NULL;
  struct piece first = next_line (&rest);
  if (!wrong)
    wrong = parse_first (&first, &request, &framing);
  if (!wrong)
    wrong = parse_headers (rest, dropped, &request, &framing);
  if (!wrong)
    wrong = settle_framing (&request, &framing);
  g_ptr_array_unref (framing.named);
  if (wrong)
    proxy_request_clear (&request);
  else
    *ret_request = request;
  return wrong;
}

void
proxy_request_clear (struct proxy_request *request)
{
  if (request->head)
    g_string_free (g_steal_pointer (&request->head), TRUE);
}

/* ---- the body ---- */

/* Where the reader of a chunked body is. */
enum { CHUNK_SIZE, CHUNK_SIZE_END, CHUNK_DATA, CHUNK_DATA_CR, CHUNK_DATA_LF, CHUNK_LAST_CR, CHUNK_LAST_LF };

#define CHUNK_DIGITS 8

void
proxy_body_init (struct proxy_body *body, const struct proxy_request *request)
{
  *body = (struct proxy_body){.kind = request->body, .left = request->length, .state = CHUNK_SIZE};
  body->whole = request->body == PROXY_BODY_NONE || (request->body == PROXY_BODY_LENGTH && body->left == 0);
}

static gboolean
take_size (struct proxy_body *body, char c)
{
  if (c == '\r' && body->digits > 0) {
    body->state = CHUNK_SIZE_END;
    return TRUE;
  }
  if (!g_ascii_isxdigit (c) || body->digits == CHUNK_DIGITS)
    return FALSE;
  body->left = body->left * 16 + (guint64)g_ascii_xdigit_value (c);
  body->digits++;
  return TRUE;
}

/* One byte that is no data. No extensions and no trailers: readers differ about them. */
static gboolean
take_mark (struct proxy_body *body, char c)
{
  static const struct {
    char c;
    guint next;
  } marks[] = {
      [CHUNK_SIZE_END] = {'\n', CHUNK_DATA}, [CHUNK_DATA_CR] = {'\r', CHUNK_DATA_LF},
      [CHUNK_DATA_LF] = {'\n', CHUNK_SIZE},  [CHUNK_LAST_CR] = {'\r', CHUNK_LAST_LF},
      [CHUNK_LAST_LF] = {'\n', CHUNK_SIZE},
  };
  if (body->state == CHUNK_SIZE)
    return take_size (body, c);
  if (c != marks[body->state].c)
    return FALSE;
  body->whole = body->state == CHUNK_LAST_LF;
  body->state = body->state == CHUNK_SIZE_END && body->left == 0 ? CHUNK_LAST_CR : marks[body->state].next;
  if (body->state == CHUNK_SIZE)
    body->digits = 0;
  return TRUE;
}

static gsize
take_data (struct proxy_body *body, gsize length)
{
  gsize taken = (gsize)MIN (body->left, (guint64)length);
  body->left -= taken;
  return taken;
}

gssize
proxy_body_take (struct proxy_body *body, const char *text, gsize length)
{
  gsize at = 0;
  if (body->kind == PROXY_BODY_LENGTH && !body->whole) {
    at = take_data (body, length);
    body->whole = body->left == 0;
    return (gssize)at;
  }
  while (at < length && !body->whole) {
    if (body->state == CHUNK_DATA) {
      at += take_data (body, length - at);
      if (body->left == 0)
        body->state = CHUNK_DATA_CR;
    } else if (!take_mark (body, text[at++])) {
      return -1;
    }
  }
  return (gssize)at;
}
