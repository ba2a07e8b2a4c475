/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked under load: a daemon over its socket, each client on a connection that it keeps, or an engine
 * in this process. */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "bench/load.h"
#include "common/config.h"
#include "common/json.h"
#include "engine/host/environment.h"
#include "library/library.h"

/* ---- opening ---- */

static gboolean
open_daemon (struct load_target *target, const struct config *config, GError **error)
{
  struct client client;
  target->socket = config_socket (config, error);
  if (!target->socket || !client_open (target->socket, &client, error))
    return FALSE;
  target->pid = (pid_t)client.daemon.pid;
  client_close (&client);
  return TRUE;
}

gboolean
load_target_open (struct load_target *target, gboolean in_process, GError **error)
{
  struct config *config = config_load (NULL, error);
  if (!config)
    return FALSE;
  target->queue_wait_ms = config->queue_wait_ms;
  target->parked = config->parked;
  if (!target->environment)
    target->environment = g_strdup (environment_default (config));
  gboolean ok;
  if (in_process) {
    target->pid = getpid ();
    target->engine = adder_engine_new (NULL, error);
    ok = target->engine && adder_engine_warm (target->engine, target->environment, error);
  } else
    ok = open_daemon (target, config, error);
  config_free (config);
  return ok;
}

void
load_target_clear (struct load_target *target)
{
  adder_engine_free (target->engine);
  g_free (target->socket);
  g_free (target->environment);
  g_free (target->profile);
  g_free (target->code);
}

/* ---- at rest ---- */

/* The engine's own status, the caller's; NULL when it does not answer, *RET_GONE when nobody ever will. */
static json_t *
target_status (struct load_target *target, gboolean *ret_gone)
{
  if (target->engine)
    return library_status (target->engine);
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) status = client_call (target->socket, "status.show", json_object (), &problem);
  *ret_gone = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  return json_incref (json_object_get (status, "engine"));
}

static json_int_t
load_target_number (const json_t *object, const char *name)
{
  return json_integer_value (json_object_get (object, name));
}

static gboolean
is_at_rest (const struct load_target *target, const json_t *status)
{
  gsize i;
  json_t *pool;
  gboolean found = FALSE;
  if (!status || load_target_number (status, "running") > 0 || load_target_number (status, "waiting") > 0)
    return FALSE;
  json_array_foreach (json_object_get (status, "pools"), i, pool)
  {
    if (load_target_number (pool, "parking") > 0 ||
        load_target_number (pool, "parked") < (json_int_t)target->parked ||
        json_is_true (json_object_get (pool, "bare")) || load_target_number (pool, "zygotes") > 1)
      return FALSE;
    found |= g_strcmp0 (json_string_value (json_object_get (pool, "environment")), target->environment) == 0;
  }
  return found;
}

gboolean
load_target_rest (struct load_target *target, guint seconds)
{
  gint64 until_us = g_get_monotonic_time () + (gint64)seconds * G_USEC_PER_SEC;
  gboolean gone = FALSE;
  do {
    g_autoptr (json_t) status = target_status (target, &gone);
    if (is_at_rest (target, status))
      return TRUE;
    g_usleep (20000);
  } while (!gone && g_get_monotonic_time () < until_us);
  return FALSE;
}

/* ---- asking an engine ---- */

/* What TARGET's code printed. */
static gboolean
load_target_is_own (const struct load_target *target, AdderOutcome outcome, const char *result,
                    const char *token, GError **error)
{
  if (!target->echoes || outcome != ADDER_OUTCOME_OK || strstr (result, token))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the result of %s is another's: %.400s", token,
               result);
  return FALSE;
}

static gboolean
ask_engine (struct load_line *line, const char *token, AdderOutcome *ret_outcome, GError **error)
{
  const struct load_target *target = line->target;
  const char *arguments[] = {token, NULL};
  g_autoptr (AdderRequest) request = adder_request_new (target->code, -1);
  adder_request_set_environment (request, target->environment);
  if (target->profile)
    adder_request_set_profile (request, target->profile);
  adder_request_set_arguments (request, arguments);
  adder_request_set_owner (request, line->owner, NULL);
  g_autoptr (AdderResult) result = adder_run (target->engine, request);
  AdderOutcome outcome = adder_result_outcome (result);
  if (!load_target_is_own (target, outcome, adder_result_json (result), token, error))
    return FALSE;
  *ret_outcome = outcome;
  return TRUE;
}

/* ---- asking a daemon ---- */

void
load_line_close (struct load_line *line)
{
  if (line->client.fd >= 0)
    client_close (&line->client);
  line->client.fd = -1;
}

/* After a result nothing may come before the next request. */
static gboolean
is_quiet (const struct load_line *line, GError **error)
{
  struct pollfd more = {.fd = line->client.fd, .events = POLLIN};
  char byte;
  if (poll (&more, 1, 0) == 0)
    return TRUE;
  if (recv (line->client.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the daemon sent more than one result");
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the daemon hung up between two requests");
  return FALSE;
}

static gboolean
send_run (const struct load_line *line, const char *token, GError **error)
{
  const struct load_target *target = line->target;
  g_autoptr (json_t) body = json_pack ("{s:s, s:s?, s:[s]}", "environment", target->environment, "profile",
                                       target->profile, "arguments", token);
  return protocol_send_json (line->client.fd, PROTOCOL_RUN, body, error) &&
         protocol_send (line->client.fd, PROTOCOL_CODE, target->code, strlen (target->code), NULL, 0, error);
}

/* FALSE without ERROR: it was another event. */
static gboolean
load_target_take_message (const struct load_line *line, const struct protocol_message *message,
                          const char *token, AdderOutcome *ret_outcome, GError **error)
{
  struct protocol_result head;
  if (message->kind == PROTOCOL_REFUSED) {
    protocol_take_refusal (message, error);
    return FALSE;
  }
  if (message->kind != PROTOCOL_RESULT || message->length < sizeof head)
    return FALSE;
  memcpy (&head, message->data, sizeof head);
  if (!load_target_is_own (line->target, (AdderOutcome)head.outcome, message->data + sizeof head, token,
                           error))
    return FALSE;
  if (head.outcome >= LOAD_OUTCOMES) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the daemon gave an unknown outcome, %u",
                 head.outcome);
    return FALSE;
  }
  *ret_outcome = (AdderOutcome)head.outcome;
  return TRUE;
}

static gboolean
await_result (const struct load_line *line, const char *token, AdderOutcome *ret_outcome, GError **error)
{
  for (;;) {
    struct protocol_message message;
    g_autoptr (GError) problem = NULL;
    if (!protocol_receive (line->client.fd, PROTOCOL_AWAIT_EVENT, -1, &message, error))
      return FALSE;
    gboolean done = load_target_take_message (line, &message, token, ret_outcome, &problem);
    protocol_message_clear (&message);
    if (problem)
      g_propagate_error (error, g_steal_pointer (&problem));
    if (done || (error && *error))
      return done;
  }
}

static gboolean
ask_daemon (struct load_line *line, const char *token, AdderOutcome *ret_outcome, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if ((line->client.fd >= 0 ? is_quiet (line, &problem)
                            : client_connect (line->target->socket, &line->client, &problem)) &&
      send_run (line, token, &problem) && await_result (line, token, ret_outcome, &problem))
    return TRUE;
  load_line_close (line);
  /* It has as many connections as it takes, and says so: an answer like any other. */
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY)) {
    *ret_outcome = ADDER_OUTCOME_BUSY;
    return TRUE;
  }
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

gboolean
load_line_ask (struct load_line *line, const char *token, AdderOutcome *ret_outcome, GError **error)
{
  return (line->target->engine ? ask_engine : ask_daemon) (line, token, ret_outcome, error);
}
