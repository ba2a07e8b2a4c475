/* SPDX-License-Identifier: Apache-2.0 */
/* What `adder ask --out DIR` leaves: a directory that was written beside its place and then renamed, so that
 * it is there whole or not at all; and reading it again. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/describe.h"
#include "apps/ask/ask.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "engine/host/scratch.h"

#define TABLE_NAME    "table.csv"
#define STATE_NAME    "state.json"
#define STATE_VERSION 1
#define STATE_MAX     (64 * 1024 * 1024)

/* ---- files ---- */

static gboolean
keep_write_file (int directory, const char *name, const void *data, gsize length, GError **error)
{
  autoclose int fd = openat (directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  int r = fd < 0 ? -errno : fd_write_all (fd, data, length);
  if (r == 0 && fsync (fd) < 0)
    r = -errno;
  return r == 0 || error_from_errno (error, r, "cannot write %s", name);
}

static gboolean
keep_write_text (int directory, const char *name, const char *text, GError **error)
{
  return keep_write_file (directory, name, text, strlen (text), error);
}

/* ---- the table ---- */

static void
keep_append_cell (GString *text, const json_t *value)
{
  g_autofree char *cell =
      json_is_string (value) ? g_strdup (json_string_value (value)) : describe_scalar (value, 0);
  if (!strpbrk (cell, ",\"\r\n")) {
    g_string_append (text, cell);
    return;
  }
  g_auto (GStrv) parts = g_strsplit (cell, "\"", -1);
  g_autofree char *quoted = g_strjoinv ("\"\"", parts);
  g_string_append_printf (text, "\"%s\"", quoted);
}

static void
keep_append_line (GString *text, const json_t *cells, const char *member)
{
  gsize index;
  json_t *cell;
  json_array_foreach (cells, index, cell)
  {
    if (index > 0)
      g_string_append_c (text, ',');
    keep_append_cell (text, member ? json_object_get (cell, member) : cell);
  }
  g_string_append_c (text, '\n');
}

/* The rows that are told of RESULT; NULL where it is no table. The caller's. */
static char *
table_csv (const json_t *result)
{
  const json_t *columns = json_object_get (result, "columns"), *rows = json_object_get (result, "rows");
  if (json_array_size (columns) == 0 || !json_is_array (rows))
    return NULL;
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *row;
  keep_append_line (text, columns, "name");
  json_array_foreach (rows, index, row) keep_append_line (text, row, NULL);
  return g_string_free (text, FALSE);
}

/* All of it, which the run left in FOLDER, or what is told of it. */
static gboolean
keep_write_table (int directory, const char *folder, struct analysis *analysis, GError **error)
{
  g_autofree char *told = table_csv (analysis->result);
  if (analysis->table_file) {
    g_autofree char *path = g_build_filename (folder, json_member_text (analysis->table_file, "name"), NULL);
    if (renameat (AT_FDCWD, path, directory, TABLE_NAME) < 0)
      return error_from_errno (error, errno, "cannot put the table at %s", TABLE_NAME);
    /* It lies here now, whatever the store does with its own. */
    g_autoptr (json_t) there = analysis->table_file;
    analysis->table_file =
        json_pack ("{s:s, s:O, s:O, s:O}", "name", TABLE_NAME, "mime", json_object_get (there, "mime"),
                   "bytes", json_object_get (there, "bytes"), "sha256", json_object_get (there, "sha256"));
    return TRUE;
  }
  return !told || keep_write_text (directory, TABLE_NAME, told, error);
}

/* ---- pictures ---- */

static gboolean
keep_write_picture (int directory, json_t *picture, gsize number, char **ret_name, GError **error)
{
  const char *ending = strcmp (json_member_text (picture, "mime"), "image/jpeg") == 0 ? "jpg" : "png";
  g_autofree char *name = g_strdup_printf ("picture-%" G_GSIZE_FORMAT ".%s", number, ending);
  gsize length;
  g_autofree guchar *bytes = g_base64_decode (json_member_text (picture, "data"), &length);
  if (!keep_write_file (directory, name, bytes, length, error))
    return FALSE;
  json_object_set_new (picture, "file", json_string (name));
  *ret_name = g_steal_pointer (&name);
  return TRUE;
}

/* Their names in *RET_NAMES, which is NULL-terminated. */
static gboolean
write_pictures (int directory, const struct analysis *analysis, GPtrArray **ret_names, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  gsize index;
  json_t *picture;
  json_array_foreach (analysis->pictures, index, picture)
  {
    char *name = NULL;
    if (!keep_write_picture (directory, picture, index + 1, &name, error))
      return FALSE;
    g_ptr_array_add (names, name);
  }
  g_ptr_array_add (names, NULL);
  *ret_names = g_steal_pointer (&names);
  return TRUE;
}

/* ---- the state ---- */

/* A picture is a file beside it. */
static json_t *
without_data (const json_t *pictures)
{
  json_t *list = json_array ();
  gsize index;
  json_t *picture;
  json_array_foreach (pictures, index, picture)
  {
    json_t *copy = json_copy (picture);
    json_object_set_new (copy, "data", json_null ());
    json_array_append_new (list, copy);
  }
  return list;
}

static gboolean
write_state (int directory, const struct ask_kept *kept, GError **error)
{
  const struct analysis *analysis = kept->analysis;
  g_autoptr (json_t) object =
      json_pack ("{s:i, s:s, s:o, s:O}", "state_version", STATE_VERSION, "adder", adder_version (),
                 "environment", json_text_or_null (kept->environment), "limits", kept->limits);
  g_autoptr (json_t) state = analysis_to_json (analysis);
  json_object_set_new (state, "pictures", without_data (analysis->pictures));
  json_object_update (object, state);
  char *dumped = json_dumps (object, JSON_INDENT (1));
  gboolean ok = keep_write_file (directory, STATE_NAME, dumped, strlen (dumped), error);
  free (dumped);
  return ok;
}

/* ---- the directory ---- */

gboolean
ask_keep_check (const char *directory, GError **error)
{
  struct stat st;
  g_autoptr (GDir) dir = NULL;
  if (lstat (directory, &st) < 0 && errno == ENOENT)
    return TRUE;
  if ((dir = g_dir_open (directory, 0, NULL)) && !g_dir_read_name (dir))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "--out %s: it exists and is not an empty directory; name a new one", directory);
  return FALSE;
}

static gboolean
keep_write_all (int directory, const char *folder, const struct ask_kept *kept, GError **error)
{
  struct analysis *analysis = kept->analysis;
  g_autoptr (GPtrArray) names = NULL;
  if (!write_pictures (directory, analysis, &names, error) ||
      !keep_write_table (directory, folder, analysis, error))
    return FALSE;
  g_autofree char *markdown = analysis_markdown (analysis, (const char *const *)names->pdata);
  return keep_write_text (directory, "answer.md", markdown, error) &&
         (!analysis->code || keep_write_text (directory, "code.py", analysis->code, error)) &&
         write_state (directory, kept, error);
}

char *
ask_make_beside (const char *path, GError **error)
{
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  g_autofree char *parent = g_path_get_dirname (canonical);
  g_autofree char *made = g_strconcat (canonical, ".XXXXXX", NULL);
  if (g_mkdir_with_parents (parent, 0777) == 0 && g_mkdtemp_full (made, 0777))
    return g_steal_pointer (&made);
  error_from_errno (error, errno, "cannot make a directory in %s", parent);
  return NULL;
}

void
ask_remove_directory (const char *path)
{
  scratch_remove_tree (AT_FDCWD, path);
}

gboolean
ask_keep (const char *directory, const char *folder, const struct ask_kept *kept, GError **error)
{
  g_autofree char *made = ask_make_beside (directory, error);
  if (!made)
    return FALSE;
  autoclose int fd = open (made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  gboolean ok = fd >= 0 ? keep_write_all (fd, folder, kept, error)
                        : error_from_errno (error, errno, "cannot open the directory %s", made);
  if (ok && rename (made, directory) < 0)
    ok = error_from_errno (error, errno, "cannot put the answer at %s", directory);
  if (!ok)
    ask_remove_directory (made);
  return ok;
}

/* ---- reading it again ---- */

void
ask_kept_clear (struct ask_kept *kept)
{
  g_clear_pointer (&kept->analysis, analysis_free);
  g_clear_pointer (&kept->environment, g_free);
  g_clear_pointer (&kept->limits, json_decref);
}

gboolean
ask_kept_load (const char *directory, struct ask_kept *ret_kept, GError **error)
{
  g_autofree char *path = g_build_filename (directory, STATE_NAME, NULL);
  g_autofree char *text = ask_read_file (path, STATE_MAX, "what --again reads", error);
  g_autoptr (json_t) object = text ? json_parse_object (text, strlen (text), path, error) : NULL;
  if (!object)
    return FALSE;
  if (json_integer_value (json_object_get (object, "state_version")) != STATE_VERSION) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s is of another version of Adder, or not of Adder", path);
    return FALSE;
  }
  struct ask_kept kept = {.analysis = analysis_from_json (object, error)};
  if (!kept.analysis) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  kept.environment = g_strdup (json_string_value (json_object_get (object, "environment")));
  kept.limits = json_incref (json_object_get (object, "limits"));
  *ret_kept = kept;
  return TRUE;
}
