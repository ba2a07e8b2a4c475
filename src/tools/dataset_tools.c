/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/dataset_tools.h"

#include <string.h>

#include "base/fd.h"
#include "common/file_name.h"
#include "common/json.h"
#include "common/text.h"
#include "library/library.h"
#include "store/blobs.h"
#include "store/files.h"
#include "tools/attached_files.h"
#include "tools/dataset_put.h"
#include "tools/dataset_work.h"
#include "tools/shapes.h"

#define LISTED_MAX 1000

/* clang-format off */
#define PARAMETER_DATASET \
  {.name = "dataset", .types = FIELD_TEXT, .pattern = DATASET_PATTERN_VERSION, .pattern_words = DATASET_WORDS_VERSION, \
   .text = "The data set, from list_datasets: its name, or NAME:VERSION."}
/* clang-format on */

/* ---- list ---- */

const struct field list_datasets_parameters[] = {
    {.name = "all_versions",
     .types = FIELD_BOOLEAN,
     .optional = TRUE,
     .standard = "false",
     .text = "Whether earlier versions are listed as well."},
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "100",
     .minimum = 1,
     .maximum = LISTED_MAX,
     .text = "At most so many."},
    {0},
};
static const struct field listed_members[] = {FIELDS_DATASET, {0}};
static const struct field list_reply[] = {
    {.name = "datasets",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = listed_members,
     .text = "By name, then the newest first."},
    {.name = "total", .types = FIELD_INTEGER, .text = "How many there are in all."},
    {0},
};
const struct field *const list_datasets_replies[] = {list_reply, NULL};

json_t *
dataset_to_json (const struct dataset *dataset)
{
  g_autofree char *created = text_time (dataset->created_ms * 1000);
  return json_pack ("{s:s, s:I, s:I, s:I, s:b, s:s}", "name", dataset->name, "version",
                    (json_int_t)dataset->version, "rows", (json_int_t)dataset->rows, "bytes",
                    (json_int_t)dataset->bytes, "complete", dataset->complete, "created", created);
}

void
list_datasets_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GPtrArray) rows = datasets_list (call->tools->engine->store, call->caller->owner,
                                              call_flag (call, "all_versions"), &problem);
  if (!rows) {
    call_fail (call, problem);
    return;
  }
  json_t *listed = json_array ();
  for (guint i = 0; i < rows->len && i < (guint)call_integer (call, "limit"); i++)
    json_array_append_new (listed, dataset_to_json (rows->pdata[i]));
  call_reply (call, json_pack ("{s:o, s:I}", "datasets", listed, "total", (json_int_t)rows->len), NULL);
}

/* ---- show ---- */

const struct field show_dataset_parameters[] = {
    PARAMETER_DATASET,
    {.name = "head",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "5",
     .minimum = 0,
     .maximum = DATASET_HEAD_MAX,
     .text = "How many of its first rows."},
    {0},
};
static const struct field show_reply[] = {
    FIELDS_DATASET,
    {.name = "facts",
     .types = FIELD_OBJECT,
     .text = "All that is known of it: query, providers, schema (its columns), sha256."},
    {.name = "head", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "Its first rows."},
    {0},
};
const struct field *const show_dataset_replies[] = {show_reply, NULL};

static struct dataset *
dataset_tools_find (struct call *call, const char *name, GError **error)
{
  return dataset_find (call->tools->engine->store, call->caller->owner, name, error);
}

/* The first COUNT rows of DATASET; NULL: CALL has its reply. */
static json_t *
dataset_tools_read_head (struct call *call, const struct dataset *dataset, gint64 count)
{
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, count);
  const struct dataset_work work = {.job = DATASET_HEAD,
                                    .source = "table.parquet",
                                    .file_id = dataset->table_id,
                                    .bytes = dataset->bytes,
                                    .target = number};
  struct dataset_made made;
  if (count == 0)
    return json_array ();
  if (!dataset_work_run (call, &work, &made))
    return NULL;
  json_t *rows = json_incref (json_object_get (made.answer, "rows"));
  dataset_made_clear (&made);
  return rows ? rows : json_array ();
}

void
show_dataset_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  struct dataset *dataset = dataset_tools_find (call, call_text (call, "dataset"), &problem);
  json_t *facts = dataset ? dataset_facts (call->tools->engine->store, dataset, &problem) : NULL;
  if (!facts)
    call_fail (call, problem);
  else {
    json_t *head = dataset_tools_read_head (call, dataset, call_integer (call, "head"));
    if (head) {
      json_t *reply = dataset_to_json (dataset);
      json_object_set (reply, "facts", facts);
      json_object_set_new (reply, "head", head);
      call_reply (call, reply, NULL);
    }
  }
  json_decref (facts);
  dataset_free (dataset);
}

/* ---- load ---- */

const struct field load_dataset_parameters[] = {PARAMETER_DATASET, {0}};
static const struct field load_reply[] = {
    {.name = "local_path", .types = FIELD_TEXT, .text = "Where the code finds it: /tmp/{filename}."},
    {.name = "filename", .types = FIELD_TEXT, .text = "What it is called there."},
    {.name = "name", .types = FIELD_TEXT, .text = "The data set."},
    {.name = "version", .types = FIELD_INTEGER, .text = "Which of that name."},
    {.name = "rows", .types = FIELD_INTEGER, .text = "Its rows."},
    {0},
};
const struct field *const load_dataset_replies[] = {load_reply, NULL};

void
load_dataset_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *file = NULL;
  struct dataset *dataset = dataset_tools_find (call, call_text (call, "dataset"), &problem);
  if (!dataset || !attached_files_add (call, NULL, dataset->table_id, &file, &problem))
    call_fail (call, problem);
  else {
    g_autofree char *path = g_strconcat ("/tmp/", file, NULL);
    call_reply (call,
                json_pack ("{s:s, s:s, s:s, s:I, s:I}", "local_path", path, "filename", file, "name",
                           dataset->name, "version", (json_int_t)dataset->version, "rows",
                           (json_int_t)dataset->rows),
                NULL);
  }
  dataset_free (dataset);
}

/* ---- import ---- */

const struct field import_dataset_parameters[] = {
    {.name = "file_id",
     .types = FIELD_TEXT,
     .minimum = 1,
     .maximum = 100,
     .text = "The id of the file, from list_files or from the files of a run."},
    {.name = "name",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .pattern = DATASET_PATTERN,
     .pattern_words = DATASET_WORDS,
     .text = "The name of the data set; else as the file is, without its ending."},
    {.name = "table",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .minimum = 1,
     .maximum = 200,
     .text = "Which sheet of a workbook, or table or view of a database, where the file has several."},
    PARAMETER_KEEP_VERSIONS,
    {0},
};
static const struct field import_reply[] = {
    FIELDS_DATASET,
    {.name = "assumed",
     .types = FIELD_LIST,
     .items = FIELD_TEXT,
     .text = "What nobody said of the file, and was taken to be so; lines that were left out."},
    {0},
};
const struct field *const import_dataset_replies[] = {import_reply, NULL};
static const struct field put_reply[] = {FIELDS_DATASET, {0}};
const struct field *const put_dataset_replies[] = {put_reply, NULL};

/* The name of a data set made from the file NAME. The caller's. */
static char *
name_of_file (const char *name)
{
  char *plain = file_name_stem (name);
  g_strcanon (plain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", '_');
  if (plain[0] == '-' || plain[0] == '.')
    plain[0] = '_';
  if (strlen (plain) > DATASET_NAME_MAX)
    plain[DATASET_NAME_MAX] = '\0';
  return plain;
}

static void
import_row (struct call *call, const struct file_row *row)
{
  g_autoptr (GError) problem = NULL;
  const char *given = call_text (call, "name");
  g_autofree char *own = name_of_file (row->name);
  const struct dataset_work work = {.job = DATASET_IMPORT,
                                    .shown = row->name,
                                    .source = "source",
                                    .file_id = row->id,
                                    .bytes = row->bytes,
                                    .wanted = call_text (call, "table")};
  struct dataset_made made;
  if (!dataset_work_run (call, &work, &made))
    return;
  g_autoptr (json_t) facts = json_pack ("{s:{s:s, s:s, s:I}}", "imported", "filename", row->name, "sha256",
                                        row->sha256, "bytes", (json_int_t)row->bytes);
  const struct dataset_keeping keeping = {.name = given ? given : own,
                                          .facts = facts,
                                          .made = &made,
                                          .complete = TRUE,
                                          .keep_versions = call_flag (call, "keep_versions")};
  struct dataset *dataset = dataset_keep (call, &keeping, &problem);
  if (dataset) {
    json_t *reply = dataset_to_json (dataset), *assumed = json_object_get (made.answer, "assumed");
    json_object_set_new (reply, "assumed", assumed ? json_incref (assumed) : json_array ());
    call_reply (call, reply, NULL);
  } else
    call_fail (call, problem);
  dataset_made_clear (&made);
  dataset_free (dataset);
}

void
import_dataset_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  struct file_row *row =
      files_find (call->tools->engine->store, call->caller->owner, call_text (call, "file_id"), &problem);
  if (row)
    import_row (call, row);
  else
    call_fail (call, problem);
  file_row_free (row);
}

/* ---- remove ---- */

const struct field remove_dataset_parameters[] = {PARAMETER_DATASET, {0}};
static const struct field remove_reply[] = {
    {.name = "removed", .types = FIELD_TEXT, .text = "What was removed, as it was asked for."},
    {0},
};
const struct field *const remove_dataset_replies[] = {remove_reply, NULL};

void
remove_dataset_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  const char *name = call_text (call, "dataset");
  if (dataset_remove (call->tools->engine->store, call->caller->owner, name, &problem))
    call_reply (call, json_pack ("{s:s}", "removed", name), NULL);
  else
    call_fail (call, problem);
}

/* ---- export ---- */

const struct field export_dataset_parameters[] = {
    PARAMETER_DATASET,
    {.name = "format",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"csv\"",
     .words = FIELD_WORDS ("csv", "json", "parquet"),
     .text = "What it is to be. In CSV lists are JSON."},
    {.name = "filename",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .minimum = 1,
     .maximum = 200,
     .text = "What the file is to be called; else as the data set is."},
    {0},
};

/* The table as it is, as a file that expires like others: its id, the caller's. */
static char *
copy_table (struct call *call, const struct dataset *dataset, const char *filename, GError **error)
{
  struct store *store = call->tools->engine->store;
  struct blobs *blobs = store_blobs (store, error);
  struct file_row *row = blobs ? files_find (store, dataset->owner, dataset->table_id, error) : NULL;
  if (!row)
    return NULL;
  autoclose int fd = blobs_get (blobs, row->blob, row->bytes, row->sha256, error);
  struct file_new copy = {.kind = FILE_GENERATED,
                          .fd = fd,
                          .name = filename,
                          .mime = row->mime,
                          .sha256 = row->sha256,
                          .bytes = row->bytes,
                          .owner = row->owner,
                          .conversation = call->caller->conversation};
  gboolean ok = fd >= 0 && files_put (store, &copy, error);
  file_row_free (row);
  return ok ? g_strdup (copy.id) : NULL;
}

static void
reply_file (struct call *call, const char *id)
{
  g_autoptr (GError) problem = NULL;
  struct store *store = call->tools->engine->store;
  struct file_row *row = files_find (store, call->caller->owner, id, &problem);
  if (!row) {
    call_fail (call, problem);
    return;
  }
  g_autofree char *url = files_url (store, row->id, row->name);
  call_reply (call,
              json_pack ("{s:s, s:s, s:I, s:o}", "file_id", row->id, "filename", row->name, "bytes",
                         (json_int_t)row->bytes, "url", json_text_or_null (url)),
              NULL);
  file_row_free (row);
}

static void
export_found (struct call *call, const struct dataset *dataset, const char *format, const char *filename)
{
  g_autoptr (GError) problem = NULL;
  if (strcmp (format, "parquet") == 0) {
    g_autofree char *id = copy_table (call, dataset, filename, &problem);
    if (id)
      reply_file (call, id);
    else
      call_fail (call, problem);
    return;
  }
  const struct dataset_work work = {.job = strcmp (format, "csv") == 0 ? DATASET_CSV : DATASET_JSON,
                                    .source = "table.parquet",
                                    .file_id = dataset->table_id,
                                    .bytes = dataset->bytes,
                                    .target = filename};
  struct dataset_made made;
  if (!dataset_work_run (call, &work, &made))
    return;
  reply_file (call, made.file_id);
  dataset_made_clear (&made);
}

void
dataset_export (struct call *call, const char *name, const char *format, const char *filename)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *ending = g_strconcat (".", format, NULL);
  struct dataset *dataset = dataset_tools_find (call, name, &problem);
  if (!dataset) {
    call_fail (call, problem);
    return;
  }
  g_autofree char *clean = file_name_clean (filename ? filename : dataset->name);
  g_autofree char *whole = g_strconcat (clean, g_str_has_suffix (clean, ending) ? NULL : ending, NULL);
  export_found (call, dataset, format, whole);
  dataset_free (dataset);
}

void
export_dataset_tool (struct call *call)
{
  dataset_export (call, call_text (call, "dataset"), call_text (call, "format"),
                  call_text (call, "filename"));
}
