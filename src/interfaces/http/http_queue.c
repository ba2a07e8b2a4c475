/* SPDX-License-Identifier: Apache-2.0 */
/* Background runs of a cluster with shared records: the daemon that a client reached queues them. Nodes run
 * them in http_worker.c. */
#include <string.h>

#include "adder_types.h"
#include "cluster/work_queue.h"
#include "common/json.h"
#include "interfaces/http/http_operations.h"
#include "interfaces/http/http_private.h"
#include "library/library.h"
#include "operations/run.h"
#include "store/queued.h"

static gboolean
http_queue_is_asked (const json_t *body, const char *name)
{
  return json_is_true (json_object_get (body, name));
}

/* A session has its node, and a stream its reader. */
static gboolean
http_queue_takes (struct http_request *request)
{
  const struct http_route *route = request->route;
  return strcmp (route->method, "POST") == 0 && strcmp (route->path, "/v1/runs") == 0 &&
         http_queue_is_asked (request->body, "background") &&
         !http_queue_is_asked (request->body, "stream") && !http_queue_is_asked (request->body, "detach") &&
         !json_is_string (json_object_get (request->body, "session"));
}

/* The run as far as this daemon can tell. NULL: it is refused, and a node says why. Only nodes know
 * environments and open work directories. */
static AdderRequest *
http_queue_read (struct http_request *request)
{
  struct operation_caller caller;
  http_call_caller (request, &caller);
  caller.watch_fd = -1;
  g_autoptr (json_t) params = json_copy (request->body);
  const char *environment = json_string_value (json_object_get (request->body, "environment"));
  json_object_del (params, "workdir");
  json_object_del (params, "environment");
  AdderRequest *asked = run_request_read (&caller, params, NULL);
  if (asked && environment)
    adder_request_set_environment (asked, environment);
  return asked;
}

/* Those of the headers ALL that a node reads for a run. Others, such as those that a proxy adds, must not be
 * stored in the queue. */
static json_t *
http_queue_headers (const json_t *all)
{
  static const char *const read[] = {"Content-Type", "User-Agent", "traceparent"};
  json_t *header, *headers = json_array ();
  gsize i;
  json_array_foreach (all, i, header)
  {
    const char *name = json_string_value (json_array_get (header, 0));
    for (gsize k = 0; k < G_N_ELEMENTS (read); k++)
      if (name && g_ascii_strcasecmp (name, read[k]) == 0)
        json_array_append (headers, header);
  }
  return headers;
}

/* What a node needs of a request besides its body; the caller's. */
static json_t *
http_queue_head (struct http_request *request, const char *id, gboolean once)
{
  json_t *head = http_forward_head (request);
  json_object_set_new (head, "headers", http_queue_headers (json_object_get (head, "headers")));
  json_object_set_new (head, "run_id", json_string (id));
  json_object_set_new (head, "once", json_boolean (once));
  return head;
}

static gboolean
http_queue_put (struct http_request *request, struct cluster *cluster, const struct queued_new *made,
                json_t *head, const char *body, gsize length, GError **error)
{
  struct store *store = request->server->service->engine->store;
  char database[ID_BYTES];
  if (!queued_add (store, made, database, error))
    return FALSE;
  json_object_set_new (head, "database", json_string (database));
  g_autoptr (GError) problem = NULL;
  gboolean removed = FALSE;
  if (work_queue_put (cluster, made->id, head, body, length, &problem))
    return TRUE;
  /* Without its row it cannot run, wherever the message is. If a node has the row, the message did arrive. */
  if (queued_remove (store, made->id, &removed, NULL) && !removed)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static void
http_queue_reply (struct http_request *request, const char *id, json_t *shown)
{
  g_autofree char *place = g_strconcat ("/v1/runs/", id, NULL);
  json_object_set_new (shown, "state", json_string ("queued"));
  json_object_set_new (shown, "can_follow", json_true ());
  json_object_set_new (shown, "result", json_null ());
  json_object_set_new (shown, "record", json_null ());
  http_set_header (request, "Location", place);
  http_reply_json (request, 202, json_incref (shown));
}

static void
http_queue_accept (struct http_request *request, struct cluster *cluster, const AdderRequest *asked,
                   const char *body, gsize length)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) shown = NULL;
  struct service *service = request->server->service;
  char id[ID_BYTES];
  id_make_queued (id);
  g_autofree char *note = library_queued_note (service->engine, asked, id, &shown);
  gboolean once = http_queue_is_asked (request->body, "once");
  g_autoptr (json_t) head = http_queue_head (request, id, once);
  const struct queued_new made = {.id = id,
                                  .owner = http_who (request)->owner,
                                  .once = once,
                                  .note = note,
                                  .shown = shown,
                                  .bytes = json_dumpb (head, NULL, 0, JSON_COMPACT) + length,
                                  .most = service->config->http_background,
                                  .most_bytes = service->config->cluster_queue_bytes / 2};
  if (service_begin (service, &problem)) {
    (void)http_queue_put (request, cluster, &made, head, body, length, &problem);
    service_end (service);
  }
  if (problem)
    http_reply_problem (request, problem);
  else
    http_queue_reply (request, id, shown);
}

gboolean
http_queue (struct http_request *request, struct cluster *cluster)
{
  gsize length;
  if (!http_queue_takes (request))
    return FALSE;
  g_autofree char *body = http_forward_body (request, &length);
  AdderRequest *asked = length <= WORK_BODY_BYTES ? http_queue_read (request) : NULL;
  if (!asked)
    return FALSE;
  http_queue_accept (request, cluster, asked, body, length);
  adder_request_free (asked);
  return TRUE;
}
