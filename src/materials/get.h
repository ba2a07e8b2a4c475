/* SPDX-License-Identifier: Apache-2.0 */
/* GETs of JSON, many at once, in one thread: common/http_client.h as databases of materials are asked. */
#pragma once

#include <glib.h>

#include "common/http_client.h"

/* Why one ended as HTTP_REFUSED, with its reason in it. */
#define GET_REFUSAL "its host has %s, and only the index names it"

/* One GET. Where it is and what it points to must stay until it is done. */
struct get {
  const char *url;
  const char *key;      /* sent as X-API-KEY, to that URL alone; NULL: none */
  gboolean only_public; /* its host is named by others: nothing is sent to an address that is not public */
  gint64 deadline_us;   /* of g_get_monotonic_time */
  guint64 answer_bytes; /* at most, once it is unpacked */
  gpointer data;        /* the caller's, in the response too */

  struct http_response response; /* what came of it, once it is done */
  struct http_client_request request;
  const char *headers[3];
  char *key_line;
};

/* It is under way from now on: http_client_wait returns its response. */
void get_start (struct http_client *client, struct get *get);
/* Makes it one that was not begun. */
void get_clear (struct get *get);

gboolean get_is_late (const struct get *get);
