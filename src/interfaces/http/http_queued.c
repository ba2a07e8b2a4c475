/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked about a run that came from the queue of a cluster: the node that has it answers. While none
 * has it, the daemon that the client reached waits for that, or answers from the run's row. */
#include <poll.h>
#include <string.h>

#include "adder_types.h"
#include "cluster/cluster.h"
#include "common/json.h"
#include "interfaces/http/http_private.h"
#include "interfaces/http/owner.h"
#include "library/library.h"
#include "store/queued.h"
#include "store/records.h"

#define LOOK_MS      20 /* how often a run is looked for that waits; then less and less often, */
#define LOOK_MOST_MS 500

/* FALSE: the client is gone. */
static gboolean
http_queued_pause (struct http_request *request, guint ms)
{
  struct pollfd client = {http_watch_fd (request), POLLRDHUP, 0};
  return poll (&client, 1, (int)ms) <= 0;
}

/* How long it waits, from now on, as its node is told. */
static void
http_queued_set_wait (struct http_request *request, gint64 ms)
{
  const char *owner = json_string_value (json_object_get (request->query, "owner"));
  g_autofree char *escaped = owner ? g_uri_escape_string (owner, NULL, FALSE) : NULL;
  g_free (request->query_text);
  request->query_text = g_strdup_printf ("wait_ms=%" G_GINT64_FORMAT "%s%s", MAX (ms, 0),
                                         escaped ? "&owner=" : "", escaped ? escaped : "");
}

struct http_queued_wait {
  const char *owner, *id;
  gboolean follows; /* its events: as long as it takes */
  gint64 wait_ms;   /* 0: it is not waited for */
  gint64 end_us;
};

enum http_queued_answer { HTTP_QUEUED_HERE, HTTP_QUEUED_REPLIED, HTTP_QUEUED_WAITS };

/* One that has ended: its events are held where it ran, while they are. */
static enum http_queued_answer
http_queued_follow_ended (struct http_request *request, struct cluster *cluster,
                          const struct http_queued_wait *wait)
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
static enum http_queued_answer
http_queued_look (struct http_request *request, struct cluster *cluster, const struct http_queued_wait *wait)
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
    return wait->follows ? http_queued_follow_ended (request, cluster, wait) : HTTP_QUEUED_HERE;
  if (strcmp (place.instance, cluster_instance (cluster)) == 0)
    return HTTP_QUEUED_HERE;
  if (!cluster_is_alive (cluster, place.instance))
    return HTTP_QUEUED_WAITS;
  if (wait->wait_ms > 0)
    http_queued_set_wait (request, (wait->end_us - g_get_monotonic_time ()) / 1000);
  return http_forward_pass (request, cluster, place.tag) ? HTTP_QUEUED_REPLIED : HTTP_QUEUED_WAITS;
}

gboolean
http_queued (struct http_request *request, struct cluster *cluster)
{
  const json_t *query = request->query;
  const char *id = http_parameter (request, "run");
  if (!id || !g_str_has_prefix (request->route->path, "/v1/runs/") || !id_is_queued (id))
    return FALSE;
  struct http_queued_wait wait = {.id = id, .follows = g_str_has_suffix (request->route->path, "/events")};
  wait.wait_ms = json_integer_value (json_object_get (query, "wait_ms"));
  wait.end_us = g_get_monotonic_time () + wait.wait_ms * 1000;
  if (!owner_asked_for (request, &wait.owner))
    return TRUE;
  for (guint pause = LOOK_MS;; pause = MIN (2 * pause, LOOK_MOST_MS)) {
    enum http_queued_answer found = http_queued_look (request, cluster, &wait);
    if (found != HTTP_QUEUED_WAITS)
      return found == HTTP_QUEUED_REPLIED;
    if (!wait.follows && g_get_monotonic_time () >= wait.end_us)
      return FALSE;
    if (service_is_ending (request->server->service) || !http_queued_pause (request, pause)) {
      http_reply_fault (request, 503, "the run still waits for a node");
      return TRUE;
    }
  }
}
