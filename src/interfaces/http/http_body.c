/* SPDX-License-Identifier: Apache-2.0 */
/* The body as it arrives, and the checks once the request is complete. */
#include <string.h>

#include "common/json.h"
#include "interfaces/http/http_multipart.h"
#include "interfaces/http/http_private.h"

#define DEPTH_MAX 64 /* of JSON: no legitimate body is nearly as deep */

/* What a value takes in memory, about, beyond its characters: two of these can become 136. */
#define BYTES_OF_A_LIST    144
#define BYTES_OF_AN_OBJECT 288
#define BYTES_OF_A_MEMBER  64
#define BYTES_OF_AN_ITEM   48

static const struct field no_fields[] = {{0}};

/* ---- as it arrives ---- */

/* The characters of the text are those of its values. */
static void
release_text (struct http_request *request)
{
  g_clear_pointer (&request->bytes, g_byte_array_unref);
}

void
http_body_release (struct http_request *request)
{
  g_clear_pointer (&request->body, json_decref);
  g_clear_pointer (&request->bytes, g_byte_array_unref);
  g_clear_pointer (&request->multipart, http_multipart_free);
  http_coding_end (request);
  g_clear_pointer (&request->memory, reservation_unref);
  g_clear_pointer (&request->disk, reservation_unref);
}

struct reservation *
http_reservation (struct http_request *request)
{
  return request->memory;
}

/* A part of it is enough to refuse it: none of it is kept. */
static void
http_body_refuse (struct http_request *request)
{
  request->close_after = TRUE;
  http_body_release (request);
}

/* A bound for all requests together, and for each owner's share of it: requests that hold memory for long
 * must not shut others out. */
static gboolean
reserve (struct http_request *request, struct reservation **reservation, struct quota *quota, guint64 bytes)
{
  const struct principal *who = http_who (request);
  if (!*reservation)
    *reservation = reservation_new (quota, who ? who->owner : "");
  gboolean of_owner, ok = reservation_add (*reservation, bytes, &of_owner);
  if (ok)
    return TRUE;
  http_body_refuse (request);
  http_set_header (request, "Retry-After", "1");
  http_reply_fault (request, 503, "the bodies of %s requests take as much %s as they may",
                    of_owner ? "your" : "all", quota == request->server->disk ? "of the disk" : "memory");
  return FALSE;
}

static void
http_body_add_part (struct http_request *request, const char *bytes, gsize length)
{
  g_autoptr (GError) problem = NULL;
  if (!reserve (request, &request->disk, request->server->disk, length) ||
      http_multipart_add (request->multipart, bytes, length, &problem))
    return;
  http_body_refuse (request);
  http_reply_problem (request, problem);
}

/* TRUE with a reply. */
static gboolean
body_is_too_long (struct http_request *request, guint64 length, const char *words)
{
  if (length <= request->body_most)
    return FALSE;
  http_body_refuse (request);
  http_reply_fault (request, 413, "the body may have at most %" G_GUINT64_FORMAT " bytes%s",
                    request->body_most, words);
  return TRUE;
}

/* LENGTH bytes of the unpacked body. FALSE: there is a reply. */
static gboolean
http_body_take (gpointer data, const char *bytes, gsize length)
{
  struct http_request *request = data;
  request->body_taken += length;
  if (body_is_too_long (request, request->body_taken, ", unpacked"))
    return FALSE;
  if (request->multipart)
    http_body_add_part (request, bytes, length);
  else if (reserve (request, &request->memory, request->server->memory, length)) {
    if (!request->bytes)
      request->bytes = g_byte_array_new ();
    g_byte_array_append (request->bytes, (const guint8 *)bytes, (guint)length);
  }
  return request->status == 0;
}

void
http_body_add (struct http_request *request, const char *bytes, gsize length)
{
  if (request->status != 0)
    return;
  request->body_read += length;
  if (body_is_too_long (request, request->body_read, ""))
    return;
  /* A refusal frees the unpacker, which is active then. */
  struct wire_gunzip *gunzip = g_steal_pointer (&request->gunzip);
  const struct wire_binding *wire = request->server->wire;
  if (!gunzip) {
    http_body_take (request, bytes, length);
    return;
  }
  gboolean ok = wire->gunzip_add (gunzip, bytes, length, http_body_take, request);
  if (request->status == 0)
    request->gunzip = g_steal_pointer (&gunzip);
  wire->gunzip_free (gunzip);
  if (ok || request->status != 0)
    return;
  http_body_refuse (request);
  http_reply_fault (request, 400, "the body is not gzip, as its Content-Encoding says");
}

/* ---- when complete ---- */

/* Before the parser, which recurses for each level, on a small stack. */
static gboolean
is_shallow (const char *text, gsize length)
{
  guint depth = 0;
  gboolean quoted = FALSE;
  for (gsize i = 0; i < length; i++) {
    char c = text[i];
    if (quoted) {
      if (c == '\\')
        i++;
      else if (c == '"')
        quoted = FALSE;
    } else if (c == '"')
      quoted = TRUE;
    else if (c == '[' || c == '{') {
      if (++depth > DEPTH_MAX)
        return FALSE;
    } else if ((c == ']' || c == '}') && depth > 0)
      depth--;
  }
  return TRUE;
}

/* What TEXT becomes when it is parsed, in bytes. */
static guint64
http_body_cost_of (const char *text, gsize length)
{
  guint64 cost = 0;
  gboolean quoted = FALSE;
  for (gsize i = 0; i < length; i++)
    switch (text[i]) {
    case '\\':
      i += quoted;
      break;
    case '"':
      quoted = !quoted;
      break;
    case '[':
      cost += quoted ? 0 : BYTES_OF_A_LIST;
      break;
    case '{':
      cost += quoted ? 0 : BYTES_OF_AN_OBJECT;
      break;
    case ':':
      cost += quoted ? 0 : BYTES_OF_A_MEMBER;
      break;
    case ',':
      cost += quoted ? 0 : BYTES_OF_AN_ITEM;
      break;
    default:
      break;
    }
  return cost;
}

/* Reserves memory for the parsed body, until its last user is done. FALSE with a reply. */
static gboolean
reserve_parsed (struct http_request *request)
{
  gsize length;
  const char *text = http_body_bytes (request, &length);
  guint64 cost = http_body_cost_of (text, length), most = quota_owner_most (request->server->memory);
  if (cost + length <= most)
    return cost == 0 || reserve (request, &request->memory, request->server->memory, cost);
  http_reply_fault (request, 413,
                    "the body is JSON with too many values: they would take %" G_GUINT64_FORMAT
                    " bytes, and there may be %" G_GUINT64_FORMAT,
                    cost, most);
  return FALSE;
}

/* A missing body has no members. */
static json_t *
parse_body (struct http_request *request, GError **error)
{
  const struct http_route *route = request->route;
  gsize length;
  const char *text = http_body_bytes (request, &length);
  if (!is_shallow (text, length)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the body is JSON with more than %d levels",
                 DEPTH_MAX);
    return NULL;
  }
  g_autoptr (json_t) value =
      length > 0 ? json_parse_object (text, length, "the body", error) : json_object ();
  if (!value)
    return NULL;
  return field_check (route->body ? route->body : no_fields, "the body", value, error);
}

static gboolean
check_parameters (struct http_request *request, GError **error)
{
  const struct field *fields = request->route->parameters;
  g_autoptr (json_t) object = json_object ();
  GHashTableIter iter;
  gpointer name, text;
  g_hash_table_iter_init (&iter, request->parameters);
  while (g_hash_table_iter_next (&iter, &name, &text)) {
    const struct field *field = fields ? field_find (fields, name) : NULL;
    gint64 number;
    gboolean is_number = field && (field->types & FIELD_INTEGER) &&
                         g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &number, NULL);
    if (field)
      json_object_set_new (object, name, is_number ? json_integer (number) : json_string (text));
  }
  g_autoptr (json_t) checked = field_check (fields ? fields : no_fields, "the path", object, error);
  return checked != NULL;
}

/* The problems of all three are reported at once. */
static void
http_body_gather (GString *problems, GError *problem)
{
  if (problem)
    g_string_append_printf (problems, "%s%s", problems->len > 0 ? "; " : "", problem->message);
  g_clear_error (&problem);
}

/* gzip may be truncated although all announced bytes came. */
static gboolean
http_body_is_whole (struct http_request *request)
{
  if (!request->gunzip || request->body_read == 0 || request->server->wire->gunzip_is_whole (request->gunzip))
    return TRUE;
  http_reply_fault (request, 400, "the body's gzip is cut off");
  return FALSE;
}

gboolean
http_body_check (struct http_request *request)
{
  const struct http_route *route = request->route;
  g_autoptr (GString) problems = g_string_new (NULL);
  GError *problem = NULL;
  if (!route || request->status != 0 || !http_body_is_whole (request) || !reserve_parsed (request))
    return FALSE;
  if (!check_parameters (request, &problem))
    http_body_gather (problems, g_steal_pointer (&problem));
  request->query = http_query_parse (route, request->query_text, &problem);
  if (!request->query)
    http_body_gather (problems, g_steal_pointer (&problem));
  if (request->multipart && !http_multipart_end (request->multipart, &problem))
    http_body_gather (problems, g_steal_pointer (&problem));
  if (!(route->flags & (HTTP_RAW_BODY | HTTP_MULTIPART))) {
    request->body = parse_body (request, &problem);
    if (!request->body)
      http_body_gather (problems, g_steal_pointer (&problem));
    else
      release_text (request);
  } else if ((route->flags & HTTP_MULTIPART) && !request->multipart)
    http_body_gather (
        problems, g_error_new (ADDER_ERROR, ADDER_ERROR_INVALID, "the body is missing: multipart/form-data"));
  if (problems->len == 0)
    return TRUE;
  http_reply_fault (request, 400, "%s", problems->str);
  return FALSE;
}
