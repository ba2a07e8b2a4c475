/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/records/export: a stream of bytes, with the parameters of "record.export" (operations/record.c). */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "interfaces/http/owner.h"
#include "interfaces/http/shapes.h"
#include "library/library.h"
#include "operations/operation.h"
#include "store/records.h"

#define EXPORT_PIECE_BYTES (64 << 10)

/* ---- export ---- */

struct exporting {
  struct store *store;
  char *owner, *format;
  json_t *filters;
  int ends[2]; /* of a pipe: to read, to write */
};

static void
export_free (gpointer data)
{
  struct exporting *exporting = data;
  g_free (exporting->owner);
  g_free (exporting->format);
  json_decref (exporting->filters);
  fd_close (&exporting->ends[0]);
  fd_close (&exporting->ends[1]);
  g_free (exporting);
}

/* The store writes at the reader's speed. An error on the way ends the export early. */
static gpointer
write_records (gpointer data)
{
  struct exporting *exporting = data;
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) told = records_export (exporting->store, exporting->owner, exporting->filters,
                                            exporting->format, exporting->ends[1], &problem);
  if (!told)
    log_warning ("an export of records ended early: %s", problem->message);
  fd_close (&exporting->ends[1]);
  return NULL;
}

static void
routes_records_pass_on (struct http_stream *stream, int fd)
{
  g_autofree char *piece = g_malloc (EXPORT_PIECE_BYTES);
  gssize got;
  do
    got = read (fd, piece, EXPORT_PIECE_BYTES);
  while ((got < 0 && errno == EINTR) || (got > 0 && http_stream_write (stream, piece, (gsize)got)));
}

static void
routes_records_produce (struct http_stream *stream, gpointer data)
{
  struct exporting *exporting = data;
  g_autoptr (GError) problem = NULL;
  GThread *writer = g_thread_try_new ("adder-export", write_records, exporting, &problem);
  if (!writer) {
    log_warning ("cannot export records: %s", problem->message);
    return;
  }
  routes_records_pass_on (stream, exporting->ends[0]);
  /* A writer that continues sees that nobody reads. */
  fd_close (&exporting->ends[0]);
  g_thread_join (writer);
}

/* Errors in the filters are reported before anything is sent. */
static gboolean
check_filters (const struct exporting *exporting, GError **error)
{
  g_autoptr (json_t) one = json_copy (exporting->filters);
  json_object_set_new (one, "limit", json_integer (1));
  g_autoptr (json_t) list = records_list (exporting->store, exporting->owner, one, error);
  return list != NULL;
}

static void
handle_export (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner, *format = json_member_text (http_query (request), "format");
  if (!owner_asked_for (request, &owner))
    return;
  struct exporting *exporting = g_new (struct exporting, 1);
  *exporting = (struct exporting){
      .store = http_service (request)->engine->store,
      .owner = g_strdup (owner),
      .format = g_strdup (format),
      .filters = operation_filters (http_query (request)),
      .ends = {-1, -1},
  };
  json_object_del (exporting->filters, "format");
  if (check_filters (exporting, &problem) && pipe2 (exporting->ends, O_CLOEXEC) < 0)
    error_from_errno (&problem, errno, "cannot make a pipe for the export");
  if (problem) {
    export_free (exporting);
    http_reply_problem (request, problem);
    return;
  }
  gboolean csv = g_strcmp0 (format, "csv") == 0;
  http_set_header (request, "Content-Disposition",
                   csv ? "attachment; filename=\"records.csv\"" : "attachment; filename=\"records.jsonl\"");
  http_reply_produced_chunks (request, 200, csv ? "text/csv; charset=utf-8" : "application/x-ndjson",
                              routes_records_produce, exporting, export_free);
}

/* ---- the table ---- */

const struct http_route http_routes_records[] = {
    {
        .method = "GET",
        .path = "/v1/records/export",
        .operation = "exportRecords",
        .tag = "records",
        .title = "Export records",
        .text = "All of them, the oldest first, as they are read.",
        .role = ROLE_USER,
        .query = record_export_params,
        .reply_type = "application/x-ndjson text/csv",
        .status = 200,
        .handle = handle_export,
    },
    {0},
};
