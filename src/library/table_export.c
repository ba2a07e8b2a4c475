/* SPDX-License-Identifier: Apache-2.0 */
/* Kept tables that runs showed, in the requested format. A table in another format is hostile input like
 * everything from a sandbox, so an ordinary run in a sandbox reads it; the table that this run shows is kept
 * like any other. */
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "library/kept_table.h"
#include "library/library.h"
#include "store/files.h"

#define WALL_MS 120000

/* Text stays text: "007" stays a string, and dates are not parsed. */
static const char convert[] =
    "import sys\n"
    "import pandas as pd\n"
    "name = sys.argv[1]\n"
    "if name.endswith('.parquet'):\n"
    "    table = pd.read_parquet(name)\n"
    "elif name.endswith('.json'):\n"
    "    table = pd.read_json(name, orient='records', dtype=False, convert_dates=False)\n"
    "else:\n"
    "    table = pd.read_csv(name)\n"
    "display(table)\n";

/* ---- converting ---- */

static AdderRequest *
table_export_request_of (const AdderRequest *options, const struct file_row *row, const char *format, int fd,
                         GError **error)
{
  static const struct kept_table_work work = {convert, NULL, "Writes a table in another format.", WALL_MS};
  AdderRequest *request = kept_table_request (options, row, fd, &work, error);
  if (request)
    adder_request_set_tables (request, format);
  return request;
}

/* The id of the table in RESULT, or NULL with ERROR. The result's. */
static const char *
table_export_table_of (const json_t *result, const char *format, GError **error)
{
  const json_t *file = json_array_get (json_object_get (result, "files"), 0);
  const char *id = json_string_value (json_object_get (file, "file_id"));
  const char *name = json_string_value (json_object_get (file, "name"));
  const char *message = json_string_value (json_object_get (json_object_get (result, "error"), "message"));
  const char *warning = json_string_value (json_array_get (json_object_get (result, "warnings"), 0));
  if (id && g_str_has_suffix (name, format))
    return id;
  if (!message)
    message = warning ? warning : "no file was created";
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot convert the table to %s: %s", format, message);
  return NULL;
}

static struct file_row *
convert_row (AdderEngine *engine, const AdderRequest *options, const struct file_row *row, const char *format,
             GError **error)
{
  autoclose int fd = kept_table_open (engine->store, row, error);
  if (fd < 0)
    return NULL;
  g_autoptr (AdderRequest) request = table_export_request_of (options, row, format, fd, error);
  if (!request)
    return NULL;
  AdderResult *ran = adder_run (engine, request);
  g_autoptr (json_t) result = library_result (ran);
  const char *id = table_export_table_of (result, format, error);
  struct file_row *made = id ? files_find (engine->store, library_owner (options), id, error) : NULL;
  adder_result_free (ran);
  return made;
}

/* ---- naming ---- */

/* ROW under NAME, with the extension of FORMAT added if missing. */
static struct file_row *
name_row (struct store *store, const struct file_row *row, const char *name, const char *format,
          GError **error)
{
  g_autofree char *ending = g_strconcat (".", format, NULL);
  g_autofree char *whole = g_strconcat (name, g_str_has_suffix (name, ending) ? NULL : ending, NULL);
  autoclose int fd = kept_table_open (store, row, error);
  if (fd < 0)
    return NULL;
  struct file_new copy = {
      .kind = FILE_GENERATED,
      .fd = fd,
      .name = whole,
      .mime = row->mime,
      .sha256 = row->sha256,
      .bytes = row->bytes,
      .owner = row->owner,
      .conversation = row->conversation,
      .session = row->session,
      .run_id = row->run_id,
  };
  return files_put (store, &copy, error) ? files_find (store, row->owner, copy.id, error) : NULL;
}

/* ---- the whole ---- */

json_t *
library_export_table (AdderEngine *engine, const AdderRequest *options, const char *run_id, guint number,
                      const char *format, const char *name, GError **error)
{
  g_autofree char *ending = g_strconcat (".", format, NULL);
  struct file_row *row = kept_table_find (engine->store, library_owner (options), run_id, number, error);
  if (row && !g_str_has_suffix (row->name, ending)) {
    struct file_row *made = convert_row (engine, options, row, format, error);
    file_row_free (row);
    row = made;
  }
  if (row && name && name[0] != '\0') {
    struct file_row *named = name_row (engine->store, row, name, format, error);
    file_row_free (row);
    row = named;
  }
  json_t *file = row ? file_row_to_json (engine->store, row) : NULL;
  file_row_free (row);
  return file;
}
