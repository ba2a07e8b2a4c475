/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/runs: code is run, and runs under way are seen and ended. */
#include <string.h>

#include "common/json.h"
#include "interfaces/http/owner.h"
#include "interfaces/http/run_reply.h"
#include "interfaces/http/run_request.h"
#include "interfaces/http/shapes.h"
#include "interfaces/service/runs.h"
#include "library/library.h"
#include "operations/run_body.h"
#include "store/records.h"

/* ---- handlers ---- */

static void
handle_run (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  AdderRequest *asked = run_request_new (request, body, &problem);
  if (asked)
    run_reply (request, asked, body);
  else
    http_reply_problem (request, problem);
}

static void
handle_list (struct http_request *request)
{
  const char *owner;
  if (owner_asked_for (request, &owner))
    http_reply_json (request, 200, runs_list (http_service (request)->runs, owner));
}

/* The run in the path with its result, where that is held, and its record, where there is one. NULL with
 * ERROR. */
static json_t *
describe (struct http_request *request, GError **error)
{
  g_autoptr (GError) missing = NULL;
  const char *id = http_parameter (request, "run"), *owner = http_who (request)->owner;
  struct service *service = http_service (request);
  json_t *shown = runs_show (service->runs, owner, id, &missing);
  gboolean is_running = shown && strcmp (json_member_text (shown, "state"), "running") == 0;
  g_autoptr (json_t) record = is_running ? NULL : records_show (service->engine->store, owner, id, NULL);
  if (!shown && !record) {
    g_propagate_error (error, g_steal_pointer (&missing));
    return NULL;
  }
  if (!shown) {
    static const char *const taken[] = {"run_id", "started", "owner", "conversation", "front_end"};
    shown = json_pack ("{s:s, s:n}", "state", "ended", "result");
    for (gsize i = 0; i < G_N_ELEMENTS (taken); i++)
      json_object_set (shown, taken[i], json_object_get (record, taken[i]));
    json_object_set (shown, "session", json_object_get (record, "session_id"));
  }
  json_object_set_new (shown, "record", record ? json_incref (record) : json_null ());
  return shown;
}

static void
handle_show (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  guint64 wait_ms = (guint64)json_integer_value (json_object_get (http_query (request), "wait_ms"));
  runs_wait (http_service (request)->runs, http_who (request)->owner, http_parameter (request, "run"),
             wait_ms, http_watch_fd (request));
  json_t *shown = describe (request, &problem);
  if (shown)
    http_reply_json (request, 200, shown);
  else
    http_reply_problem (request, problem);
}

static void
handle_cancel (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  (void)runs_cancel (http_service (request)->runs, http_who (request)->owner, http_parameter (request, "run"),
                     NULL);
  json_t *shown = describe (request, &problem);
  if (shown)
    http_reply_json (request, 200, shown);
  else
    http_reply_problem (request, problem);
}

/* ---- the table ---- */

static const struct field run_parameters[] = {FIELD_ID ("run", "The run's id."), {0}};
static const struct field list_query[] = {ASK_OWNER, {0}};
static const struct field show_query[] = {ASK_WAIT, {0}};

/* clang-format off */
#define UNDER_WAY \
    TEXT_0 ("run_id", "Its id."), \
    TEXT ("state", "running or ended."), \
    TEXT_0 ("started", "In UTC."), \
    TEXT_0 ("owner", "Whose it is."), \
    TEXT_0 ("conversation", "To which it belongs."), \
    TEXT_0 ("session", "The session that it is a cell of."), \
    TEXT_0 ("front_end", "By which way it came.")
/* clang-format on */
static const struct field under_way_fields[] = {UNDER_WAY, {0}};
static const struct field list_fields[] = {
    LIST ("runs", under_way_fields, "Those that are under way, the oldest first."),
    {0},
};
const struct field run_show_fields[] = {
    UNDER_WAY,
    PART_0 ("result", result_fields, "Of one that ran in the background, while it is held."),
    PART_0 ("record", record_fields, "Of one that has ended, where records are kept."),
    {0},
};

static const struct field *const run_replies[] = {result_fields, run_show_fields, NULL};
static const struct field *const list_replies[] = {list_fields, NULL};
static const struct field *const show_replies[] = {run_show_fields, NULL};

const struct http_route http_routes_runs[] = {
    {
        .method = "POST",
        .path = "/v1/runs",
        .operation = "run",
        .tag = "runs",
        .title = "Run code",
        .text = "Runs Python code in a fresh, confined, warm interpreter, or as the next cell of a session, "
                "and returns its result: also where it failed, was refused or needs an approval. With "
                "`stream` the reply is a stream of events: `started`, `stdout`, `stderr`, `display` and, as "
                "the last, `result`. With `background` it is 202 at once and the run goes on by itself. "
                "Otherwise the run is cancelled when the client goes away.",
        .role = ROLE_GUEST,
        .flags = HTTP_STREAMS,
        .body = run_fields,
        .replies = run_replies,
        .status = 200,
        .handle = handle_run,
    },
    {
        .method = "GET",
        .path = "/v1/runs",
        .operation = "listRuns",
        .tag = "runs",
        .title = "List the runs that are under way",
        .text = "Those of the caller; an admin may ask for another's. What has ended is in /v1/records.",
        .role = ROLE_GUEST,
        .query = list_query,
        .replies = list_replies,
        .status = 200,
        .handle = handle_list,
    },
    {
        .method = "GET",
        .path = "/v1/runs/{run}",
        .operation = "showRun",
        .tag = "runs",
        .title = "Show a run",
        .text = "Whether it is under way; of one that has ended its record, and of one in the background its "
                "result for a while. With `wait_ms` it is answered when the run ends, or that time is over.",
        .role = ROLE_GUEST,
        .parameters = run_parameters,
        .query = show_query,
        .replies = show_replies,
        .status = 200,
        .handle = handle_show,
    },
    {
        .method = "DELETE",
        .path = "/v1/runs/{run}",
        .operation = "cancelRun",
        .tag = "runs",
        .title = "Cancel a run",
        .text = "It ends as `cancelled`, and its result goes to who waits for it. One that has ended is left "
                "as it is.",
        .role = ROLE_GUEST,
        .parameters = run_parameters,
        .replies = show_replies,
        .status = 200,
        .handle = handle_cancel,
    },
    {0},
};
