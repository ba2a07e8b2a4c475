/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sessions: interpreters that are kept between requests. */
#include <string.h>

#include "common/json.h"
#include "frontends/http/fields_run.h"
#include "frontends/http/replay_reply.h"
#include "frontends/http/run_reply.h"
#include "frontends/http/run_request.h"
#include "frontends/http/shapes.h"
#include "tools/shapes.h"

/* ---- what handlers share ---- */

static AdderEngine *
engine_of (struct http_request *request)
{
  return http_service (request)->engine;
}

static const char *
owner_of (struct http_request *request)
{
  return http_who (request)->owner;
}

static const char *
session_of (struct http_request *request)
{
  return http_parameter (request, "session");
}

/* The session as it is now, once what was asked for is DONE. */
static void
reply_session (struct http_request *request, gboolean done, GError **problem)
{
  char *text =
      done ? adder_session_show (engine_of (request), owner_of (request), session_of (request), problem)
           : NULL;
  http_reply_text (request, 200, text, *problem);
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
  g_autoptr (AdderRequest) asked = run_request_new (request, options, NULL, &problem);
  char *text = asked ? adder_session_new (engine_of (request), asked, name, &problem) : NULL;
  g_autoptr (json_t) made = text ? json_loads (text, 0, NULL) : NULL;
  if (made) {
    g_autofree char *place = g_strdup_printf ("/v1/sessions/%s", json_member_text (made, "session_id"));
    http_set_header (request, "Location", place);
  }
  http_reply_text (request, 201, text, problem);
}

static void
handle_list (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_session_list (engine_of (request), owner_of (request), &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_show (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  reply_session (request, TRUE, &problem);
}

static void
handle_end (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  gboolean done = adder_session_end (engine_of (request), owner_of (request), session_of (request), &problem);
  reply_session (request, done, &problem);
}

static void
handle_cell (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  AdderRequest *asked = run_request_new (request, body, session_of (request), &problem);
  if (!asked) {
    http_reply_problem (request, problem);
    return;
  }
  g_autoptr (json_t) noted = json_copy ((json_t *)(guintptr)body);
  json_object_set_new (noted, "session", json_string (session_of (request)));
  run_reply (request, asked, noted);
}

static void
handle_variables (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *names = json_string_value (json_object_get (http_query (request), "names"));
  g_auto (GStrv) list = names ? g_strsplit (names, ",", -1) : NULL;
  char *text = adder_session_variables (engine_of (request), owner_of (request), session_of (request),
                                        (const char *const *)list, &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_history (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text =
      adder_session_history (engine_of (request), owner_of (request), session_of (request), &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_reset (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  gboolean done =
      adder_session_reset (engine_of (request), owner_of (request), session_of (request), &problem);
  reply_session (request, done, &problem);
}

static void
handle_interrupt (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  gboolean done =
      adder_session_interrupt (engine_of (request), owner_of (request), session_of (request), &problem);
  reply_session (request, done, &problem);
}

static void
handle_checkpoints (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *text =
      adder_session_show (engine_of (request), owner_of (request), session_of (request), &problem);
  g_autoptr (json_t) shown = text ? json_loads (text, 0, NULL) : NULL;
  if (shown)
    http_reply_json (request, 200,
                     json_pack ("{s:O}", "checkpoints", json_object_get (shown, "checkpoints")));
  else
    http_reply_problem (request, problem);
}

static void
handle_checkpoint (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text =
      adder_session_checkpoint (engine_of (request), owner_of (request), session_of (request),
                                json_string_value (json_object_get (http_body (request), "name")), &problem);
  http_reply_text (request, 201, text, problem);
}

static void
handle_forget (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  gboolean done = adder_session_forget (engine_of (request), owner_of (request), session_of (request),
                                        http_parameter (request, "checkpoint"), &problem);
  reply_session (request, done, &problem);
}

static void
handle_rollback (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  gboolean done = adder_session_rollback (engine_of (request), owner_of (request), session_of (request),
                                          json_member_text (http_body (request), "checkpoint"), &problem);
  reply_session (request, done, &problem);
}

static void
handle_branch (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  char *text =
      adder_session_branch (engine_of (request), owner_of (request), session_of (request),
                            json_string_value (json_object_get (body, "checkpoint")),
                            (unsigned)json_integer_value (json_object_get (body, "count")), &problem);
  http_reply_text (request, 201, text, problem);
}

static void
handle_replay (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *body = http_body (request);
  g_autoptr (json_t) options = json_copy ((json_t *)(guintptr)body);
  json_object_del (options, "name");
  g_autoptr (AdderRequest) asked = run_request_new (request, options, NULL, &problem);
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

/* clang-format off */
#define PARAMETER_SESSION FIELD_NAME ("session", FALSE, "The session's name or id.")
/* clang-format on */

static const struct field session_parameters[] = {PARAMETER_SESSION, {0}};
static const struct field checkpoint_parameters[] = {
    PARAMETER_SESSION,
    FIELD_NAME ("checkpoint", FALSE, "The checkpoint's id, or the newest with this name."),
    {0},
};
static const struct field variables_query[] = {
    ASK_TEXT ("names", 4096, "Names with commas between: these alone, each with its value."),
    {0},
};
static const struct field checkpoint_body[] = {FIELD_NAME ("name", TRUE, "A name for it."), {0}};
static const struct field rollback_body[] = {
    FIELD_NAME ("checkpoint", FALSE, "Its id, or the newest with this name."),
    {0},
};
static const struct field branch_body[] = {
    FIELD_NAME ("checkpoint", TRUE, "From this one; from what the session is now where it is left out."),
    {.name = "count",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "1",
     .minimum = 1,
     .maximum = 64,
     .text = "How many: all or none."},
    {0},
};

static const struct field *const session_replies[] = {session_fields, NULL};
static const struct field *const list_replies[] = {session_list_fields, NULL};
static const struct field *const cell_replies[] = {result_fields, run_show_fields, NULL};
static const struct field *const variables_replies[] = {variables_fields, NULL};
static const struct field *const history_replies[] = {history_fields, NULL};
static const struct field *const checkpoint_replies[] = {checkpoint_fields, NULL};
static const struct field *const checkpoints_replies[] = {checkpoint_list_fields, NULL};
static const struct field *const replay_replies[] = {replay_fields, NULL};

/* clang-format off */
#define ROUTE(verb, where, id, words, says, well, gives, does) \
  .method = (verb), .path = "/v1/sessions" where, .operation = (id), .tag = "sessions", .title = (words), \
  .text = (says), .role = ROLE_GUEST, .status = (well), .replies = (gives), .handle = (does)
#define OF_SESSION .parameters = session_parameters

const struct http_route http_routes_sessions[] = {
    {ROUTE ("POST", "", "newSession", "Make a session",
            "Makes an interpreter that stays between requests, with variables, imports and files. It ends "
            "when nobody uses it for a while.", 201, session_replies, handle_new),
     .body = session_request_fields},
    {ROUTE ("GET", "", "listSessions", "List the sessions",
            "Those of the caller that live, then those that ended lately.", 200, list_replies, handle_list)},
    {ROUTE ("GET", "/{session}", "showSession", "Show a session",
            "Also one that has ended, for a while, with the reason.", 200, session_replies, handle_show),
     OF_SESSION},
    {ROUTE ("DELETE", "/{session}", "endSession", "End a session",
            "A cell that runs ends as cancelled. One that has ended is no error.", 200, session_replies,
            handle_end),
     OF_SESSION},
    {ROUTE ("POST", "/{session}/cells", "runCell", "Run a cell",
            "Runs code where the last cell left off: as POST /v1/runs. One cell runs at a time; the next "
            "waits for its turn.", 200, cell_replies, handle_cell),
     OF_SESSION, .flags = HTTP_STREAMS, .body = cell_request_fields},
    {ROUTE ("GET", "/{session}/variables", "listVariables", "List a session's variables",
            "With type, shape and size; values only of those that are named. Waits for a cell that runs.",
            200, variables_replies, handle_variables),
     OF_SESSION, .query = variables_query},
    {ROUTE ("GET", "/{session}/history", "showHistory", "Show a session's cells",
            "The code of each and how it ended. Also of a session that has ended.", 200, history_replies,
            handle_history),
     OF_SESSION},
    {ROUTE ("POST", "/{session}/reset", "resetSession", "Forget a session's variables", "Files stay.", 200,
            session_replies, handle_reset),
     OF_SESSION},
    {ROUTE ("POST", "/{session}/interrupt", "interruptSession", "Interrupt a session's cell",
            "Raises KeyboardInterrupt in the cell that runs, if any; variables stay. Does not wait.", 200,
            session_replies, handle_interrupt),
     OF_SESSION},
    {ROUTE ("GET", "/{session}/checkpoints", "listCheckpoints", "List a session's checkpoints",
            "Those that it can be put back to.", 200, checkpoints_replies, handle_checkpoints),
     OF_SESSION},
    {ROUTE ("POST", "/{session}/checkpoints", "makeCheckpoint", "Make a checkpoint",
            "A fork of the live interpreter that waits, with a copy of its files.", 201, checkpoint_replies,
            handle_checkpoint),
     OF_SESSION, .body = checkpoint_body},
    {ROUTE ("DELETE", "/{session}/checkpoints/{checkpoint}", "dropCheckpoint", "Drop a checkpoint",
            "The session stays as it is.", 200, session_replies, handle_forget),
     .parameters = checkpoint_parameters},
    {ROUTE ("POST", "/{session}/rollback", "rollBack", "Roll back to a checkpoint",
            "Variables, files and history are those of then. What the session is now is gone; the "
            "checkpoint stays.", 200, session_replies, handle_rollback),
     OF_SESSION, .body = rollback_body},
    {ROUTE ("POST", "/{session}/branches", "branchSession", "Branch a session",
            "Makes sessions that go on from what this one is, each its own way.", 201, list_replies,
            handle_branch),
     OF_SESSION, .body = branch_body},
    {ROUTE ("POST", "/{session}/replay", "replaySession", "Replay a session",
            "Runs the recorded cells of a session, which may have ended, again in a new one, which is there "
            "once all of them ran; else nothing changes. A cell that fails is followed by the next. With "
            "`stream` the events are `replay`, for each cell `cell` and those of a run, and `end`.", 200,
            replay_replies, handle_replay),
     OF_SESSION, .flags = HTTP_STREAMS, .body = replay_request_fields},
    {0},
};
/* clang-format on */
