/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sessions: making one, its cells and replays; the rest is operations/session.c. */
#include <string.h>

#include "common/json.h"
#include "interfaces/http/replay_reply.h"
#include "interfaces/http/run_reply.h"
#include "interfaces/http/run_request.h"
#include "interfaces/http/shapes.h"
#include "library/library.h"
#include "operations/run_body.h"

/* ---- what handlers share ---- */

static AdderEngine *
engine_of (struct http_request *request)
{
  return http_service (request)->engine;
}

static const char *
session_of (struct http_request *request)
{
  return http_parameter (request, "session");
}

/* ---- handlers ---- */

static void
handle_new (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  const char *name = json_string_value (json_object_get (body, "name"));
  /* Its name is not the code's. */
  g_autoptr (json_t) options = json_copy ((json_t *)(guintptr)body);
  json_object_del (options, "name");
  g_autoptr (AdderRequest) asked = run_request_new (request, options, &problem);
  json_t *made = asked ? library_session_new (engine_of (request), asked, name, &problem) : NULL;
  if (!made) {
    http_reply_problem (request, problem);
    return;
  }
  g_autofree char *place = g_strdup_printf ("/v1/sessions/%s", json_member_text (made, "session_id"));
  http_set_header (request, "Location", place);
  http_reply_json (request, 201, made);
}

static void
handle_cell (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) body = json_copy ((json_t *)(guintptr)http_body (request));
  json_object_set_new (body, "session", json_string (session_of (request)));
  AdderRequest *asked = run_request_new (request, body, &problem);
  if (asked)
    run_reply (request, asked, body);
  else
    http_reply_problem (request, problem);
}

static void
handle_replay (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  g_autoptr (json_t) options = json_copy ((json_t *)(guintptr)body);
  json_object_del (options, "name");
  g_autoptr (AdderRequest) asked = run_request_new (request, options, &problem);
  AdderReplay *replay =
      asked ? adder_session_replay (engine_of (request), asked, session_of (request),
                                    (guint64)json_integer_value (json_object_get (body, "from")),
                                    json_string_value (json_object_get (body, "name")),
                                    json_is_false (json_object_get (body, "keep_going")) ? ADDER_REPLAY_STOP
                                                                                         : ADDER_REPLAY_NEW,
                                    &problem)
            : NULL;
  if (replay)
    replay_reply (request, replay, body);
  else
    http_reply_problem (request, problem);
}

/* ---- the table ---- */

static const struct field *const cell_replies[] = {result_fields, run_show_fields, NULL};
static const struct field *const replay_replies[] = {replay_fields, NULL};

/* clang-format off */
#define ROUTE(verb, where, id, words, says, well, gives, does) \
  .method = (verb), .path = "/v1/sessions" where, .operation = (id), .tag = "sessions", .title = (words), \
  .text = (says), .role = ROLE_GUEST, .status = (well), .replies = (gives), .handle = (does)
#define OF_SESSION .parameters = session_params

const struct http_route http_routes_sessions[] = {
    {ROUTE ("POST", "", "newSession", "Make a session",
            "Makes an interpreter that stays between requests, with variables, imports and files. It ends "
            "when nobody uses it for a while.", 201, session_replies, handle_new),
     .body = session_request_fields},
    {ROUTE ("POST", "/{session}/cells", "runCell", "Run a cell",
            "Runs code where the last cell left off: as POST /v1/runs. One cell runs at a time; the next "
            "waits for its turn.", 200, cell_replies, handle_cell),
     OF_SESSION, .flags = HTTP_STREAMS, .body = cell_request_fields},
    {ROUTE ("POST", "/{session}/replay", "replaySession", "Replay a session",
            "Runs the recorded cells of a session, which may have ended, again in a new one, which is there "
            "once all of them ran; else nothing changes. A cell that fails is followed by the next. With "
            "`stream` the events are `replay`, for each cell `cell` and those of a run, and `end`.", 200,
            replay_replies, handle_replay),
     OF_SESSION, .flags = HTTP_STREAMS, .body = replay_request_fields},
    {0},
};
/* clang-format on */
