/* SPDX-License-Identifier: Apache-2.0 */
/* What another node passes on comes by a pair of sockets to a connection like any other, whose caller that
 * node has identified. It is HTTP/1.0: the reply ends with its connection. */
#include "interfaces/http/http_node.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "interfaces/http/http_private.h"

/* WORD stands in the first line or a header; the signature is of a node, but the words are its client's. */
static gboolean
is_line (const char *word)
{
  return *word && !strpbrk (word, "\r\n");
}

/* The first line and the headers; NULL with ERROR. */
static char *
http_node_text (const json_t *head, GError **error)
{
  const char *method = json_member_text (head, "method"), *target = json_member_text (head, "target");
  gboolean ok = is_line (method) && is_line (target) && !strchr (method, ' ') && !strchr (target, ' ');
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, "%s %s HTTP/1.0\r\nHost: localhost\r\nContent-Length: %" JSON_INTEGER_FORMAT "\r\n",
                   method, target, json_integer_value (json_object_get (head, "length")));
  gsize i;
  json_t *header;
  json_array_foreach (json_object_get (head, "headers"), i, header)
  {
    const char *name = json_string_value (json_array_get (header, 0));
    const char *value = json_string_value (json_array_get (header, 1));
    ok = ok && name && value && is_line (name) && !strpbrk (value, "\r\n");
    if (ok)
      g_string_append_printf (text, "%s: %s\r\n", name, value);
  }
  g_string_append (text, "\r\n");
  if (ok)
    return g_string_free (g_steal_pointer (&text), FALSE);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a node passes on what is no request");
  return NULL;
}

gboolean
http_node_is_closed (gpointer data)
{
  const struct http_server *server = data;
  return service_is_draining (server->service) || service_is_ending (server->service);
}

int
http_node_connect (gpointer data, const json_t *head, char **ret_text, GError **error)
{
  struct http_server *server = data;
  int pair[2];
  g_autofree char *text = http_node_text (head, error);
  struct principal *who = text ? principal_from_json (json_object_get (head, "caller"), error) : NULL;
  if (!who || !http_server_load_wire (server, error)) {
    principal_unref (who);
    return -1;
  }
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
    principal_unref (who);
    return error_from_errno (error, errno, "cannot make sockets for a request of another node"), -1;
  }
  const char *run_id = json_string_value (json_object_get (head, "run_id"));
  const struct http_vouched vouched = {who, json_is_true (json_object_get (head, "exposed")), run_id,
                                       !json_is_true (json_object_get (head, "once"))};
  http_connection_start_vouched (server, pair[1], &vouched);
  *ret_text = g_steal_pointer (&text);
  return pair[0];
}
