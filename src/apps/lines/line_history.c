/* SPDX-License-Identifier: Apache-2.0 */
/* Lines go to the file's end, so that no program overwrites what another one added; who opens it and finds
 * too many leaves the last ones. */
#include "apps/lines/line_history.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/replace.h"
#include "models/private_file.h"

#define FILE_BYTES (4 << 20)
#define LINE_BYTES 4096 /* longer ones are not kept */

struct line_history {
  int fd;
  GStrv lines;
  char *last;
};

/* The file's lines; none where there is no file. */
static GStrv
line_history_read_lines (const char *path, GError **error)
{
  gsize length;
  gboolean missing;
  g_autofree char *text = private_file_read (path, FILE_BYTES, S_IRWXG | S_IRWXO, &length, &missing, error);
  if (!text)
    return missing ? g_new0 (char *, 1) : NULL;
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_auto (GStrv) all = g_strsplit (g_strchomp (valid), "\n", -1);
  guint count = g_strv_length (all), from = count > LINE_HISTORY_LINES ? count - LINE_HISTORY_LINES : 0;
  return g_strdupv (all + from);
}

/* A file that became twice as long is made short again. */
static gboolean
trim (const char *path, char *const *lines, GError **error)
{
  struct stat status;
  gsize kept = 0;
  for (char *const *line = lines; *line; line++)
    kept += strlen (*line) + 1;
  if (stat (path, &status) < 0 || (gsize)status.st_size <= 2 * kept + LINE_BYTES)
    return TRUE;
  g_autofree char *text = g_strjoinv ("\n", (GStrv)(guintptr)lines);
  g_autofree char *whole = g_strconcat (text, "\n", NULL);
  return replace_file (path, path, whole, error);
}

struct line_history *
line_history_open (const char *name, GError **error)
{
  g_autofree char *folder = paths_state_dir (error);
  g_autofree char *path = folder ? g_build_filename (folder, name, NULL) : NULL;
  g_auto (GStrv) lines = path ? line_history_read_lines (path, error) : NULL;
  if (!lines || !trim (path, lines, error))
    return NULL;
  autoclose int fd = open (path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot keep what is typed in %s", path);
    return NULL;
  }
  struct line_history *history = g_new0 (struct line_history, 1);
  history->fd = fd_steal (&fd);
  history->lines = g_steal_pointer (&lines);
  return history;
}

void
line_history_close (struct line_history *history)
{
  if (!history)
    return;
  fd_close (&history->fd);
  g_strfreev (history->lines);
  g_free (history->last);
  g_free (history);
}

char *const *
line_history_lines (const struct line_history *history)
{
  return history->lines;
}

void
line_history_add (struct line_history *history, const char *line)
{
  if (line[0] == '\0' || strlen (line) > LINE_BYTES || strchr (line, '\n') ||
      g_strcmp0 (line, history->last) == 0)
    return;
  g_autofree char *whole = g_strconcat (line, "\n", NULL);
  /* What cannot be kept is forgotten: that is no reason not to answer. */
  (void)fd_write_all (history->fd, whole, strlen (whole));
  g_free (history->last);
  history->last = g_strdup (line);
}
