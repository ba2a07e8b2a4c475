/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"

struct event_log {
  char *file; /* NULL: standard output */
  int fd;
  int problem; /* of the first write that failed, a negative errno */
};

struct event_log *
event_log_open (const char *file, GError **error)
{
  int fd = file ? open (file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600)
                : fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot write to %s", file ? file : "standard output");
    return NULL;
  }
  struct event_log *log = g_new0 (struct event_log, 1);
  log->file = g_strdup (file);
  log->fd = fd;
  return log;
}

void
event_log_write (struct event_log *log, const json_t *line)
{
  g_autofree char *text = json_to_text (line);
  g_autofree char *whole = g_strconcat (text, "\n", NULL);
  if (log->problem == 0)
    log->problem = fd_write_all (log->fd, whole, strlen (whole));
}

gboolean
event_log_close (struct event_log *log, GError **error)
{
  if (!log)
    return TRUE;
  gboolean ok = log->problem == 0 || error_from_errno (error, log->problem, "cannot write to %s",
                                                       log->file ? log->file : "standard output");
  fd_close (&log->fd);
  g_free (log->file);
  g_free (log);
  return ok;
}

static void
event_log_take_step (gpointer data, const json_t *step)
{
  event_log_write (data, step);
}

const struct agent_events event_log_events = {.ended = event_log_take_step};
