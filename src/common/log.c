/* SPDX-License-Identifier: Apache-2.0 */
/* Log messages: one sink for the process, set by the program. */
#include "common/log.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/text.h"

LOCK_CLASS (logging);

static struct {
  MUTEX (logging) lock;
  GUARDED_BY (logging) log_sink sink;
  GUARDED_BY (logging) void *data;
  int level; /* read without the lock: an unwanted message costs one load */
} logging = {.level = -1};

struct level_row {
  const char *name;
  int priority; /* of syslog(3), which the journal reads as <N> */
};

static const struct level_row level_rows[] = {
    [LOG_LEVEL_ERROR] = {"error", 3},
    [LOG_LEVEL_WARNING] = {"warning", 4},
    [LOG_LEVEL_INFO] = {"info", 6},
    [LOG_LEVEL_DEBUG] = {"debug", 7},
};

void
log_set_sink (log_sink sink, enum log_level level, void *data)
{
  g_mutex_lock (&logging.lock);
  logging.sink = sink;
  logging.data = data;
  g_atomic_int_set (&logging.level, sink ? (int)level : -1);
  g_mutex_unlock (&logging.lock);
}

void
log_message (enum log_level level, const char *format, ...)
{
  if ((int)level > g_atomic_int_get (&logging.level))
    return;
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *line = text_one_line (text, -1);

  g_mutex_lock (&logging.lock);
  if (logging.sink)
    logging.sink (level, line, logging.data);
  g_mutex_unlock (&logging.lock);
}

void
log_warning_once (const char *area, const char *message)
{
  static GMutex said_lock;
  static char *said;
  g_mutex_lock (&said_lock);
  if (g_strcmp0 (said, message) != 0) {
    log_warning ("%s: %s", area, message);
    g_free (said);
    said = g_strdup (message);
  }
  g_mutex_unlock (&said_lock);
}

char *
log_line (enum log_level level, const char *message, gboolean json, gboolean prefixed, gint64 time_us)
{
  const struct level_row *row = &level_rows[level];
  if (prefixed && !json)
    return g_strdup_printf ("<%d>%s\n", row->priority, message);
  g_autofree char *when = text_time (time_us);
  if (!json)
    return g_strdup_printf ("%s %s: %s\n", when, row->name, message);
  g_autoptr (json_t) object =
      json_pack ("{s:s, s:s, s:s}", "time", when, "level", row->name, "message", message);
  g_autofree char *text = json_to_text (object);
  return g_strdup_printf ("%s\n", text);
}

/* ---- standard error ---- */

static struct {
  gboolean json, prefixed;
} format_of_stderr;

static void
write_to_stderr (enum log_level level, const char *message, G_GNUC_UNUSED void *data)
{
  g_autofree char *line =
      log_line (level, message, format_of_stderr.json, format_of_stderr.prefixed, g_get_real_time ());
  /* One write a line, so that lines of several processes on one log do not mix. A log that is gone stops
   * nobody. */
  (void)fd_write_all (STDERR_FILENO, line, strlen (line));
}

/* systemd sets JOURNAL_STREAM to device:inode of the stream it gave us; a redirected standard error has
 * another. */
static gboolean
stderr_is_journal (void)
{
  const char *stream = g_getenv ("JOURNAL_STREAM");
  struct stat st;
  if (!stream || fstat (STDERR_FILENO, &st) < 0)
    return FALSE;
  g_autofree char *own = g_strdup_printf ("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
  return strcmp (stream, own) == 0;
}

static enum log_level
log_level_of (const char *level)
{
  enum log_level most = LOG_LEVEL_INFO;
  for (guint i = 0; i < G_N_ELEMENTS (level_rows); i++)
    if (strcmp (level_rows[i].name, level) == 0)
      most = (enum log_level)i;
  return most;
}

void
log_set_level (const char *level)
{
  g_mutex_lock (&logging.lock);
  if (logging.sink)
    g_atomic_int_set (&logging.level, (int)log_level_of (level));
  g_mutex_unlock (&logging.lock);
}

void
log_to_stderr (const char *level, const char *format)
{
  format_of_stderr.json = strcmp (format, "json") == 0;
  format_of_stderr.prefixed = stderr_is_journal ();
  log_set_sink (write_to_stderr, log_level_of (level), NULL);
}
