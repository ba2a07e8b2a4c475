/* SPDX-License-Identifier: Apache-2.0 */
#include "library/kept_table.h"

#include <string.h>

#include "adder.h"
#include "common/text.h"
#include "engine/host/id.h"
#include "library/library.h"
#include "store/files.h"

#define NAMES_SHOWN  20
#define MEMORY_BYTES (G_GUINT64_CONSTANT (2) << 30)

/* The number that the name of a table begins with, "table-3.csv"; 0: none. */
static guint
kept_table_number_of (const char *name)
{
  guint64 number = 0;
  const char *at = name + strlen ("table-");
  if (!g_str_has_prefix (name, "table-") || !g_ascii_isdigit (*at))
    return 0;
  number = g_ascii_strtoull (at, NULL, 10);
  return number <= G_MAXINT ? (guint)number : 0;
}

static gboolean
kept_table_is_table (const struct file_row *row)
{
  return row->kind == FILE_TABLE && kept_table_number_of (row->name) > 0;
}

static int
compare_numbers (const void *a, const void *b)
{
  guint left = kept_table_number_of ((*(struct file_row *const *)a)->name);
  guint right = kept_table_number_of ((*(struct file_row *const *)b)->name);
  return left < right ? -1 : left > right;
}

static void
set_no_table (GPtrArray *rows, const char *run_id, guint number, GError **error)
{
  g_autofree char *shown = text_one_line (run_id, ID_BYTES);
  g_autoptr (GString) there = g_string_new (NULL);
  g_ptr_array_sort (rows, compare_numbers);
  for (guint i = 0; i < rows->len && i < NAMES_SHOWN; i++)
    g_string_append_printf (there, "%s%u", there->len > 0 ? ", " : "",
                            kept_table_number_of (((struct file_row *)rows->pdata[i])->name));
  if (there->len > 0)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "no table %u of the run %s is kept: there is %s",
                 number, shown, there->str);
  else
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
        "no table of the run %s is kept: a run keeps the tables that it shows where `tables` names a "
        "format (an option of the run, or a key of its profile)",
        shown);
}

struct file_row *
kept_table_find (struct store *store, const char *owner, const char *run_id, guint number, GError **error)
{
  const struct file_filter filter = {.owner = owner, .run_id = run_id, .most = FILES_LISTED_MAX};
  g_autoptr (GPtrArray) rows = files_list (store, &filter, error);
  if (!rows)
    return NULL;
  for (guint i = rows->len; i-- > 0;)
    if (!kept_table_is_table (rows->pdata[i]))
      g_ptr_array_remove_index (rows, i);
  for (guint i = 0; i < rows->len; i++)
    if (kept_table_number_of (((struct file_row *)rows->pdata[i])->name) == number)
      return files_find (store, owner, ((struct file_row *)rows->pdata[i])->id, error);
  set_no_table (rows, run_id, number, error);
  return NULL;
}

int
kept_table_open (struct store *store, const struct file_row *row, GError **error)
{
  struct blobs *blobs = store_blobs (store, error);
  return blobs ? blobs_get (blobs, row->blob, row->bytes, row->sha256, error) : -1;
}

AdderRequest *
kept_table_request (const AdderRequest *options, const struct file_row *row, int fd,
                    const struct kept_table_work *work, GError **error)
{
  AdderRequest *request = library_request_like (options, work->code);
  const char *const arguments[] = {row->name, work->argument, NULL};
  if (!library_owner (options))
    adder_request_set_owner (request, row->owner, NULL);
  adder_request_set_arguments (request, arguments);
  adder_request_set_description (request, work->description);
  if (adder_request_add_file (request, row->name, fd, error) &&
      adder_request_set_limit (request, "wall_ms", work->wall_ms, error) &&
      adder_request_set_limit (request, "memory_bytes", MEMORY_BYTES, error))
    return request;
  adder_request_free (request);
  return NULL;
}
