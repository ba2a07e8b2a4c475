/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/operation_reply.h"

#include "common/json.h"
#include "interfaces/http/http_operations.h"
#include "interfaces/http/http_problem.h"
#include "interfaces/http/run_reply.h"
#include "policy/principal.h"

/* A call with all that it needs after its request is gone. */
struct telling {
  struct service *service;
  const struct operation *operation;
  struct principal *who;
  json_t *params;
  struct operation_caller caller; /* in it only what WHO and SERVICE have */
};

static void
telling_free (gpointer data)
{
  struct telling *telling = data;
  service_end (telling->service);
  principal_unref (telling->who);
  json_decref (telling->params);
  g_free (telling);
}

static void
operation_reply_tell (gpointer data, const char *name, json_t *value)
{
  run_events_tell (data, name, value);
}

static void
operation_reply_produce (struct http_stream *stream, gpointer data)
{
  struct telling *telling = data;
  g_autoptr (GError) problem = NULL;
  telling->caller.watch_fd = http_stream_watch_fd (stream);
  telling->caller.told = operation_reply_tell;
  telling->caller.told_data = stream;
  json_t *value = operation_run (telling->operation, &telling->caller, telling->params, &problem);
  if (value)
    run_events_tell (stream, "answer", value);
  else
    run_events_tell (stream, "problem",
                     http_problem_told (telling->who, telling->caller.at_terminal, problem));
}

/* NULL with ERROR. */
static struct telling *
telling_new (struct http_request *request, GError **error)
{
  struct http_call call;
  struct telling *telling = NULL;
  if (http_call_init (request, &call, error) && service_begin (http_service (request), error)) {
    telling = g_new (struct telling, 1);
    *telling = (struct telling){
        .service = http_service (request),
        .operation = http_route (request)->called,
        .who = principal_ref ((struct principal *)(guintptr)http_who (request)),
        .params = g_steal_pointer (&call.params),
        .caller = call.caller,
    };
    telling->caller.fd = -1;
  }
  http_call_clear (&call);
  return telling;
}

void
operation_reply (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  struct telling *telling = telling_new (request, &problem);
  if (telling)
    http_reply_produced (request, operation_reply_produce, telling, telling_free);
  else
    http_reply_problem (request, problem);
}
