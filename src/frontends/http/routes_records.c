/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/records: what was run, by whom, and how it ended. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "frontends/http/owner.h"
#include "frontends/http/shapes.h"

#define EXPORT_PIECE_BYTES (64 << 10)

static AdderEngine *
engine_of (struct http_request *request)
{
  return http_service (request)->engine;
}

static void
handle_list (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  if (!owner_asked_for (request, &owner))
    return;
  g_autofree char *filters = owner_filters (request);
  char *text = adder_record_list (engine_of (request), owner, filters, &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_show (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  if (!owner_asked_for (request, &owner))
    return;
  char *text = adder_record_show (engine_of (request), owner, http_parameter (request, "run"), &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_stats (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  if (!owner_asked_for (request, &owner))
    return;
  g_autofree char *filters = owner_filters (request);
  char *text = adder_record_stats (engine_of (request), owner, filters, &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_verify (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_record_verify (
      engine_of (request), json_string_value (json_object_get (http_query (request), "head")), &problem);
  http_reply_text (request, 200, text, problem);
}

/* ---- export ---- */

struct exporting {
  AdderEngine *engine;
  char *owner, *filters, *format;
  int ends[2]; /* of a pipe: to read, to write */
};

static void
export_free (gpointer data)
{
  struct exporting *exporting = data;
  g_free (exporting->owner);
  g_free (exporting->filters);
  g_free (exporting->format);
  fd_close (&exporting->ends[0]);
  fd_close (&exporting->ends[1]);
  g_free (exporting);
}

/* The library writes as fast as somebody reads. What goes wrong on the way ends the export early. */
static gpointer
write_records (gpointer data)
{
  struct exporting *exporting = data;
  g_autoptr (GError) problem = NULL;
  g_autofree char *told = adder_record_export (exporting->engine, exporting->owner, exporting->filters,
                                               exporting->format, exporting->ends[1], &problem);
  if (!told)
    log_warning ("an export of records ended early: %s", problem->message);
  fd_close (&exporting->ends[1]);
  return NULL;
}

static void
pass_on (struct http_stream *stream, int fd)
{
  g_autofree char *piece = g_malloc (EXPORT_PIECE_BYTES);
  gssize got;
  do
    got = read (fd, piece, EXPORT_PIECE_BYTES);
  while ((got < 0 && errno == EINTR) || (got > 0 && http_stream_write (stream, piece, (gsize)got)));
}

static void
produce (struct http_stream *stream, gpointer data)
{
  struct exporting *exporting = data;
  g_autoptr (GError) problem = NULL;
  GThread *writer = g_thread_try_new ("adder-export", write_records, exporting, &problem);
  if (!writer) {
    log_warning ("cannot export records: %s", problem->message);
    return;
  }
  pass_on (stream, exporting->ends[0]);
  /* Who still writes sees that nobody reads. */
  fd_close (&exporting->ends[0]);
  g_thread_join (writer);
}

/* What is wrong with the filters is said before anything is sent. */
static gboolean
check_filters (struct http_request *request, const char *owner, const char *filters, GError **error)
{
  g_autoptr (json_t) one = json_loads (filters, 0, NULL);
  json_object_del (one, "format");
  json_object_set_new (one, "limit", json_integer (1));
  g_autofree char *text = json_to_text (one);
  g_autofree char *list = adder_record_list (engine_of (request), owner, text, error);
  return list != NULL;
}

static char *
without_format (const char *filters)
{
  g_autoptr (json_t) value = json_loads (filters, 0, NULL);
  json_object_del (value, "format");
  return json_to_text (value);
}

static void
handle_export (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner, *format = json_member_text (http_query (request), "format");
  if (!owner_asked_for (request, &owner))
    return;
  g_autofree char *filters = owner_filters (request);
  struct exporting *exporting = g_new (struct exporting, 1);
  *exporting = (struct exporting){
      engine_of (request), g_strdup (owner), without_format (filters), g_strdup (format), {-1, -1}};
  if (check_filters (request, owner, filters, &problem) && pipe2 (exporting->ends, O_CLOEXEC) < 0)
    error_from_errno (&problem, errno, "cannot make a pipe for the export");
  if (problem) {
    export_free (exporting);
    http_reply_problem (request, problem);
    return;
  }
  gboolean csv = g_strcmp0 (format, "csv") == 0;
  http_set_header (request, "Content-Disposition",
                   csv ? "attachment; filename=\"records.csv\"" : "attachment; filename=\"records.jsonl\"");
  http_reply_produced_chunks (request, 200, csv ? "text/csv; charset=utf-8" : "application/x-ndjson", produce,
                              exporting, export_free);
}

/* ---- the table ---- */

/* clang-format off */
#define FILTERS \
    ASK_TEXT ("since", 64, "A day, a moment, or how long ago: 2h."), \
    ASK_TEXT ("until", 64, "Likewise."), \
    ASK_TEXT ("outcome", 32, "Exactly this one."), \
    ASK_TEXT ("tool", 128, "With its toolset or without."), \
    ASK_TEXT ("profile", 64, "Exactly this one."), \
    ASK_TEXT ("environment", 64, "Exactly this one."), \
    ASK_TEXT ("front_end", 32, "Exactly this one."), \
    ASK_TEXT ("session", 64, "Cells of this session, by its id."), \
    ASK_TEXT ("conversation", 200, "Runs of this conversation."), \
    ASK_TEXT ("node", 255, "Of this machine."), \
    ASK_TEXT ("code", 1000, "Those whose code holds the text."), \
    ASK_OWNER
/* clang-format on */

static const struct field parameters[] = {PATH_ID ("run", "The run's id."), {0}};
static const struct field owner_query[] = {ASK_OWNER, {0}};
static const struct field stats_query[] = {FILTERS, {0}};
static const struct field list_query[] = {
    FILTERS,
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "50",
     .minimum = 1,
     .maximum = 1000,
     .text = "How many at most."},
    ASK_TEXT ("before", 64, "The `next` of the page before."),
    {0},
};
static const struct field export_query[] = {
    FILTERS,
    {.name = "format",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"jsonl\"",
     .pattern = "^(jsonl|csv)$",
     .pattern_words = "jsonl or csv",
     .text = "JSON lines or CSV."},
    {0},
};
static const struct field verify_query[] = {
    ASK_TEXT ("head", 400, "What an earlier answer gave as a node's `head`."),
    {0},
};

static const struct field *const list_replies[] = {record_list_fields, NULL};
static const struct field *const show_replies[] = {record_fields, NULL};
static const struct field *const stats_replies[] = {record_stats_fields, NULL};
static const struct field *const verify_replies[] = {record_verify_fields, NULL};

/* clang-format off */
#define ROUTE(where, id, words, says, who, does) \
  .method = "GET", .path = "/v1/records" where, .operation = (id), .tag = "records", .title = (words), \
  .text = (says), .role = (who), .status = 200, .handle = (does)

const struct http_route http_routes_records[] = {
    {ROUTE ("", "listRecords", "List records",
            "The newest first, with the beginning of their code. An admin may ask for another's.", ROLE_USER,
            handle_list),
     .query = list_query, .replies = list_replies},
    {ROUTE ("/stats", "countRecords", "Count records",
            "By outcome, tool, profile, owner, front end and day, and how long runs took.", ROLE_USER,
            handle_stats),
     .query = stats_query, .replies = stats_replies},
    {ROUTE ("/export", "exportRecords", "Export records", "All of them, the oldest first, as they are read.",
            ROLE_USER, handle_export),
     .query = export_query, .reply_type = "application/x-ndjson text/csv"},
    {ROUTE ("/verify", "verifyRecords", "Verify the records",
            "Goes through the chains of all nodes: what was changed, what is missing.", ROLE_ADMIN,
            handle_verify),
     .query = verify_query, .replies = verify_replies},
    {ROUTE ("/{run}", "showRecord", "Show a record", "All of it, with its code.", ROLE_USER, handle_show),
     .parameters = parameters, .query = owner_query, .replies = show_replies},
    {0},
};
/* clang-format on */
