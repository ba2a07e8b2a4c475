/* SPDX-License-Identifier: Apache-2.0 */
/* collect_dataset: answers of databases of materials, kept as a data set. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "library/library.h"
#include "store/blobs.h"
#include "tools/dataset_put.h"
#include "tools/dataset_tools.h"
#include "tools/materials_call.h"
#include "tools/shapes.h"

const struct field collect_dataset_parameters[] = {
    {.name = "name",
     .types = FIELD_TEXT,
     .pattern = DATASET_PATTERN,
     .pattern_words = DATASET_WORDS,
     .text = "The name of the data set."},
    MATERIALS_QUERY_FIELDS,
    PARAMETER_KEEP_VERSIONS,
    {0},
};

static const struct field reply[] = {
    FIELDS_DATASET,
    WHOLE ("records", "How many came, before the same materials were merged."),
    FLAG ("interrupted", "Whether it was ended before it was done: the data set has what had come by then."),
    LIST ("providers", materials_provider_fields, "The result of each database."),
    TEXTS ("warnings", "What else is to be known."),
    {0},
};
const struct field *const collect_dataset_replies[] = {reply, NULL};

/* ---- rows ---- */

/* ROWS as lines of JSON, in an unnamed file: its descriptor, or -1. */
static int
dataset_collect_write_rows (struct store *store, const json_t *rows, guint64 *ret_bytes, GError **error)
{
  struct blobs *blobs = store_blobs (store, error);
  autoclose int fd = blobs ? blobs_create (blobs, error) : -1;
  gsize index;
  json_t *row;
  g_autoptr (GString) block = g_string_new (NULL);
  if (fd < 0)
    return -1;
  *ret_bytes = 0;
  json_array_foreach (rows, index, row)
  {
    g_autofree char *line = json_to_text (row);
    g_string_append_printf (block, "%s\n", line);
    gboolean is_last = index + 1 == json_array_size (rows);
    if (block->len < (1 << 20) && !is_last)
      continue;
    int r = fd_write_all (fd, block->str, block->len);
    if (r < 0) {
      (void)error_from_errno (error, r, "cannot write the rows that came");
      return -1;
    }
    *ret_bytes += block->len;
    g_string_truncate (block, 0);
  }
  return fd_steal (&fd);
}

/* Why there are no rows: the first failure, or that nothing was found. */
static void
nothing_came (const json_t *found, GError **error)
{
  gsize index;
  json_t *provider;
  json_array_foreach (json_object_get (found, "providers"), index, provider)
  {
    const char *reason = json_string_value (json_object_get (provider, "error"));
    if (!reason)
      continue;
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "no record came, so there is no data set: %s: %s",
                 json_member_text (provider, "name"), reason);
    return;
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "no provider has such a material, so there is no data set (%s)",
               json_member_text (found, "filter"));
}

/* ---- what is known ---- */

/* The search arguments, with the filter made from them. */
static json_t *
query_of (const struct call *call, const json_t *found)
{
  json_t *query = json_object ();
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)call->arguments, name, value)
  {
    if (!json_is_null (value) && strcmp (name, "name") != 0 && strcmp (name, "keep_versions") != 0)
      json_object_set (query, name, value);
  }
  json_object_set (query, "filter", json_object_get (found, "filter"));
  return query;
}

static json_t *
dataset_collect_facts_of (const struct call *call, const json_t *found)
{
  static const char *const told[] = {"providers", "records", "interrupted", "warnings", NULL};
  json_t *facts = json_pack ("{s:o}", "query", query_of (call, found));
  for (gsize i = 0; told[i]; i++)
    json_object_set (facts, told[i], json_object_get (found, told[i]));
  return facts;
}

/* ---- keeping ---- */

static struct dataset *
dataset_collect_keep (struct call *call, const json_t *found, const struct dataset_made *made, GError **error)
{
  g_autoptr (json_t) facts = dataset_collect_facts_of (call, found);
  gsize rows = json_array_size (json_object_get (found, "rows"));
  if (json_integer_value (json_object_get (made->answer, "rows")) != (json_int_t)rows) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the table that the sandbox wrote has another number of rows than %zu", rows);
    return NULL;
  }
  const struct dataset_keeping keeping = {.name = call_text (call, "name"),
                                          .facts = facts,
                                          .made = made,
                                          .complete = json_is_true (json_object_get (found, "complete")),
                                          .keep_versions = call_flag (call, "keep_versions")};
  return dataset_keep (call, &keeping, error);
}

static void
reply_kept (struct call *call, const struct dataset *dataset, const json_t *found)
{
  static const char *const told[] = {"records", "interrupted", "providers", "warnings", NULL};
  json_t *value = dataset_to_json (dataset);
  for (gsize i = 0; told[i]; i++)
    json_object_set (value, told[i], json_object_get (found, told[i]));
  call_reply (call, value, NULL);
}

static void
keep_found (struct call *call, const json_t *found)
{
  g_autoptr (GError) problem = NULL;
  const json_t *rows = json_object_get (found, "rows");
  guint64 bytes = 0;
  if (json_array_size (rows) == 0)
    nothing_came (found, &problem);
  autoclose int fd =
      problem ? -1 : dataset_collect_write_rows (call->tools->engine->store, rows, &bytes, &problem);
  if (fd < 0) {
    call_fail (call, problem);
    return;
  }
  const struct dataset_work work = {.job = DATASET_OF_ROWS,
                                    .shown = "what came",
                                    .source = "rows.jsonl",
                                    .fd = fd,
                                    .bytes = bytes,
                                    .unwatched = json_is_true (json_object_get (found, "interrupted"))};
  struct dataset_made made;
  if (!dataset_work_run (call, &work, &made))
    return;
  struct dataset *dataset = dataset_collect_keep (call, found, &made, &problem);
  dataset_made_clear (&made);
  if (dataset)
    reply_kept (call, dataset, found);
  else
    call_fail (call, problem);
  dataset_free (dataset);
}

void
collect_dataset_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  struct materials_call asked;
  struct materials_watch watch;
  materials_call_read (call, &asked);
  materials_call_watch (call, &watch);
  g_autoptr (json_t) found = materials_search (&asked.search, &watch, &problem);
  materials_call_clear (&asked);
  if (found)
    keep_found (call, found);
  else
    call_fail (call, problem);
}
