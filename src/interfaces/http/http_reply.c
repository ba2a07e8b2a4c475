/* SPDX-License-Identifier: Apache-2.0 */
/* Replies: each becomes a struct wire_reply, with the headers that all replies have. */
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/log.h"
#include "interfaces/http/http_private.h"

/* On every reply, unless a handler says otherwise: a browser guesses no type, and pages of others do not load
 * it. */
static const char *const always[] = {
    "X-Content-Type-Options", "nosniff", "Cross-Origin-Resource-Policy", "same-origin", NULL,
};

static gboolean
is_set (const struct http_request *request, const char *name)
{
  for (guint i = 0; i + 1 < request->reply_headers->len; i += 2)
    if (g_ascii_strcasecmp (g_ptr_array_index (request->reply_headers, i), name) == 0)
      return TRUE;
  return FALSE;
}

/* Replaces an existing header, except those that may repeat. */
void
http_set_header (struct http_request *request, const char *name, const char *value)
{
  GPtrArray *headers = request->reply_headers;
  gboolean many = g_ascii_strcasecmp (name, "Vary") == 0 ||
                  g_ascii_strcasecmp (name, "WWW-Authenticate") == 0 ||
                  g_ascii_strcasecmp (name, "Link") == 0;
  for (guint i = 0; !many && i + 1 < headers->len; i += 2)
    if (g_ascii_strcasecmp (g_ptr_array_index (headers, i), name) == 0) {
      g_free (g_ptr_array_index (headers, i + 1));
      headers->pdata[i + 1] = g_strdup (value);
      return;
    }
  g_ptr_array_add (headers, g_strdup (name));
  g_ptr_array_add (headers, g_strdup (value));
}

static void
http_reply_drop (struct wire_reply *reply)
{
  g_free (reply->text);
  fd_close (&reply->fd);
}

void
http_reply_send (struct http_request *request, int status, const char *type, struct wire_reply *reply)
{
  struct http_server *server = request->server;
  if (request->status != 0) {
    log_error ("http: %s was answered twice", request->route ? request->route->operation : "a request");
    http_reply_drop (reply);
    return;
  }
  if (status != 401 && !http_access_may_reply (request, reply->read || reply->fd >= 0)) {
    http_reply_drop (reply);
    http_access_refuse (request);
    return;
  }
  request->status = status;
  if (!is_set (request, "Content-Encoding"))
    http_coding_pack (request, type, reply);
  if (type)
    http_set_header (request, "Content-Type", type);
  for (gsize i = 0; always[i]; i += 2)
    if (!is_set (request, always[i]))
      http_set_header (request, always[i], always[i + 1]);
  /* Replies are for one caller: no proxy may cache them, unless a handler says otherwise. */
  if (!is_set (request, "Cache-Control"))
    http_set_header (request, "Cache-Control", "no-store");
  if (status == 401 && !is_set (request, "WWW-Authenticate"))
    http_set_header (request, "WWW-Authenticate", "Bearer");
  g_mutex_lock (&server->lock);
  request->close_after = request->close_after || server->ending;
  g_mutex_unlock (&server->lock);
  g_ptr_array_add (request->reply_headers, NULL);
  reply->status = status;
  reply->headers = (const char *const *)request->reply_headers->pdata;
  reply->last = request->close_after;
  server->wire->reply (request->connection->wire, reply);
}

void
http_reply_json (struct http_request *request, int status, json_t *value)
{
  char *text = json_to_text (value);
  json_decref (value);
  struct wire_reply reply = {.text = text, .length = strlen (text), .fd = -1};
  http_reply_send (request, status, "application/json", &reply);
}

void
http_reply_text (struct http_request *request, int status, char *text, const GError *problem)
{
  if (!text) {
    http_reply_problem (request, problem);
    return;
  }
  struct wire_reply reply = {.text = text, .length = strlen (text), .fd = -1};
  http_reply_send (request, status, "application/json", &reply);
}

void
http_reply_bytes (struct http_request *request, int status, const char *type, const void *data, gsize length)
{
  struct wire_reply reply = {.text = g_memdup2 (data, length), .length = length, .fd = -1};
  http_reply_send (request, status, type, &reply);
}

void
http_reply_status (struct http_request *request, int status)
{
  struct wire_reply reply = {.fd = -1};
  http_reply_send (request, status, NULL, &reply);
}

void
http_reply_file (struct http_request *request, int status, const char *type, int fd, guint64 offset,
                 guint64 length)
{
  /* The kernel cannot send from an empty file. */
  if (length == 0)
    fd_close (&fd);
  struct wire_reply reply = {.fd = length > 0 ? fd : -1, .offset = offset, .length = length};
  http_reply_send (request, status, type, &reply);
}
