/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/run_routes.h"

#include <string.h>

#include "common/field_rows.h"
#include "common/json.h"
#include "interfaces/http/http_operations.h"
#include "interfaces/http/operation_reply.h"
#include "interfaces/http/replay_reply.h"
#include "interfaces/http/run_reply.h"
#include "operations/result_fields.h"
#include "operations/run.h"

/* ---- handlers ---- */

static void
run_routes_handle_run (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  struct http_call call;
  AdderRequest *asked = http_call_init (request, &call, &problem)
                            ? run_request_read (&call.caller, call.params, &problem)
                            : NULL;
  if (asked)
    run_reply (request, asked, call.params);
  else
    http_reply_problem (request, problem);
  http_call_clear (&call);
}

static void
run_routes_handle_replay (struct http_request *request)
{
  if (!json_is_true (json_object_get (http_body (request), "stream"))) {
    http_call_operation (request);
    return;
  }
  g_autoptr (GError) problem = NULL;
  struct http_call call;
  AdderReplay *replay =
      http_call_init (request, &call, &problem) ? replay_begin (&call.caller, call.params, &problem) : NULL;
  if (replay)
    replay_reply (request, replay);
  else
    http_reply_problem (request, problem);
  http_call_clear (&call);
}

static void
run_routes_handle_ask (struct http_request *request)
{
  if (json_is_true (json_object_get (http_body (request), "stream")))
    operation_reply (request);
  else
    http_call_operation (request);
}

/* ---- the table ---- */

/* clang-format off */
#define ASK_STREAM ASK_FLAG ("stream", "Whether the reply is a stream of events.")
#define ASK_DETACH \
  ASK_FLAG ("detach", "Whether a streamed run continues when the client disconnects, and can be followed again.")
#define ASK_BACKGROUND ASK_FLAG ("background", "Whether it goes on without the client.")

#define ASK_ONCE \
  ASK_FLAG ("once", "Whether a background run of a cluster is run at most once: not again when its node dies.")

#define RUN_TEXT \
  " With `stream` the reply is a stream of events: `started`, `stdout`, `stderr`, `display` and, as the last, " \
  "`result`, each with its number as id. With `background` it is 202 at once and the run goes on by itself."
#define REPLAY_TEXT \
  " With `stream` the events are `replay`, for each cell `cell` and those of a run, and `end`."
#define ANSWER_TEXT \
  " With `stream` the events are `text` {text}, a piece of the answer's text, `again` when it begins from nothing, " \
  "and, as the last, `answer` or `problem`, a problem document."
/* clang-format on */

static const struct field run_fields[] = {ASK_STREAM, ASK_BACKGROUND, ASK_ONCE, ASK_DETACH, {0}};
static const struct field cell_fields[] = {ASK_STREAM, ASK_BACKGROUND, ASK_DETACH, {0}};
static const struct field stream_fields[] = {ASK_STREAM, {0}};

static const struct field *const run_replies[] = {result_fields, run_show_fields, NULL};

struct run_route {
  const char *operation;
  const char *text;                   /* after the operation's */
  const struct field *fields;         /* beside the operation's */
  const struct field *const *replies; /* instead of the operation's; NULL: those */
  void (*handle) (struct http_request *request);
};

static const struct run_route table[] = {
    {"run.new", RUN_TEXT, run_fields, run_replies, run_routes_handle_run},
    {"session.cell", RUN_TEXT, cell_fields, run_replies, run_routes_handle_run},
    {"session.replay", REPLAY_TEXT, stream_fields, NULL, run_routes_handle_replay},
    {"model.ask", ANSWER_TEXT, stream_fields, NULL, run_routes_handle_ask},
};

const struct run_route *
run_route_find (const char *operation)
{
  for (gsize i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].operation, operation) == 0)
      return &table[i];
  return NULL;
}

static gsize
count_fields (const struct field *fields)
{
  gsize count = 0;
  while (fields && fields[count].name)
    count++;
  return count;
}

/* MADE, which http_operations.c made for one route and which is taken, with ADDED appended. */
static const struct field *
append_fields (const struct field *made, const struct field *added)
{
  gsize count = count_fields (made), more = count_fields (added) + 1;
  struct field *all = g_renew (struct field, (gpointer)(guintptr)made, count + more);
  memcpy (all + count, added, more * sizeof *all);
  return all;
}

void
run_route_fill (const struct run_route *own, struct http_route *route)
{
  route->text = g_strconcat (route->text, own->text, NULL);
  route->body = append_fields (route->body, own->fields);
  if (own->replies)
    route->replies = own->replies;
  route->flags |= HTTP_STREAMS;
  route->handle = own->handle;
}
