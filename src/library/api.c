/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of include/adder.h, except for requests (request_api.c): thin, since the opaque types
 * stand for the engine's own structures. */
#include "adder.h"
#include "build-config.h"
#include "cluster/cluster.h"
#include "common/config.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/files/save.h"
#include "engine/network/proxy.h"
#include "engine/request/result.h"
#include "engine/run/run.h"
#include "library/events.h"
#include "library/library.h"
#include "library/runs.h"
#include "policy/rates.h"

/* Owners whose questions to a model are counted. */
#define QUESTION_OWNERS_MAX 4096

const char *
adder_version (void)
{
  return ADDER_VERSION;
}

/* ---- engine ---- */

gboolean
library_check_config (const struct config *config, GError **error)
{
  struct store *store = NULL;
  gboolean ok = host_check_config (config, error) && proxy_check_config (config, error) &&
                (store = store_new (config, error));
  if (store)
    store_unref (store);
  return ok;
}

AdderEngine *
adder_engine_new (const char *config_file, GError **error)
{
  struct config *config = config_load (config_file, error);
  if (!config)
    return NULL;
  struct engine *engine = engine_new (config, error);
  if (!engine)
    return NULL;
  struct store *store = store_new (engine->host->config, error);
  if (!store) {
    engine_close (engine);
    engine_unref (engine);
    return NULL;
  }
  struct adder_engine *public = g_new0 (struct adder_engine, 1);
  public->engine = engine;
  public->store = store;
  public->recorder = recorder_new (store, engine->notifications);
  public->approvals = approvals_new (engine->host->config, engine->notifications);
  if (store_is_shared (engine->host->config))
    approvals_share (public->approvals, store);
  public->loops = loops_new (engine->host->config);
  public->runs = runs_new (engine->host->config, store);
  public->events = events_new (engine->notifications, engine->host->config->daemon_events);
  public->questions = rates_new (QUESTION_OWNERS_MAX, RATES_HOUR_US);
  profile_cache_init (&public->profiles);
  public->reviews = reviews_new (engine->host->config);
  library_join_reviews (public);
  library_remember_sessions (public);
  return public;
}

gboolean
adder_engine_warm (AdderEngine *engine, const char *environment, GError **error)
{
  g_return_val_if_fail (engine != NULL, FALSE);
  return engine_warm (engine->engine, environment, error);
}

json_t *
library_status (AdderEngine *engine)
{
  json_t *status = engine_status (engine->engine);
  if (engine->cluster)
    cluster_add_waiting (engine->cluster, status);
  json_object_set_new (status, "approvals",
                       json_pack ("{s:i}", "waiting", (int)approvals_waiting (engine->approvals)));
  json_object_set_new (status, "store", recorder_status (engine->recorder));
  return status;
}

char *
adder_engine_status_json (AdderEngine *engine)
{
  g_return_val_if_fail (engine != NULL, NULL);
  g_autoptr (json_t) status = library_status (engine);
  return json_to_text (status);
}

void
adder_engine_free (AdderEngine *engine)
{
  if (!engine)
    return;
  engine_close (engine->engine);
  store_close (engine->store);
  recorder_unref (engine->recorder);
  store_unref (engine->store);
  engine_unref (engine->engine);
  profile_cache_clear (&engine->profiles);
  approvals_unref (engine->approvals);
  reviews_close (engine->reviews);
  reviews_unref (engine->reviews);
  loops_unref (engine->loops);
  runs_free (engine->runs);
  events_unref (engine->events);
  rates_free (engine->questions);
  g_free (engine);
}

/* ---- run ---- */

AdderRun *
library_start (AdderEngine *engine, struct run_request *resolved)
{
  struct event_run *event =
      events_watch_run (engine->events, resolved, engine->engine->host->config->store_code);
  AdderRun *run = run_start (engine->engine, resolved);
  events_note_start (event, run_id (run));
  return run;
}

AdderRun *
adder_run_start (AdderEngine *engine, const AdderRequest *request)
{
  g_return_val_if_fail (engine != NULL && request != NULL, NULL);
  struct run_request *resolved = library_resolve (engine, request);
  /* First, since admission may replace files by copies. */
  if (resolved->conversation)
    library_watch_loops (engine, resolved);
  library_admit (engine, request, resolved);
  library_fetch_inputs (engine, resolved, FALSE);
  library_set_recorder (engine, resolved, resolved->session != NULL);
  return library_start (engine, resolved);
}

const char *
adder_run_id (const AdderRun *run)
{
  g_return_val_if_fail (run != NULL, NULL);
  return run_id (run);
}

gboolean
adder_run_next (AdderRun *run, AdderEvent *event)
{
  g_return_val_if_fail (run != NULL && event != NULL, FALSE);
  return run_next (run, event);
}

void
adder_run_cancel (AdderRun *run)
{
  g_return_if_fail (run != NULL);
  run_cancel (run);
}

void
adder_run_free (AdderRun *run)
{
  run_free (run);
}

AdderResult *
adder_run (AdderEngine *engine, const AdderRequest *request)
{
  g_autoptr (AdderRun) run = adder_run_start (engine, request);
  g_return_val_if_fail (run != NULL, NULL);
  AdderEvent event;
  do
    adder_run_next (run, &event);
  while (event.kind != ADDER_EVENT_RESULT);
  return event.result;
}

/* ---- result ---- */

const char *
adder_result_json (const AdderResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  return result_text (result);
}

AdderOutcome
adder_result_outcome (const AdderResult *result)
{
  g_return_val_if_fail (result != NULL, ADDER_OUTCOME_FAILED);
  return result->outcome;
}

int
adder_result_exit_code (const AdderResult *result)
{
  g_return_val_if_fail (result != NULL, 125);
  return result->exit_code;
}

gsize
adder_result_file_count (const AdderResult *result)
{
  g_return_val_if_fail (result != NULL, 0);
  return result->artifacts ? result->artifacts->len : 0;
}

static const struct artifact *
artifact_at (const AdderResult *result, gsize index)
{
  return index < adder_result_file_count (result) ? result->artifacts->pdata[index] : NULL;
}

const char *
adder_result_file_name (const AdderResult *result, gsize index)
{
  const struct artifact *artifact = artifact_at (result, index);
  g_return_val_if_fail (artifact != NULL, NULL);
  return artifact->name;
}

int
adder_result_file_open (const AdderResult *result, gsize index, GError **error)
{
  const struct artifact *artifact = artifact_at (result, index);
  if (!artifact) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "the result has no file %" G_GSIZE_FORMAT, index);
    return -1;
  }
  return artifact_open (result->workspace_fd, artifact, error);
}

json_t *
library_result (const AdderResult *result)
{
  return json_incref (result->value);
}

json_t *
library_display (const AdderRun *run)
{
  return json_incref (run_shown (run));
}

json_t *
library_save_files (const AdderResult *result, int directory_fd, gboolean force, GError **error)
{
  json_t *told = save_files (result->workspace_fd, result->artifacts, directory_fd, force);
  (void)save_check (told, error);
  return told;
}

gboolean
adder_result_save_files (const AdderResult *result, int directory_fd, gboolean force, char **ret_json,
                         GError **error)
{
  g_return_val_if_fail (result != NULL, FALSE);
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) told = library_save_files (result, directory_fd, force, &problem);
  if (ret_json)
    *ret_json = json_to_text (told);
  if (problem)
    g_propagate_error (error, g_error_copy (problem));
  return !problem;
}

void
adder_result_free (AdderResult *result)
{
  result_free (result);
}
