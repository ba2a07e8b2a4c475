/* SPDX-License-Identifier: Apache-2.0 */
/* Requests whose replies are one object each. */
#include <string.h>

#include "adder_types.h"
#include "cluster/tunnel.h"
#include "common/json.h"

#define REPLY_BYTES (1024 * 1024)
#define PART_BYTES  (64 * 1024)
#define ALL_MS      CLUSTER_SILENT_MS /* in which nodes that are only slow take what all are asked */

/* All bytes of the reply, at most REPLY_BYTES. */
static gboolean
tunnel_read_all (struct tunnel *tunnel, GString *text, GError **error)
{
  g_autofree char *buffer = g_malloc (PART_BYTES);
  gssize n;
  while ((n = tunnel_read (tunnel, buffer, PART_BYTES, error)) > 0) {
    g_string_append_len (text, buffer, n);
    if (text->len > REPLY_BYTES) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "a node answers more than %d bytes", REPLY_BYTES);
      return FALSE;
    }
  }
  return n == 0;
}

static json_t *
tunnel_parse (const char *text, gsize length, GError **error)
{
  const char *end = g_strstr_len (text, (gssize)length, "\r\n\r\n");
  const char *blank = end ? memchr (text, ' ', (gsize)(end - text)) : NULL;
  if (!blank) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, "a node answered no HTTP");
    return NULL;
  }
  guint64 status = g_ascii_strtoull (blank, NULL, 10);
  const char *body = end + strlen ("\r\n\r\n");
  g_autoptr (json_t) value =
      json_parse_object (body, length - (gsize)(body - text), "a node's answer", error);
  if (!value || (status >= 200 && status < 300))
    return g_steal_pointer (&value);
  const char *detail = json_member_text (value, "detail");
  int code = status == 404                   ? ADDER_ERROR_NOT_FOUND
             : status >= 400 && status < 500 ? ADDER_ERROR_REFUSED
                                             : ADDER_ERROR_FAILED;
  g_set_error_literal (error, ADDER_ERROR, code, *detail ? detail : "a node refused");
  return NULL;
}

/* TUNNEL is taken. */
static json_t *
tunnel_take_object (struct tunnel *tunnel, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean ok = tunnel_read_all (tunnel, text, error);
  tunnel_close (tunnel);
  return ok ? tunnel_parse (text->str, text->len, error) : NULL;
}

json_t *
tunnel_call (struct cluster *cluster, const struct tunnel_request *request, GError **error)
{
  struct tunnel *tunnel = tunnel_open (cluster, request, error);
  return tunnel ? tunnel_take_object (tunnel, error) : NULL;
}

json_t *
tunnel_call_all (struct cluster *cluster, const struct tunnel_request *request)
{
  g_autoptr (json_t) list = cluster_list (cluster);
  g_autoptr (GPtrArray) tunnels = g_ptr_array_new ();
  json_t *replies = json_array (), *node;
  gsize i;
  json_array_foreach (json_object_get (list, "nodes"), i, node)
  {
    struct tunnel_request asked = *request;
    asked.node = json_member_text (node, "tag");
    struct tunnel *tunnel = tunnel_begin (cluster, &asked, NULL);
    if (tunnel)
      g_ptr_array_add (tunnels, tunnel);
  }
  gint64 end_us = g_get_monotonic_time () + ALL_MS * 1000;
  for (i = 0; i < tunnels->len; i++) {
    struct tunnel *tunnel = tunnels->pdata[i];
    json_t *reply = NULL;
    if (tunnel_is_taken (tunnel, end_us))
      reply = tunnel_take_object (tunnel, NULL);
    else
      tunnel_close (tunnel);
    if (reply)
      json_array_append_new (replies, reply);
  }
  return replies;
}
