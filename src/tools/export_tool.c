/* SPDX-License-Identifier: Apache-2.0 */
/* export_results_csv. */
#include "tools/export_tool.h"

#include "common/json.h"
#include "library/library.h"
#include "tools/dataset_tools.h"
#include "tools/shapes.h"

#define TABLES_MAX 256 /* the maximum of the limit tables */

const struct field export_csv_parameters[] = {
    {.name = "run_id",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .minimum = 1,
     .maximum = 100,
     .text = "The run_id of the reply to the run that showed the table."},
    {.name = "dataset",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .minimum = 1,
     .maximum = 100,
     .text = "Instead of run_id: a data set, whole, by its name or NAME:VERSION."},
    {.name = "table",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "1",
     .minimum = 1,
     .maximum = TABLES_MAX,
     .text = "Which of its tables, counted from 1."},
    {.name = "name",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .maximum = 200,
     .text = "What the file is to be called, such as \"prices.csv\"."},
    {0},
};

static const struct field reply[] = {
    {.name = "file_id", .types = FIELD_TEXT, .text = "By which it can be loaded."},
    {.name = "filename", .types = FIELD_TEXT, .text = "What it is called."},
    {.name = "bytes", .types = FIELD_INTEGER, .text = "How long it is."},
    {.name = "url", .types = FIELD_TEXT | FIELD_NULL, .text = "Where to download it."},
    {0},
};
const struct field *const export_csv_replies[] = {reply, NULL};

/* What a model needs to know of FILE. */
static json_t *
export_tool_shorten (const json_t *file)
{
  return json_pack ("{s:O, s:O, s:O, s:O}", "file_id", json_object_get (file, "file_id"), "filename",
                    json_object_get (file, "name"), "bytes", json_object_get (file, "bytes"), "url",
                    json_object_get (file, "url"));
}

void
export_csv_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  const char *run_id = call_text (call, "run_id"), *dataset = call_text (call, "dataset");
  if ((run_id != NULL) == (dataset != NULL)) {
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "export_results_csv: give run_id, of the run that showed the table, or dataset");
    call_fail (call, problem);
    return;
  }
  if (dataset) {
    dataset_export (call, dataset, "csv", call_text (call, "name"));
    return;
  }
  g_autoptr (AdderRequest) options = call_request (call, "", NULL);
  g_autoptr (json_t) file =
      library_export_table (call->tools->engine, options, run_id, (guint)call_integer (call, "table"), "csv",
                            call_text (call, "name"), &problem);
  call_reply_value (call, file ? export_tool_shorten (file) : NULL, problem);
}
