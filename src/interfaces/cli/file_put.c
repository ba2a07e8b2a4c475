/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/file_put.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/cli_terminal.h"

#define FILES_MAX 100000
#define DEPTH_MAX 64

/* A file to upload. */
struct source {
  char *path;
  guint64 bytes;
  gboolean found; /* in a folder: no link is followed */
};

static void
source_free (gpointer data)
{
  struct source *source = data;
  g_free (source->path);
  g_free (source);
}

/* ---- what there is ---- */

static gboolean
file_put_add_source (GPtrArray *sources, const char *path, guint64 bytes, gboolean found, GError **error)
{
  if (sources->len >= FILES_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there are more than %d files", FILES_MAX);
    return FALSE;
  }
  struct source *source = g_new0 (struct source, 1);
  *source = (struct source){g_strdup (path), bytes, found};
  g_ptr_array_add (sources, source);
  return TRUE;
}

static int
file_put_compare_names (gconstpointer left, gconstpointer right)
{
  return strcmp (*(char *const *)left, *(char *const *)right);
}

static gboolean
walk_folder (GPtrArray *sources, const char *path, guint depth, GError **error)
{
  g_autoptr (GDir) folder = depth < DEPTH_MAX ? g_dir_open (path, 0, error) : NULL;
  if (!folder) {
    if (depth >= DEPTH_MAX)
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there are folders more than %d deep", DEPTH_MAX);
    return FALSE;
  }
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; (name = g_dir_read_name (folder));)
    if (name[0] != '.')
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, file_put_compare_names);
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *inner = g_build_filename (path, names->pdata[i], NULL);
    struct stat st;
    if (lstat (inner, &st) < 0)
      continue; /* it disappeared meanwhile */
    if ((S_ISDIR (st.st_mode) && !walk_folder (sources, inner, depth + 1, error)) ||
        (S_ISREG (st.st_mode) && !file_put_add_source (sources, inner, (guint64)st.st_size, TRUE, error)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
find_sources (GPtrArray *sources, const char *const *paths, GError **error)
{
  for (; *paths; paths++) {
    struct stat st = {0};
    gboolean is_input = strcmp (*paths, "-") == 0;
    if (!is_input && stat (*paths, &st) < 0) {
      g_autofree char *shown = text_one_line (*paths, -1);
      return error_from_errno (error, errno, "cannot open %s", shown);
    }
    if (S_ISDIR (st.st_mode) ? !walk_folder (sources, *paths, 0, error)
                             : !file_put_add_source (sources, *paths, (guint64)st.st_size, FALSE, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- uploading ---- */

struct progress {
  gboolean shown;
  gsize done, files;
  guint64 done_bytes, bytes;
};

static void
file_put_show_progress (const struct progress *progress)
{
  if (!progress->shown)
    return;
  g_autofree char *done = size_format (progress->done_bytes);
  g_autofree char *all = size_format (progress->bytes);
  fprintf (stderr, "\r\033[K%zu of %zu files, %s of %s", progress->done, progress->files, done, all);
  fflush (stderr);
}

static void
end_progress (const struct progress *progress)
{
  if (progress->shown)
    fprintf (stderr, "\r\033[K");
}

static int
file_put_open_source (const struct source *source, GError **error)
{
  if (strcmp (source->path, "-") == 0)
    return fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  int fd = open (source->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (source->found ? O_NOFOLLOW : 0));
  if (fd < 0) {
    g_autofree char *shown = text_one_line (source->path, -1);
    error_from_errno (error, errno, "cannot open %s", shown);
  }
  return fd;
}

static json_t *
file_put_one (struct call_backend *backend, const struct file_put *put, const struct source *source,
              GError **error)
{
  autoclose int fd = file_put_open_source (source, error);
  if (fd < 0)
    return NULL;
  g_autofree char *own = g_path_get_basename (source->path);
  json_t *params = json_pack ("{s:o, s:s*, s:s*}", "name", json_text_or_null (put->name ? put->name : own),
                              "conversation", put->conversation, "owner", put->owner);
  return call_backend_operation_with (backend, "file.put", params, fd, NULL, error);
}

static void
tell_one (const struct source *source, const json_t *file, const GError *problem)
{
  if (!problem) {
    g_autofree char *name = text_one_line (json_string_value (json_object_get (file, "name")), -1);
    printf ("%s  %s\n", json_string_value (json_object_get (file, "file_id")), name);
    return;
  }
  g_autofree char *shown = text_one_line (source->path, -1);
  fprintf (stderr, "adder: %s: %s\n", shown, problem->message);
}

json_t *
file_put (struct call_backend *backend, const struct file_put *put, const char *const *paths,
          guint *ret_failed, GError **error)
{
  g_autoptr (GPtrArray) sources = g_ptr_array_new_with_free_func (source_free);
  if (!find_sources (sources, paths, error))
    return NULL;
  struct progress progress = {.shown = cli_width (stderr) > 0 && !put->quiet && sources->len > 1,
                              .files = sources->len};
  for (guint i = 0; i < sources->len; i++)
    progress.bytes += ((struct source *)sources->pdata[i])->bytes;
  json_t *files = json_array ();
  guint failed = 0;
  for (guint i = 0; i < sources->len; i++) {
    const struct source *source = sources->pdata[i];
    g_autoptr (GError) problem = NULL;
    file_put_show_progress (&progress);
    json_t *file = file_put_one (backend, put, source, &problem);
    end_progress (&progress);
    if (!file || !put->quiet)
      tell_one (source, file, problem);
    if (file)
      json_array_append_new (files, file);
    else
      failed++;
    progress.done++;
    progress.done_bytes += source->bytes;
  }
  *ret_failed = failed;
  return files;
}
