/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. The daemon writes into a pipe of ours and one of our threads passes it on: so killing
 * the command ends the daemon's writing, whatever the target is, and progress can be counted. */
#include "interfaces/cli/record_export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/cli_terminal.h"

#define PART_BYTES (64 * 1024)
#define TELL_US    (G_USEC_PER_SEC / 5)

struct relay {
  int from_fd, to_fd;
  guint64 bytes;
  gboolean tells;
  gint64 told_us;
  int problem; /* an errno */
};

static void
record_export_tell (struct relay *relay, gboolean last)
{
  gint64 now_us = g_get_monotonic_time ();
  if (!relay->tells || (!last && now_us - relay->told_us < TELL_US))
    return;
  relay->told_us = now_us;
  g_autofree char *size = size_format (relay->bytes);
  if (last)
    fprintf (stderr, "\r\033[K");
  else
    fprintf (stderr, "\r\033[K%s", size);
  fflush (stderr);
}

static gpointer
record_export_pass_on (gpointer data)
{
  struct relay *relay = data;
  g_autofree char *part = g_malloc (PART_BYTES);
  while (relay->problem == 0) {
    ssize_t got = read (relay->from_fd, part, PART_BYTES);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      relay->problem = got < 0 ? errno : 0;
      break;
    }
    relay->problem = -fd_write_all (relay->to_fd, part, (gsize)got);
    relay->bytes += (guint64)got;
    record_export_tell (relay, FALSE);
  }
  record_export_tell (relay, TRUE);
  /* Tells the daemon that nobody reads any more. */
  fd_close (&relay->from_fd);
  return NULL;
}

static json_t *
export_to (struct call_backend *backend, json_t *params, int to_fd, GError **error)
{
  int ends[2];
  g_autoptr (GError) problem = NULL;
  if (pipe2 (ends, O_CLOEXEC) < 0) {
    error_from_errno (error, errno, "cannot make a pipe");
    return NULL;
  }
  autoclose int write_fd = ends[1];
  struct relay relay = {
      .from_fd = ends[0], .to_fd = to_fd, .tells = cli_width (stderr) > 0 && cli_width (stdout) == 0};
  GThread *thread = g_thread_new ("export", record_export_pass_on, &relay);
  json_t *answer =
      call_backend_operation_with (backend, "record.export", json_incref (params), write_fd, NULL, &problem);
  fd_close (&write_fd);
  g_thread_join (thread);
  /* The error here caused the one there. */
  if (relay.problem != 0) {
    json_decref (answer);
    error_from_errno (error, relay.problem, "cannot write the records");
    return NULL;
  }
  if (!answer)
    g_propagate_error (error, g_steal_pointer (&problem));
  return answer;
}

/* First beside PATH, under a temporary name. */
static json_t *
export_to_file (struct call_backend *backend, json_t *params, const char *path, GError **error)
{
  g_autofree char *shown = text_one_line (path, -1);
  g_autofree char *new_path = g_strconcat (path, ".XXXXXX", NULL);
  autoclose int fd = mkostemp (new_path, O_CLOEXEC);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make a file beside %s", shown);
    return NULL;
  }
  json_t *answer = export_to (backend, params, fd, error);
  if (answer && (fsync (fd) < 0 || rename (new_path, path) < 0)) {
    error_from_errno (error, errno, "cannot write %s", shown);
    json_decref (answer);
    answer = NULL;
  }
  if (!answer)
    (void)unlink (new_path);
  return answer;
}

json_t *
record_export (struct call_backend *backend, json_t *params, const char *path, GError **error)
{
  return path ? export_to_file (backend, params, path, error)
              : export_to (backend, params, STDOUT_FILENO, error);
}
