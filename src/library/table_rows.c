/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of kept tables. The files are hostile input, so a sandbox reads them (runner/python/rows.py), and
 * what it prints is checked like a session's answer. */
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/request/answer.h"
#include "engine/run/run.h"
#include "library/kept_table.h"
#include "library/library.h"

#define WALL_MS     60000
#define REPLY_BYTES (G_GUINT64_CONSTANT (4) << 20)

static const char read_rows[] = "import sys\n"
                                "from adder_runner import rows\n"
                                "rows.of_file(sys.argv[1], sys.argv[2])\n";

static AdderRequest *
table_rows_request (const AdderRequest *options, const struct file_row *row, const json_t *page, int fd,
                    GError **error)
{
  g_autofree char *asked = json_to_text (page);
  const struct kept_table_work work = {read_rows, asked, "Reads rows of a table.", WALL_MS};
  g_autoptr (AdderRequest) request = kept_table_request (options, row, fd, &work, error);
  return request && adder_request_set_limit (request, "reply_bytes", REPLY_BYTES, error)
             ? g_steal_pointer (&request)
             : NULL;
}

/* As adder_run, but nothing of it is kept: a person who scrolls would fill the records. */
static AdderResult *
table_rows_run (AdderEngine *engine, const AdderRequest *request)
{
  struct run_request *resolved = library_resolve (engine, request);
  library_admit (engine, request, resolved);
  library_fetch_inputs (engine, resolved, FALSE);
  AdderRun *run = run_start (engine->engine, resolved);
  AdderEvent event;
  do
    run_next (run, &event);
  while (event.kind != ADDER_EVENT_RESULT);
  run_free (run);
  return event.result;
}

/* The page that RESULT printed; NULL with ERROR. */
static json_t *
table_rows_read (const json_t *result, guint64 limit, GError **error)
{
  const char *text = json_member_text (result, "stdout");
  g_autoptr (json_t) answer = answer_read (text, strlen (text));
  json_t *rows = answer ? answer_read_rows (answer, limit) : NULL;
  if (rows)
    return rows;
  const char *message = json_string_value (json_object_get (json_object_get (result, "error"), "message"));
  g_autofree char *shown = text_one_line (message ? message : "it is no such file", -1);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot read the rows of the table: %s", shown);
  return NULL;
}

static json_t *
table_rows_of (AdderEngine *engine, const AdderRequest *options, const struct file_row *row,
               const json_t *page, GError **error)
{
  autoclose int fd = kept_table_open (engine->store, row, error);
  g_autoptr (AdderRequest) request = fd >= 0 ? table_rows_request (options, row, page, fd, error) : NULL;
  if (!request)
    return NULL;
  AdderResult *ran = table_rows_run (engine, request);
  g_autoptr (json_t) result = library_result (ran);
  adder_result_free (ran);
  g_autoptr (json_t) rows =
      table_rows_read (result, (guint64)json_integer_value (json_object_get (page, "limit")), error);
  return rows && !answer_rows_refused (rows, "the table", error) ? g_steal_pointer (&rows) : NULL;
}

json_t *
library_table_rows (AdderEngine *engine, const AdderRequest *options, const char *run_id, guint number,
                    const json_t *page, GError **error)
{
  struct file_row *row = kept_table_find (engine->store, library_owner (options), run_id, number, error);
  json_t *rows = row ? table_rows_of (engine, options, row, page, error) : NULL;
  file_row_free (row);
  return rows;
}
