/* SPDX-License-Identifier: Apache-2.0 */
/* What all interfaces of one daemon share. */
#include "interfaces/service/service.h"

#include <jansson.h>

#include "common/json.h"
#include "engine/pool/pool.h"
#include "engine/session/sessions.h"
#include "library/events.h"
#include "library/library.h"
#include "library/runs.h"

struct service *
service_new (AdderEngine *engine)
{
  struct service *service = g_new0 (struct service, 1);
  service->engine = engine;
  service->config = engine->engine->host->config;
  service->tools = tools_new (engine);
  service->metrics = metrics_new ();
  g_mutex_init (&service->lock);
  g_cond_init (&service->idle);
  return service;
}

void
service_free (struct service *service)
{
  if (!service)
    return;
  events_close (service->engine->events);
  runs_close (service->engine->runs);
  /* Who runs in the background is done with the service only then. */
  g_mutex_lock (&service->lock);
  while (service->running > 0)
    g_cond_wait (&service->idle, &service->lock);
  g_mutex_unlock (&service->lock);
  metrics_free (service->metrics);
  tools_free (service->tools);
  g_cond_clear (&service->idle);
  g_mutex_clear (&service->lock);
  g_free (service);
}

gboolean
service_begin (struct service *service, GError **error)
{
  g_mutex_lock (&service->lock);
  gboolean ending = service->ending;
  if (!ending) {
    service->running++;
    service->works++;
  }
  g_mutex_unlock (&service->lock);
  if (ending)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY, "the daemon is ending");
  return !ending;
}

void
service_end (struct service *service)
{
  g_mutex_lock (&service->lock);
  service->running--;
  if (service->running == 0)
    g_cond_broadcast (&service->idle);
  g_mutex_unlock (&service->lock);
}

gboolean
service_begin_operation (struct service *service, const struct operation *operation, GError **error)
{
  return !(operation->flags & OPERATION_RUNS) || service_begin (service, error);
}

void
service_end_operation (struct service *service, const struct operation *operation)
{
  if (operation->flags & OPERATION_RUNS)
    service_end (service);
}

gboolean
service_is_ending (struct service *service)
{
  g_mutex_lock (&service->lock);
  gboolean ending = service->ending;
  g_mutex_unlock (&service->lock);
  return ending;
}

void
service_set_ending (struct service *service)
{
  g_mutex_lock (&service->lock);
  service->ending = TRUE;
  g_mutex_unlock (&service->lock);
}

#define DRAIN_AFTER_MS 1000

void
service_drain (struct service *service, guint64 wait_ms)
{
  gint64 now_us = g_get_monotonic_time (), end_us = now_us + (gint64)wait_ms * 1000;
  g_mutex_lock (&service->lock);
  gboolean drains = service->drains_us != 0;
  if (!drains)
    service->drains_us = now_us;
  service->drained_us = drains ? MIN (service->drained_us, end_us) : end_us;
  g_mutex_unlock (&service->lock);
  pools_refuse (service->engine->engine->pools, ADDER_ERROR_BUSY, "this node is draining: ask another",
                DRAIN_AFTER_MS);
  g_autofree char *reason = g_strdup_printf ("the node %s was drained", store_node (service->engine->store));
  sessions_set_end (service->engine->engine->sessions, reason);
}

gboolean
service_is_draining (struct service *service)
{
  g_mutex_lock (&service->lock);
  gboolean drains = service->drains_us != 0;
  g_mutex_unlock (&service->lock);
  return drains;
}

static guint
status_number (const json_t *status, const char *group, const char *name)
{
  return (guint)json_integer_value (json_object_get (json_object_get (status, group), name));
}

struct service_holding
service_holding (struct service *service)
{
  g_autoptr (json_t) status = library_status (service->engine);
  return (struct service_holding){status_number (status, "sessions", "live"),
                                  status_number (status, "approvals", "waiting")};
}

gboolean
service_drain_is_over (struct service *service)
{
  gint64 now_us = g_get_monotonic_time ();
  g_mutex_lock (&service->lock);
  gboolean late = now_us >= service->drained_us;
  gboolean begun = now_us < service->drains_us + (gint64)DRAIN_AFTER_MS * 1000;
  gboolean running = service->running > 0, drains = service->drains_us != 0;
  g_mutex_unlock (&service->lock);
  if (!drains || late || begun || running)
    return drains && late;
  struct service_holding holding = service_holding (service);
  return holding.sessions == 0 && holding.approvals == 0;
}

void
service_keep_ms (struct service *service, guint64 ms)
{
  gint64 until_us = g_get_monotonic_time () + (gint64)ms * 1000;
  g_mutex_lock (&service->lock);
  service->kept_until_us = MAX (service->kept_until_us, until_us);
  g_mutex_unlock (&service->lock);
}

gboolean
service_is_kept (struct service *service)
{
  g_mutex_lock (&service->lock);
  gboolean kept = service->running > 0 || g_get_monotonic_time () < service->kept_until_us;
  g_mutex_unlock (&service->lock);
  if (kept)
    return TRUE;
  struct service_holding holding = service_holding (service);
  return holding.sessions > 0 || holding.approvals > 0 ||
         tools_living_conversation_states (service->tools) > 0 || runs_held (service->engine->runs) > 0;
}
