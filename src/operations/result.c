/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on results: long output that a result truncates, and tables that it showed. */
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/file_fields.h"
#include "operations/operation.h"
#include "operations/rows_fields.h"
#include "store/files.h"
#include "store/output_read.h"

/* ---- the functions ---- */

static void
say_there_is_none (const char *result_id, const char *stream, GError **error)
{
  g_autofree char *shown = text_one_line (result_id, 60);
  g_clear_error (error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
               "no long %s of %s is kept: what is short is whole in its result, and long output is removed "
               "after [store] output_age_ms",
               stream, shown);
}

static json_t *
result_peek (const struct operation_call *call, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct store *store = call->caller->engine->store;
  const char *id = operation_text (call, "result"), *stream = operation_text (call, "stream");
  const char *grep = operation_text (call, "grep");
  guint64 offset = operation_number (call, "offset"), limit = operation_number (call, "limit");
  enum file_kind kind = strcmp (stream, "stdout") == 0 ? FILE_STDOUT : FILE_STDERR;
  struct blobs *blobs = store_blobs (store, error);
  if (!blobs)
    return NULL;
  struct file_row *row = files_find_output (store, call->owner, id, kind, &problem);
  if (!row) {
    if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
      say_there_is_none (id, stream, &problem);
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  json_t *part = grep ? output_grep (blobs, row, offset, limit, grep, error)
                      : output_read (blobs, row, offset, limit, error);
  file_row_free (row);
  if (part) {
    json_object_set_new (part, "result_id", json_string (id));
    json_object_set_new (part, "stream", json_string (stream));
  }
  return part;
}

/* For a run of Adder's own code for CALL. */
static AdderRequest *
result_options (const struct operation_call *call)
{
  const struct operation_caller *caller = call->caller;
  AdderRequest *options = adder_request_new ("", 0);
  adder_request_set_owner (options, call->owner, NULL);
  adder_request_set_role (options, role_name (caller->role));
  adder_request_set_watch (options, caller->watch_fd);
  adder_request_set_environment (options, operation_text (call, "environment"));
  /* The record tells it apart from what its owner ran. */
  adder_request_set_origin (options, "adder", NULL, NULL);
  return options;
}

static json_t *
result_export (const struct operation_call *call, GError **error)
{
  const struct operation_caller *caller = call->caller;
  g_autoptr (AdderRequest) options = result_options (call);
  guint64 number = g_ascii_strtoull (operation_text (call, "number"), NULL, 10);
  return library_export_table (caller->engine, options, operation_text (call, "run"), (guint)number,
                               operation_text (call, "format"), operation_text (call, "name"), error);
}

static json_t *
result_rows (const struct operation_call *call, GError **error)
{
  const struct operation_caller *caller = call->caller;
  g_autoptr (AdderRequest) options = result_options (call);
  g_autoptr (json_t) page = rows_page (call);
  guint64 number = g_ascii_strtoull (operation_text (call, "number"), NULL, 10);
  return library_table_rows (caller->engine, options, operation_text (call, "run"), (guint)number, page,
                             error);
}

/* ---- the fields ---- */

static const struct field peek_params[] = {
    FIELD_ID ("result", "The `result_id` of a result."),
    {.name = "stream",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"stdout\"",
     .words = FIELD_WORDS ("stdout", "stderr"),
     .text = "stdout or stderr."},
    {.name = "offset",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "0",
     .maximum = 1LL << 50,
     .unit = "bytes",
     .text = "The start: the `next_offset` of the previous part."},
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "16384",
     .minimum = 64,
     .maximum = 1 << 20,
     .unit = "bytes",
     .text = "How much at most."},
    ASK_TEXT ("grep", 1000, "A regular expression: return the matching lines instead of the text."),
    ASK_OWNER,
    {0},
};

/* clang-format off */
#define PART_HEAD \
    TEXT ("result_id", "The run whose output it is."), \
    TEXT ("stream", "stdout or stderr."), \
    WHOLE ("offset", "The offset of the part."), \
    WHOLE ("next_offset", "The offset of the next part."), \
    WHOLE ("total_bytes", "How much there is."), \
    FLAG ("at_end", "Whether this was the last part.")
/* clang-format on */
static const struct field line_fields[] = {
    WHOLE ("line", "Its number, from 1."),
    WHOLE ("offset", "Where its text is."),
    TEXT ("text", "Of a long line what is around the match."),
    FIELD_END ("Line"),
};
static const struct field text_part[] = {PART_HEAD, TEXT ("text", "Whole characters."),
                                         FIELD_END ("TextPart")};
static const struct field lines_part[] = {
    PART_HEAD,
    LIST ("lines", line_fields, "The matching lines."),
    FIELD_END ("LinesPart"),
};
/* clang-format off */
#define TABLE \
    FIELD_ID ("run", "The run's id."), \
    {.name = "number", .types = FIELD_TEXT, .pattern = "^[1-9][0-9]{0,5}$", \
     .pattern_words = "a number from 1 to 999999", \
     .text = "The number of the table, from 1, in order of display."}
/* clang-format on */

static const struct field table_rows_params[] = {
    TABLE,     ASK_ROWS, ASK_TEXT ("environment", 64, "The environment in which the table is read."),
    ASK_OWNER, {0},
};
static const struct field export_params[] = {
    TABLE,
    {.name = "format",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"csv\"",
     .words = FIELD_WORDS ("csv", "parquet", "json"),
     .text = "Of the file."},
    ASK_TEXT ("name", 255, "Of the file."),
    ASK_TEXT ("environment", 64, "The environment for the conversion, if one is necessary."),
    ASK_OWNER,
    {0},
};

static const struct field *const peek_replies[] = {text_part, lines_part, NULL};
static const struct field *const export_replies[] = {file_fields, NULL};

/* ---- the table ---- */

const struct operation result_operations[] = {
    {
        .name = "result.peek",
        .title = "Read more of a long output",
        .text = "Part of the output that a result shows only the beginning and the end of, or the lines that "
                "match "
                "an expression.",
        .flags = OPERATION_KEPT,
        .params = peek_params,
        .replies = peek_replies,
        .run = result_peek,
        .http = {"GET", "/v1/results/{result}", "peekResult", 200},
    },
    {
        .name = "result.export",
        .title = "Export a table that a run showed",
        .text = "Makes a file of the table that the run showed and that was kept (`tables`), in any format.",
        .flags = OPERATION_KEPT | OPERATION_RUNS,
        .params = export_params,
        .replies = export_replies,
        .run = result_export,
        .http = {"POST", "/v1/runs/{run}/tables/{number}", "exportTable", 201},
    },
    {
        .name = "result.rows",
        .title = "Show rows of a table that a run showed",
        .text =
            "A page of the rows of a table that was kept (`tables`). A sandbox reads it, and no record is "
            "kept of that.",
        .flags = OPERATION_KEPT | OPERATION_RUNS,
        .params = table_rows_params,
        .replies = rows_replies,
        .run = result_rows,
        .http = {"GET", "/v1/runs/{run}/tables/{number}/rows", "showTableRows", 200},
    },
    {0},
};
