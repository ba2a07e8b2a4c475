/* SPDX-License-Identifier: Apache-2.0 */
#include "frontends/agent/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"

struct journal {
  char *file; /* NULL: standard output */
  int fd;
  int problem; /* of the first write that failed, a negative errno */
};

struct journal *
journal_open (const char *file, GError **error)
{
  int fd = file ? open (file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600)
                : fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot write to %s", file ? file : "standard output");
    return NULL;
  }
  struct journal *journal = g_new0 (struct journal, 1);
  journal->file = g_strdup (file);
  journal->fd = fd;
  return journal;
}

void
journal_write (struct journal *journal, const json_t *line)
{
  g_autofree char *text = json_to_text (line);
  g_autofree char *whole = g_strconcat (text, "\n", NULL);
  if (journal->problem == 0)
    journal->problem = fd_write_all (journal->fd, whole, strlen (whole));
}

gboolean
journal_close (struct journal *journal, GError **error)
{
  if (!journal)
    return TRUE;
  gboolean ok = journal->problem == 0 || error_from_errno (error, journal->problem, "cannot write to %s",
                                                           journal->file ? journal->file : "standard output");
  fd_close (&journal->fd);
  g_free (journal->file);
  g_free (journal);
  return ok;
}

static void
take_step (gpointer data, const json_t *step)
{
  journal_write (data, step);
}

const struct agent_events journal_events = {.ended = take_step};
