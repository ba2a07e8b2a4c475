/* SPDX-License-Identifier: Apache-2.0 */
#include "common/http_client.h"

#include "common/module.h"

void
http_response_clear (struct http_response *response)
{
  if (response->body)
    g_string_free (response->body, TRUE);
  g_free (response->location);
  *response = (struct http_response){.again_ms = -1, .length = -1, .reason = ""};
}

static const struct http_client_class *
load (GError **error)
{
  static const struct http_client_class *loaded;
  const struct http_client_class *class = g_atomic_pointer_get (&loaded);
  if (!class) {
    class = module_load (HTTP_CLIENT_MODULE, HTTP_CLIENT_SYMBOL, error);
    g_atomic_pointer_set (&loaded, class);
  }
  return class;
}

gboolean
http_client_load (GError **error)
{
  return load (error) != NULL;
}

struct http_client *
http_client_new (GError **error)
{
  const struct http_client_class *class = load (error);
  return class ? class->open () : NULL;
}

void
http_client_free (struct http_client *client)
{
  if (client)
    client->class->close (client);
}

void
http_client_start (struct http_client *client, const struct http_client_request *request,
                   struct http_response *response)
{
  http_response_clear (response);
  response->body = g_string_new (NULL);
  response->data = request->data;
  client->class->start (client, request, response);
}

void
http_client_stop (struct http_client *client, struct http_response *response)
{
  if (response->exchange)
    client->class->stop (response);
}

struct http_response *
http_client_wait (struct http_client *client, gint64 until_us, int cancel_fd)
{
  return client->class->wait (client, until_us, cancel_fd);
}

enum http_end
http_client_perform (struct http_client *client, const struct http_client_request *request, int cancel_fd,
                     struct http_response *ret_response)
{
  http_client_start (client, request, ret_response);
  if (!http_client_wait (client, G_MAXINT64, cancel_fd)) {
    http_client_stop (client, ret_response);
    ret_response->end = HTTP_CANCELLED;
  }
  return ret_response->end;
}
