/* SPDX-License-Identifier: Apache-2.0 */
/* Handing sessions over to other nodes.
 *
 * Theory of operation. The draining node holds the session, as a cell does, so requests for it wait. It sends
 * another node all that a replay needs (library/handover.h). That node makes the session again, with the same
 * id, and announces to all nodes that it has it (sessions_guests), so that they send requests there. When the
 * draining node hears this announcement, it gives up its copy and answers waiting and later requests with
 * "try again". If anything fails on the way, the session stays.
 *
 * Without a reply, the other node may have taken the session all the same. The draining node then waits for
 * the announcement, for as long as it takes to regard a silent node as gone, and decides by that. */
#include "interfaces/service/cluster_handover.h"

#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "cluster/tunnel.h"
#include "common/json.h"
#include "common/log.h"
#include "engine/engine.h"
#include "engine/session/sessions.h"
#include "library/handover.h"
#include "library/library.h"

#define PASS_US    (1 * G_USEC_PER_SEC) /* between searches for idle sessions */
#define BODY_BYTES (8 << 20)            /* the results of cells are left out of a longer body */

LOCK_CLASS (cluster_handover);

struct cluster_handover {
  struct service *service;
  struct cluster *cluster;
  GThread *thread;
  int watch[2];          /* a pair of sockets; closing the second cancels a request */
  GHashTable *unmovable; /* id -> the edition of its history, as text, at which it cannot move */

  MUTEX (cluster_handover) lock;
  GCond changed;
  GUARDED_BY (cluster_handover) gboolean ending;
};

enum handed { HANDED_OVER, HANDED_NOT, HANDED_NEVER, HANDED_UNKNOWN };

static gboolean
cluster_handover_is_ending (struct cluster_handover *handover)
{
  g_mutex_lock (&handover->lock);
  gboolean ending = handover->ending;
  g_mutex_unlock (&handover->lock);
  return ending;
}

/* ---- one node ---- */

static char *
cluster_handover_body (json_t *whole)
{
  g_autoptr (json_t) body = json_pack ("{s:O}", "session", whole);
  char *text = json_to_text (body);
  if (strlen (text) <= BODY_BYTES)
    return text;
  g_free (text);
  gsize i;
  json_t *cell;
  json_array_foreach (json_object_get (whole, "cells"), i, cell)
  {
    json_object_set_new (cell, "result", json_null ());
  }
  return json_to_text (body);
}

/* Sends a request of OWNER to the node TAG. Returns its reply, or NULL and sets ERROR. */
static json_t *
cluster_handover_call (struct cluster_handover *handover, const char *tag, const char *method,
                       const char *target, const char *owner, const char *body, GError **error)
{
  g_autoptr (json_t) head = json_pack ("{s:s, s:s, s:[[s, s]], s:{s:s, s:o}}", "method", method, "target",
                                       target, "headers", "Content-Type", "application/json", "caller",
                                       "role", role_name (ROLE_ADMIN), "owner", json_text_or_null (owner));
  const struct tunnel_request request = {
      .node = tag, .head = head, .body = body, .length = strlen (body), .watch_fd = handover->watch[0]};
  return tunnel_call (handover->cluster, &request, error);
}

/* RET_REASON is why the node did not take it; the caller frees it. */
static enum handed
cluster_handover_ask (struct cluster_handover *handover, const char *tag, const char *body, char **ret_reason)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) reply =
      cluster_handover_call (handover, tag, "POST", CLUSTER_HANDOVER_PATH, "", body, &problem);
  *ret_reason = g_strdup (reply ? json_member_text (reply, "reason") : problem->message);
  /* The node has an older version, or refused the request. */
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND) ||
      g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_REFUSED))
    return HANDED_NOT;
  if (!reply)
    return HANDED_UNKNOWN;
  if (json_is_true (json_object_get (reply, "taken")))
    return HANDED_OVER;
  return json_is_true (json_object_get (reply, "differs")) ? HANDED_NEVER : HANDED_NOT;
}

/* REASON may contain names and messages from the session's code. */
static const char *
cluster_handover_logged (const struct cluster_handover *handover, enum handed handed, const char *reason)
{
  if (handover->service->config->log_code)
    return reason;
  return handed == HANDED_NEVER ? "its cells give other results there" : "it could not, or did not answer";
}

/* ---- one session, while it is held ---- */

/* Somebody ended SESSION here while it moved to the node TAG. */
static void
cluster_handover_end_there (struct cluster_handover *handover, const struct session *session, const char *tag)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *target = g_strconcat ("/v1/sessions/", session->id, NULL);
  g_autoptr (json_t) ended =
      cluster_handover_call (handover, tag, "DELETE", target, session->owner, "", &problem);
  if (!ended)
    log_warning ("draining: the session %s has ended here, but may live on at another node: %s", session->id,
                 problem->message);
}

/* Tries the node whose entry is TO. */
static enum handed
cluster_handover_to (struct cluster_handover *handover, struct session *session, const json_t *to,
                     const char *body)
{
  const char *tag = json_member_text (to, "tag"), *node = json_member_text (to, "node");
  g_autofree char *reason = NULL;
  enum handed handed = cluster_handover_ask (handover, tag, body, &reason);
  if (handed == HANDED_OVER || handed == HANDED_UNKNOWN) {
    gboolean there = cluster_await_guest (handover->cluster, session->id, tag, CLUSTER_SILENT_MS);
    handed = there || handed == HANDED_OVER ? HANDED_OVER : HANDED_NOT;
  }
  if (handed == HANDED_OVER) {
    if (sessions_move (session, node))
      log_info ("draining: the session %s has moved to the node %s", session->id, node);
    else
      cluster_handover_end_there (handover, session, tag);
    return handed;
  }
  log_info ("draining: the node %s does not take the session %s: %s", node, session->id,
            cluster_handover_logged (handover, handed, reason));
  g_autofree char *stays = g_strdup_printf ("no other node could take it: %s", reason);
  sessions_set_stays (session, stays);
  return handed;
}

static gboolean
cluster_handover_may_take (const json_t *node)
{
  return json_is_true (json_object_get (node, "signed")) && !json_is_true (json_object_get (node, "here")) &&
         !json_is_true (json_object_get (node, "gateway")) &&
         strcmp (json_member_text (node, "state"), "serving") == 0;
}

/* Tries all nodes, starting with a different one for each session, until one has taken SESSION or found that
 * none can. */
static enum handed
cluster_handover_to_any (struct cluster_handover *handover, struct session *session, const char *body)
{
  g_autoptr (json_t) list = cluster_list (handover->cluster);
  const json_t *nodes = json_object_get (list, "nodes");
  gsize count = json_array_size (nodes), first = count > 0 ? g_str_hash (session->id) % count : 0;
  enum handed handed = HANDED_NOT;
  sessions_set_stays (session, "there was no other node");
  for (gsize i = 0; i < count && handed == HANDED_NOT && !cluster_handover_is_ending (handover); i++) {
    const json_t *node = json_array_get (nodes, (first + i) % count);
    if (cluster_handover_may_take (node))
      handed = cluster_handover_to (handover, session, node, body);
  }
  return handed;
}

/* ---- one session ---- */

static void
cluster_handover_keep (struct cluster_handover *handover, struct session *session, guint64 edition,
                       const char *why)
{
  if (why) {
    g_autofree char *stays = g_strdup_printf ("it cannot be made again on another node: %s", why);
    sessions_set_stays (session, stays);
  }
  g_hash_table_replace (handover->unmovable, g_strdup (session->id),
                        g_strdup_printf ("%" G_GUINT64_FORMAT, edition));
}

static gboolean
cluster_handover_is_kept (struct cluster_handover *handover, struct session *session)
{
  g_autofree char *edition = g_strdup_printf ("%" G_GUINT64_FORMAT, sessions_edition (session));
  return g_strcmp0 (g_hash_table_lookup (handover->unmovable, session->id), edition) == 0;
}

/* Moves SESSION if it is still as WHOLE describes it, at this EDITION of its history. */
static void
cluster_handover_move (struct cluster_handover *handover, struct session *session, guint64 edition,
                       json_t *whole)
{
  g_autofree char *body = cluster_handover_body (whole);
  struct interrupt interrupt;
  if (!interrupt_init (&interrupt, -1, NULL))
    return;
  if (sessions_begin (session, FALSE, SESSION_CHANGE, &interrupt, NULL)) {
    struct session_result nothing = {0};
    enum handed handed =
        sessions_leave (session, edition, json_string_value (json_object_get (whole, "name")))
            ? cluster_handover_to_any (handover, session, body)
            : HANDED_NOT;
    if (handed == HANDED_NEVER)
      cluster_handover_keep (handover, session, edition, NULL);
    if (handed != HANDED_OVER)
      sessions_finish (session, &nothing);
  }
  interrupt_clear (&interrupt);
}

static void
cluster_handover_try (struct cluster_handover *handover, struct session *session)
{
  g_autoptr (GError) problem = NULL;
  guint64 edition;
  const char *logged;
  if (cluster_handover_is_kept (handover, session))
    return;
  g_autoptr (json_t) whole = library_handover_write (session, &edition, &logged, &problem);
  if (whole)
    cluster_handover_move (handover, session, edition, whole);
  else if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED)) {
    log_info ("draining: the session %s stays: %s", session->id,
              handover->service->config->log_code ? problem->message : logged);
    cluster_handover_keep (handover, session, edition, problem->message);
  }
}

/* ---- all sessions ---- */

static void
cluster_handover_pass (struct cluster_handover *handover)
{
  struct service *service = handover->service;
  g_autoptr (GPtrArray) sessions = sessions_idle (service->engine->engine->sessions);
  for (guint i = 0; i < sessions->len && !cluster_handover_is_ending (handover); i++) {
    if (!service_begin (service, NULL))
      return;
    cluster_handover_try (handover, sessions->pdata[i]);
    service_end (service);
  }
}

static gpointer
cluster_handover_thread (gpointer data)
{
  struct cluster_handover *handover = data;
  g_mutex_lock (&handover->lock);
  while (!handover->ending) {
    g_mutex_unlock (&handover->lock);
    cluster_handover_pass (handover);
    gint64 until_us = g_get_monotonic_time () + PASS_US;
    g_mutex_lock (&handover->lock);
    while (!handover->ending && g_cond_wait_until (&handover->changed, &handover->lock, until_us))
      ;
  }
  g_mutex_unlock (&handover->lock);
  return NULL;
}

void
cluster_handover_start (struct service *service)
{
  struct cluster *cluster = service->engine->cluster;
  g_mutex_lock (&service->lock);
  gboolean starts = cluster && !service->config->cluster_gateway && !service->handover && !service->ending;
  struct cluster_handover *handover = starts ? g_new0 (struct cluster_handover, 1) : NULL;
  if (handover) {
    *handover = (struct cluster_handover){.service = service, .cluster = cluster, .watch = {-1, -1}};
    g_mutex_init (&handover->lock);
    g_cond_init (&handover->changed);
    handover->unmovable = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, handover->watch) < 0)
      log_warning ("draining: cannot make sockets for handing sessions over");
    handover->thread = g_thread_new ("handover", cluster_handover_thread, handover);
    service->handover = handover;
  }
  g_mutex_unlock (&service->lock);
}

void
cluster_handover_end (struct service *service)
{
  g_mutex_lock (&service->lock);
  struct cluster_handover *handover = g_steal_pointer (&service->handover);
  g_mutex_unlock (&service->lock);
  if (!handover)
    return;
  g_mutex_lock (&handover->lock);
  handover->ending = TRUE;
  g_cond_signal (&handover->changed);
  g_mutex_unlock (&handover->lock);
  fd_close (&handover->watch[1]);
  g_thread_join (handover->thread);
  fd_close (&handover->watch[0]);
  UNSHARED (cluster_handover);
  g_hash_table_unref (handover->unmovable);
  g_mutex_clear (&handover->lock);
  g_cond_clear (&handover->changed);
  g_free (handover);
}

/* ---- taking one ---- */

json_t *
cluster_handover_take (struct service *service, const json_t *whole, int watch_fd)
{
  g_autoptr (GError) problem = NULL;
  gboolean taken = FALSE;
  if (service_is_draining (service))
    g_set_error_literal (&problem, ADDER_ERROR, ADDER_ERROR_BUSY, "it is draining as well");
  else if (service_begin (service, &problem)) {
    taken = library_handover_read (service->engine, whole, watch_fd, &problem);
    service_end (service);
  }
  if (taken)
    cluster_announce (service->engine->cluster);
  gboolean differs = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  return json_pack ("{s:b, s:o, s:b}", "taken", taken, "reason",
                    json_text_or_null (problem ? problem->message : NULL), "differs", differs);
}
