/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/runs: code is run, and runs under way are seen and ended. */
#include <string.h>

#include "common/json.h"
#include "frontends/http/fields_run.h"
#include "frontends/http/owner.h"
#include "frontends/http/run_reply.h"
#include "frontends/http/run_request.h"
#include "frontends/http/shapes.h"
#include "frontends/runs.h"

/* ---- handlers ---- */

static void
handle_run (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  AdderRequest *asked = run_request_new (request, body, NULL, &problem);
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
  g_autofree char *text = is_running ? NULL : adder_record_show (service->engine, owner, id, NULL);
  g_autoptr (json_t) record = text ? json_loads (text, 0, NULL) : NULL;
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

static void
handle_table (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  const struct principal *who = http_who (request);
  struct service *service = http_service (request);
  g_autoptr (AdderRequest) options = adder_request_new ("", 0);
  adder_request_set_owner (options, who->owner, NULL);
  adder_request_set_role (options, role_name (who->role));
  adder_request_set_watch (options, http_watch_fd (request));
  adder_request_set_environment (options, json_string_value (json_object_get (body, "environment")));
  /* On record it is told apart from what its owner ran. */
  adder_request_set_origin (options, "adder", NULL, NULL);
  char *text = NULL;
  if (service_begin (service, &problem)) {
    guint64 number = g_ascii_strtoull (http_parameter (request, "number"), NULL, 10);
    text = adder_table_export (service->engine, options, http_parameter (request, "run"), (guint)number,
                               json_member_text (body, "format"),
                               json_string_value (json_object_get (body, "name")), &problem);
    service_end (service);
  }
  http_reply_text (request, 201, text, problem);
}

/* ---- the table ---- */

static const struct field run_parameters[] = {PATH_ID ("run", "The run's id."), {0}};
static const struct field table_parameters[] = {
    PATH_ID ("run", "The run's id."),
    {.name = "number",
     .types = FIELD_TEXT,
     .pattern = "^[1-9][0-9]{0,5}$",
     .pattern_words = "a number from 1 on",
     .text = "The table, from 1, in the order in which they were shown."},
    {0},
};
static const struct field list_query[] = {ASK_OWNER, {0}};
static const struct field show_query[] = {ASK_WAIT, {0}};
static const struct field table_body[] = {
    {.name = "format",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"csv\"",
     .pattern = "^(csv|parquet|json)$",
     .pattern_words = "csv, parquet or json",
     .text = "Of the file."},
    ASK_TEXT ("name", 255, "Of the file."),
    ASK_TEXT ("environment", 64, "In which it is converted, where it has to be."),
    {0},
};

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
static const struct field *const file_replies[] = {file_fields, NULL};

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
    {
        .method = "POST",
        .path = "/v1/runs/{run}/tables/{number}",
        .operation = "exportTable",
        .tag = "runs",
        .title = "Export a table that a run showed",
        .text = "Makes a file of the table that the run showed and that was kept (`tables`), in any format.",
        .role = ROLE_GUEST,
        .parameters = table_parameters,
        .body = table_body,
        .replies = file_replies,
        .status = 201,
        .handle = handle_table,
    },
    {0},
};
