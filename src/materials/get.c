/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/get.h"

#define CONNECT_MS 15000
#define SLOW_BYTES 1  /* a second, for so long: */
#define SLOW_S     60 /* then a connection is given up */

void
get_clear (struct get *get)
{
  http_response_clear (&get->response);
  g_clear_pointer (&get->key_line, g_free);
}

void
get_start (struct http_client *client, struct get *get)
{
  get_clear (get);
  get->headers[0] = "Accept: application/vnd.api+json, application/json";
  get->headers[1] = get->key_line = get->key ? g_strconcat ("X-API-KEY: ", get->key, NULL) : NULL;
  get->request = (struct http_client_request){
      .url = get->url,
      .headers = get->headers,
      .data = get->data,
      .only_public = get->only_public,
      .connect_ms = CONNECT_MS,
      .deadline_us = get->deadline_us,
      .slow_bytes = SLOW_BYTES,
      .slow_s = SLOW_S,
      .unpacks = TRUE,
      .answer_bytes = get->answer_bytes,
  };
  http_client_start (client, &get->request, &get->response);
}

gboolean
get_is_late (const struct get *get)
{
  return get->response.end == HTTP_LATE || get->response.end == HTTP_SLOW;
}
