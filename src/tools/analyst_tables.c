/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a call: the caller's stored files, and text that came with it. */
#include "tools/analyst.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/json.h"
#include "library/library.h"
#include "tools/attached_files.h"

#define CSV_NAME "csv"

static void
clear_table (gpointer data)
{
  struct analyst_table *table = data;
  fd_close (&table->fd);
  fd_close (&table->head.fd);
  g_free (table->file_id);
}

/* Missing or null settings are detected. The caller's. */
static json_t *
reading_of (const struct call *call)
{
  json_t *given = json_object ();
  const char *name;
  json_t *value;
  json_object_foreach (json_object_get (call->arguments, "options"), name, value)
  {
    if (!json_is_null (value))
      json_object_set (given, name, value);
  }
  return given;
}

/* Takes FD, whose file is called FILE. */
static gboolean
analyst_tables_add (struct call *call, struct analysis *analysis, GArray *tables, const char *name,
                    const char *file_id, const char *file, int *fd, GError **error)
{
  struct analyst_table table = {g_strdup (file_id), fd_steal (fd), {-1}};
  g_autoptr (json_t) reading = reading_of (call);
  gboolean opened = head_open (table.fd, &table.head, error);
  off_t bytes = lseek (table.fd, 0, SEEK_END);
  g_array_append_val (tables, table);
  return opened && analysis_add_table (analysis, name, table.head.ending, file, file_id, (guint64)bytes,
                                       reading, error);
}

/* NAME NULL: the file's own. */
static gboolean
analyst_tables_add_stored (struct call *call, struct analysis *analysis, GArray *tables, const char *file_id,
                           const char *name, GError **error)
{
  g_autoptr (json_t) row = NULL;
  autoclose int fd = library_open_file (call->tools->engine, call->caller->owner, file_id, &row, error);
  if (fd < 0)
    return FALSE;
  g_autofree char *own = file_name_stem (json_member_text (row, "name"));
  /* A data set's name may soon mean another file; an id does not. */
  return analyst_tables_add (call, analysis, tables, name ? name : own, json_member_text (row, "file_id"),
                             json_member_text (row, "name"), &fd, error);
}

static gboolean
analyst_tables_add_text (struct call *call, struct analysis *analysis, GArray *tables, const char *csv,
                         GError **error)
{
  autoclose int fd = fd_memory (CSV_NAME, csv, strlen (csv));
  if (fd < 0)
    return error_from_errno (error, fd, "cannot keep the table");
  return analyst_tables_add (call, analysis, tables, CSV_NAME, NULL, CSV_NAME, &fd, error);
}

static gboolean
add_named (struct call *call, struct analysis *analysis, GArray *tables, GError **error)
{
  const char *csv = call_text (call, "csv");
  gsize index;
  json_t *file;
  json_array_foreach (json_object_get (call->arguments, "files"), index, file)
  {
    if (!analyst_tables_add_stored (call, analysis, tables, json_member_text (file, "file_id"),
                                    json_string_value (json_object_get (file, "name")), error))
      return FALSE;
  }
  return !csv || analyst_tables_add_text (call, analysis, tables, csv, error);
}

static gboolean
add_attached_files (struct call *call, struct analysis *analysis, GArray *tables, GError **error)
{
  g_autoptr (json_t) files = attached_files_list (call, NULL);
  const char *name;
  json_t *id;
  json_object_foreach (files, name, id)
  {
    if (!analyst_tables_add_stored (call, analysis, tables, json_string_value (id), NULL, error))
      return FALSE;
  }
  return TRUE;
}

GArray *
analyst_tables (struct call *call, struct analysis *analysis, GError **error)
{
  g_autoptr (GArray) tables = g_array_new (FALSE, TRUE, sizeof (struct analyst_table));
  g_array_set_clear_func (tables, clear_table);
  if (!add_named (call, analysis, tables, error) ||
      (tables->len == 0 && !add_attached_files (call, analysis, tables, error)))
    return NULL;
  if (tables->len > 0)
    return g_steal_pointer (&tables);
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_INVALID,
      "no table: give files (ids from list_files) or csv (the text itself), or load one with load_file in "
      "this conversation");
  return NULL;
}
