/* SPDX-License-Identifier: Apache-2.0 */
/* Background runs of a cluster with shared records: the daemon that a client reached queues them, and answers
 * what is asked about them while no node has them. Nodes run them in http_worker.c. */
#include <poll.h>
#include <string.h>

#include "adder_types.h"
#include "cluster/work_queue.h"
#include "common/json.h"
#include "interfaces/http/http_operations.h"
#include "interfaces/http/http_private.h"
#include "interfaces/http/owner.h"
#include "library/library.h"
#include "operations/run.h"
#include "store/queued.h"
#include "store/records.h"

#define LOOK_MS      20 /* how often a run is looked for that waits; then less and less often, */
#define LOOK_MOST_MS 500

/* ---- a new run ---- */

static gboolean
http_queue_is_asked (const json_t *body, const char *name)
{
  return json_is_true (json_object_get (body, name));
}

/* A session has its node, and a stream its reader. */
static gboolean
http_queue_is_for_it (struct http_request *request)
{
  const struct http_route *route = request->route;
  return strcmp (route->method, "POST") == 0 && strcmp (route->path, "/v1/runs") == 0 &&
         http_queue_is_asked (request->body, "background") &&
         !http_queue_is_asked (request->body, "stream") && !http_queue_is_asked (request->body, "detach") &&
         !json_is_string (json_object_get (request->body, "session"));
}

/* What the run will be, as far as this daemon can tell; NULL: it is refused, and a node says why. Nodes alone
 * know environments, and open work directories. */
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

/* The headers of ALL that a node reads of a run. Others, such as those that a proxy adds, are not for the
 * disks of the queue. */
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
  /* Without a row it does not run, wherever the message is. If a node has it, the message did arrive. */
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

/* FALSE: it goes to a node at once. */
static gboolean
http_queue_new (struct http_request *request, struct cluster *cluster)
{
  gsize length;
  g_autofree char *body = http_forward_body (request, &length);
  AdderRequest *asked = length <= WORK_BODY_BYTES ? http_queue_read (request) : NULL;
  if (!asked)
    return FALSE;
  http_queue_accept (request, cluster, asked, body, length);
  adder_request_free (asked);
  return TRUE;
}

/* ---- one that is there ---- */

/* FALSE: the client is gone. */
static gboolean
http_queue_pause (struct http_request *request, guint ms)
{
  struct pollfd client = {http_watch_fd (request), POLLRDHUP, 0};
  return poll (&client, 1, (int)ms) <= 0;
}

/* How long it waits, from now on, as its node is told. */
static void
http_queue_set_wait (struct http_request *request, gint64 ms)
{
  const char *owner = json_string_value (json_object_get (request->query, "owner"));
  g_autofree char *escaped = owner ? g_uri_escape_string (owner, NULL, FALSE) : NULL;
  g_free (request->query_text);
  request->query_text = g_strdup_printf ("wait_ms=%" G_GINT64_FORMAT "%s%s", MAX (ms, 0),
                                         escaped ? "&owner=" : "", escaped ? escaped : "");
}

struct http_queue_wait {
  const char *owner, *id;
  gboolean follows; /* its events: as long as it takes */
  gint64 wait_ms;   /* 0: it is not waited for */
  gint64 end_us;
};

enum http_queued { HTTP_QUEUED_HERE, HTTP_QUEUED_REPLIED, HTTP_QUEUED_WAITS };

/* One that has ended: its events are held where it ran, while they are. */
static enum http_queued
http_queue_follow_ended (struct http_request *request, struct cluster *cluster,
                         const struct http_queue_wait *wait)
{
  struct store *store = request->server->service->engine->store;
  g_autoptr (json_t) record = records_show (store, wait->owner, wait->id, NULL);
  const char *node = record ? json_member_text (record, "node") : "";
  g_autoptr (json_t) entry = *node ? cluster_show (cluster, node, NULL) : NULL;
  if (!entry || json_is_true (json_object_get (entry, "here")))
    return HTTP_QUEUED_HERE;
  return http_forward_pass (request, cluster, json_member_text (entry, "tag")) ? HTTP_QUEUED_REPLIED
                                                                               : HTTP_QUEUED_HERE;
}

/* Has its node answer, if it has one. */
static enum http_queued
http_queue_look (struct http_request *request, struct cluster *cluster, const struct http_queue_wait *wait)
{
  g_autoptr (GError) problem = NULL;
  struct queued_place place;
  g_autoptr (json_t) shown =
      queued_show (request->server->service->engine->store, wait->owner, wait->id, &place, &problem);
  if (!shown && !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)) {
    http_reply_problem (request, problem);
    return HTTP_QUEUED_REPLIED;
  }
  if (!shown)
    return wait->follows ? http_queue_follow_ended (request, cluster, wait) : HTTP_QUEUED_HERE;
  if (strcmp (place.instance, cluster_instance (cluster)) == 0)
    return HTTP_QUEUED_HERE;
  if (!cluster_knows (cluster, place.instance, NULL))
    return HTTP_QUEUED_WAITS;
  if (wait->wait_ms > 0)
    http_queue_set_wait (request, (wait->end_us - g_get_monotonic_time ()) / 1000);
  return http_forward_pass (request, cluster, place.tag) ? HTTP_QUEUED_REPLIED : HTTP_QUEUED_WAITS;
}

/* FALSE: this daemon answers. */
static gboolean
http_queue_about (struct http_request *request, struct cluster *cluster, const char *id)
{
  const json_t *query = request->query;
  struct http_queue_wait wait = {.id = id, .follows = g_str_has_suffix (request->route->path, "/events")};
  wait.wait_ms = json_integer_value (json_object_get (query, "wait_ms"));
  wait.end_us = g_get_monotonic_time () + wait.wait_ms * 1000;
  if (!owner_asked_for (request, &wait.owner))
    return TRUE;
  for (guint pause = LOOK_MS;; pause = MIN (2 * pause, LOOK_MOST_MS)) {
    enum http_queued found = http_queue_look (request, cluster, &wait);
    if (found != HTTP_QUEUED_WAITS)
      return found == HTTP_QUEUED_REPLIED;
    if (!wait.follows && g_get_monotonic_time () >= wait.end_us)
      return FALSE;
    if (service_is_ending (request->server->service) || !http_queue_pause (request, pause)) {
      http_reply_fault (request, 503, "the run still waits for a node");
      return TRUE;
    }
  }
}

gboolean
http_queue (struct http_request *request, struct cluster *cluster)
{
  if (!store_is_shared (request->server->config))
    return FALSE;
  const char *run = http_parameter (request, "run");
  if (run && g_str_has_prefix (request->route->path, "/v1/runs/") && id_is_queued (run))
    return http_queue_about (request, cluster, run);
  return http_queue_is_for_it (request) && http_queue_new (request, cluster);
}
