/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/files/save.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/json.h"
#include "common/text.h"

#define BLOCK_BYTES ((gsize)64 << 10)

/* A folder that is a link is none to write to, wherever it leads. */
#define SAVE_RESOLVE (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

struct row {
  const struct artifact *artifact;
  char *path;
  char *reason; /* why it is not written */
};

struct saving {
  int root_fd, to;
  gboolean force;
  GArray *rows;
  GHashTable *taken;   /* paths of files and folders to be, to what they are */
  GHashTable *written; /* device and inode of each file that was written */
};

static void
row_clear (gpointer data)
{
  struct row *row = data;
  g_free (row->path);
  g_free (row->reason);
}

/* ---- names ---- */

static char *
fit_path (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);
  for (gsize i = 0; parts[i]; i++) {
    char *clean = file_name_clean (parts[i]);
    g_free (parts[i]);
    parts[i] = clean;
  }
  return g_strjoinv ("/", parts);
}

#define IS_FILE   GINT_TO_POINTER (1)
#define IS_FOLDER GINT_TO_POINTER (2)

/* Takes ROW's path and the folders above it. */
static void
take_path (struct saving *saving, struct row *row)
{
  for (const char *slash = row->path; (slash = strchr (slash, '/')); slash++) {
    char *folder = g_strndup (row->path, (gsize)(slash - row->path));
    if (g_hash_table_lookup (saving->taken, folder) == IS_FILE)
      row->reason = row->reason ? row->reason : g_strdup ("another file has the name of its folder");
    else
      g_hash_table_insert (saving->taken, g_strdup (folder), IS_FOLDER);
    g_free (folder);
  }
  row->path = artifact_unique_name (saving->taken, row->path);
  g_hash_table_insert (saving->taken, g_strdup (row->path), IS_FILE);
}

/* Making names fit can make two equal: those that were fit keep theirs. */
static void
name_rows (struct saving *saving)
{
  for (int fit = 1; fit >= 0; fit--)
    for (guint i = 0; i < saving->rows->len; i++) {
      struct row *row = &g_array_index (saving->rows, struct row, i);
      if (fit)
        row->path = fit_path (row->artifact->name);
      if (fit == (strcmp (row->path, row->artifact->name) == 0))
        take_path (saving, row);
    }
}

/* ---- what is there ---- */

static char *
save_reason_of (int err)
{
  switch (err) {
  case EEXIST:
    return g_strdup (SAVE_THERE);
  case ELOOP:
  case ENOTDIR:
    return g_strdup ("its folder is a link or a file");
  default:
    return g_strdup (g_strerror (err));
  }
}

/* Why nothing can be written to PATH, as far as it can be seen; NULL: nothing is in the way. */
static char *
find_obstacle (const struct saving *saving, const char *path)
{
  struct stat st;
  const char *part = path;
  autoclose int folder = sys_openat2 (saving->to, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0, SAVE_RESOLVE);
  for (const char *slash; folder >= 0 && (slash = strchr (part, '/')); part = slash + 1) {
    g_autofree char *name = g_strndup (part, (gsize)(slash - part));
    int next = sys_openat2 (folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, SAVE_RESOLVE);
    if (next < 0 && errno == ENOENT)
      break;
    fd_close (&folder);
    folder = next;
  }
  if (folder < 0 || faccessat (folder, ".", W_OK | X_OK, AT_EACCESS) < 0)
    return save_reason_of (errno);
  if (strchr (part, '/'))
    return NULL;
  if (fstatat (folder, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? NULL : save_reason_of (errno);
  if (!S_ISREG (st.st_mode) && !S_ISLNK (st.st_mode))
    return g_strdup (S_ISDIR (st.st_mode) ? "a folder has its name" : "what has its name is no file");
  return saving->force ? NULL : g_strdup (SAVE_THERE);
}

/* ---- writing ---- */

/* Opens the folder that PATH is to be in, made as needed. *RET_LAST is PATH's last part. */
static int
enter_folder (int to, const char *path, const char **ret_last)
{
  autoclose int folder = sys_openat2 (to, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0, SAVE_RESOLVE);
  const char *part = path;
  for (const char *slash; folder >= 0 && (slash = strchr (part, '/')); part = slash + 1) {
    g_autofree char *name = g_strndup (part, (gsize)(slash - part));
    int next = -1;
    if (mkdirat (folder, name, 0777) == 0 || errno == EEXIST)
      next = sys_openat2 (folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, SAVE_RESOLVE);
    fd_close (&folder);
    folder = next;
  }
  *ret_last = part;
  return fd_steal (&folder);
}

/* Copies FROM to TO. Returns 0 or a negative errno. */
static int
save_copy (int from, int to)
{
  g_autofree char *block = g_malloc (BLOCK_BYTES);
  for (;;) {
    gssize got = read (from, block, BLOCK_BYTES);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 ? -errno : 0;
    int r = fd_write_all (to, block, (gsize)got);
    if (r < 0)
      return r;
  }
}

static char *
identity_of (const struct stat *st)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64)st->st_dev,
                          (guint64)st->st_ino);
}

/* Gives ASIDE, which is FILE, its name. On a file system that does not tell "a" from "A", the second of a
 * run's own files does not replace the first. */
static int
put_in_place (struct saving *saving, int folder, const char *aside, int file, const char *name)
{
  struct stat st;
  if (saving->force && fstatat (folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
    g_autofree char *there = identity_of (&st);
    if (g_hash_table_contains (saving->written, there))
      return -EEXIST;
  }
  int r = saving->force ? (renameat (folder, aside, folder, name) < 0 ? -errno : 0)
                        : fd_rename_new (folder, aside, name);
  if (r == 0 && fstat (file, &st) == 0)
    g_hash_table_add (saving->written, identity_of (&st));
  return r;
}

/* Written aside and renamed, so that a reader finds the old file or the new one, and a full disk leaves the
 * old one. */
static int
save_write_file (struct saving *saving, int from, const char *path)
{
  const char *last;
  autoclose int folder = enter_folder (saving->to, path, &last);
  if (folder < 0)
    return -errno;
  g_autofree char *aside = g_strdup_printf (".adder-%08x%08x", g_random_int (), g_random_int ());
  autoclose int file = openat (folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0)
    return -errno;
  int r = save_copy (from, file);
  if (r == 0)
    r = put_in_place (saving, folder, aside, file, last);
  if (r < 0)
    unlinkat (folder, aside, 0);
  return r;
}

static void
write_row (struct saving *saving, struct row *row)
{
  g_autoptr (GError) problem = NULL;
  autoclose int from = artifact_open (saving->root_fd, row->artifact, &problem);
  int r = from < 0 ? 0 : save_write_file (saving, from, row->path);
  if (from < 0)
    row->reason = g_strdup (problem->message);
  else if (r < 0)
    row->reason = save_reason_of (-r);
}

/* ---- the whole ---- */

static json_t *
to_json (const GArray *rows)
{
  json_t *written = json_array (), *not_written = json_array ();
  for (guint i = 0; i < rows->len; i++) {
    const struct row *row = &g_array_index (rows, struct row, i);
    json_t *told = json_pack ("{s:o, s:o}", "name", json_text_or_null (row->artifact->name), "path",
                              json_text_or_null (row->path));
    if (row->reason)
      json_object_set_new (told, "reason", json_text_or_null (row->reason));
    json_array_append_new (row->reason ? not_written : written, told);
  }
  return json_pack ("{s:o, s:o}", "written", written, "not_written", not_written);
}

json_t *
save_files (int root_fd, const GPtrArray *artifacts, int to, gboolean force)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (struct row));
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) written = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  struct saving saving = {root_fd, to, force, rows, taken, written};
  gboolean blocked = FALSE;
  g_array_set_clear_func (rows, row_clear);
  for (guint i = 0; artifacts && i < artifacts->len; i++) {
    const struct row row = {.artifact = artifacts->pdata[i]};
    g_array_append_val (rows, row);
  }
  name_rows (&saving);
  for (guint i = 0; i < rows->len; i++) {
    struct row *row = &g_array_index (rows, struct row, i);
    row->reason = row->reason ? row->reason : find_obstacle (&saving, row->path);
    blocked |= row->reason != NULL;
  }
  for (guint i = 0; i < rows->len; i++) {
    struct row *row = &g_array_index (rows, struct row, i);
    if (!blocked)
      write_row (&saving, row);
    else if (!row->reason)
      row->reason = g_strdup (SAVE_OTHERS);
  }
  return to_json (rows);
}

gboolean
save_check (const json_t *told, GError **error)
{
  const json_t *left = json_object_get (told, "not_written");
  gsize count = json_array_size (left), at = 0;
  if (count == 0)
    return TRUE;
  while (at + 1 < count && g_str_equal (json_member_text (json_array_get (left, at), "reason"), SAVE_OTHERS))
    at++;
  const json_t *first = json_array_get (left, at);
  g_autofree char *name = text_one_line (json_member_text (first, "path"), -1);
  g_autofree char *more = count > 1 ? g_strdup_printf (" (and %zu more)", count - 1) : g_strdup ("");
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "%s is not written: %s%s", name,
               json_member_text (first, "reason"), more);
  return FALSE;
}
