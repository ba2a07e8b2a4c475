/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a conversation, and the count of those that fail (policy/loops.h). */
#include <string.h>
#include <sys/stat.h>

#include "library/library.h"

/* Outlives the run's request, and perhaps the engine. */
struct watched {
  struct loops *loops;
  char *owner, *conversation;
  guint64 setting;
};

static void
watched_free (gpointer data)
{
  struct watched *watched = data;
  loops_unref (watched->loops);
  g_free (watched->owner);
  g_free (watched->conversation);
  g_free (watched);
}

static void
loops_watch_ended (gpointer data, const struct request_end *end)
{
  const struct watched *watched = data;
  loops_ended (watched->loops, watched->owner, watched->conversation, watched->setting, end);
}

static void
loops_watch_add_file (struct approval_digest *digest, const char *name, int fd)
{
  struct stat st;
  if (fd < 0 || fstat (fd, &st) < 0)
    return;
  approval_digest_add (digest, "file", name, -1);
  approval_digest_add_number (digest, "size", (guint64)st.st_size);
  approval_digest_add_number (digest, "seconds", (guint64)st.st_mtim.tv_sec);
  approval_digest_add_number (digest, "nanoseconds", (guint64)st.st_mtim.tv_nsec);
}

/* Things that can change the outcome of the same code. */
static guint64
setting_of (const struct run_request *resolved)
{
  struct approval_digest *digest = approval_digest_new ();
  approval_digest_add (digest, "profile", resolved->profile, -1);
  approval_digest_add (digest, "environment", resolved->environment, -1);
  approval_digest_add (digest, "session", resolved->session, -1);
  approval_digest_add (digest, "workdir", resolved->workdir.path, -1);
  approval_digest_add_number (digest, "mode", resolved->workdir.mode);
  approval_digest_add_number (digest, "isolation", resolved->isolation);
  for (int i = 0; i < LIMIT_COUNT; i++)
    approval_digest_add_number (digest, "limit", resolved->limits.value[i]);
  for (gsize i = 0; resolved->arguments && resolved->arguments[i]; i++)
    approval_digest_add (digest, "argument", resolved->arguments[i], -1);
  for (guint i = 0; i < resolved->files->len; i++) {
    const struct input *file = &g_array_index (resolved->files, struct input, i);
    loops_watch_add_file (digest, file->name, file->fd);
  }
  /* An unnamed pipe is another one each time. */
  if (!resolved->stdin_lazy)
    loops_watch_add_file (digest, "", resolved->stdin_fd);
  g_autofree char *text = approval_digest_end (digest);
  return g_ascii_strtoull (text + strlen (text) - 15, NULL, 16);
}

void
library_watch_loops (AdderEngine *engine, struct run_request *resolved)
{
  guint64 setting = setting_of (resolved);
  resolved->attempts = loops_attempts (engine->loops, resolved->owner, resolved->conversation, setting);
  if (!resolved->attempts)
    return;
  struct watched *watched = g_new0 (struct watched, 1);
  *watched = (struct watched){loops_ref (engine->loops), g_strdup (resolved->owner),
                              g_strdup (resolved->conversation), setting};
  request_observe (resolved, loops_watch_ended, watched, watched_free);
}
