/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. A file is an array of slots of equal size. A slot holds a text and a line break, in
 * one write, or begins with a zero: so an interrupted write has no line break, and is ignored. The file is
 * hidden until it is locked, like those of writers, so a visible file that can be locked belongs to a dead
 * process; and removing it needs the lock, so that no text is taken twice. */
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"
#include "engine/host/id.h"

#define SLOT_BYTES ((gsize)8192)
#define SLOTS_MAX  4096
#define STALE_S    3600 /* age after which an unfinished file is abandoned */

LOCK_CLASS (journal);

struct journal {
  char *path;
  int fd;
  MUTEX (journal) lock;
  GUARDED_BY (journal) GArray *empty; /* int: slots that were used before */
  GUARDED_BY (journal) int slots;     /* that were ever used */
};

/* ---- one's own ---- */

struct journal *
journal_open (const char *folder, const char *key, GError **error)
{
  char id[ID_BYTES];
  id_make (id);
  g_autofree char *hidden = g_strdup_printf ("%s/.%s-%s", folder, key, id);
  g_autofree char *path = g_strdup_printf ("%s/%s-%s", folder, key, id);
  autoclose int fd = g_mkdir_with_parents (folder, 0700) < 0
                         ? -1
                         : open (hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) < 0 || rename (hidden, path) < 0) {
    error_from_errno (error, errno, "cannot make the journal %s", path);
    return NULL;
  }
  struct journal *journal = g_new0 (struct journal, 1);
  journal->path = g_steal_pointer (&path);
  journal->fd = fd_steal (&fd);
  g_mutex_init (&journal->lock);
  journal->empty = g_array_new (FALSE, FALSE, sizeof (int));
  return journal;
}

void
journal_close (struct journal *journal)
{
  if (!journal)
    return;
  UNSHARED (journal);
  if ((int)journal->empty->len == journal->slots)
    (void)unlink (journal->path);
  fd_close (&journal->fd);
  g_array_unref (journal->empty);
  g_mutex_clear (&journal->lock);
  g_free (journal->path);
  g_free (journal);
}

static int
journal_take_slot (struct journal *journal)
{
  int slot = -1;
  g_mutex_lock (&journal->lock);
  guint empty = journal->empty->len;
  if (empty > 0) {
    slot = g_array_index (journal->empty, int, empty - 1);
    g_array_set_size (journal->empty, empty - 1);
  } else if (journal->slots < SLOTS_MAX)
    slot = journal->slots++;
  g_mutex_unlock (&journal->lock);
  return slot;
}

void
journal_clear (struct journal *journal, int slot)
{
  if (slot < 0)
    return;
  static const char nothing[SLOT_BYTES];
  /* All of it: code must not outlive its run here. */
  (void)!pwrite (journal->fd, nothing, sizeof nothing, (off_t)slot * (off_t)SLOT_BYTES);
  g_mutex_lock (&journal->lock);
  g_array_append_val (journal->empty, slot);
  g_mutex_unlock (&journal->lock);
}

int
journal_write (struct journal *journal, int slot, const char *text)
{
  char line[SLOT_BYTES];
  gsize length = strlen (text);
  if (length == 0 || length > JOURNAL_TEXT_BYTES || strchr (text, '\n'))
    return -1;
  line[length] = '\n';
  memcpy (line, text, length++);
  int own = slot < 0 ? journal_take_slot (journal) : slot;
  if (own < 0 || pwrite (journal->fd, line, length, (off_t)own * (off_t)SLOT_BYTES) == (gssize)length)
    return own;
  journal_clear (journal, own);
  return -1;
}

/* ---- those of the dead ---- */

static void
read_texts (int fd, const struct journal_reader *reader)
{
  char line[SLOT_BYTES + 1];
  gssize got;
  for (off_t at = 0; (got = pread (fd, line, SLOT_BYTES, at)) > 0; at += (off_t)SLOT_BYTES) {
    line[got] = '\0';
    char *end = strchr (line, '\n');
    if (!end)
      continue;
    *end = '\0';
    reader->each (reader->data, line);
  }
}

/* Whether the file FD is of a dead process, and still exists: then it is locked. */
static gboolean
journal_is_left (int fd)
{
  struct stat st;
  return fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode) &&
         st.st_nlink > 0;
}

static gboolean
recover_one (const char *path, const struct journal_reader *reader, GError **error)
{
  autoclose int fd = open (path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (!journal_is_left (fd))
    return TRUE;
  read_texts (fd, reader);
  if (!reader->done (reader->data, error))
    return FALSE;
  (void)unlink (path);
  return TRUE;
}

/* A file whose process died before it was finished. */
static void
journal_sweep_hidden (const char *path)
{
  struct stat st;
  autoclose int fd = open (path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (journal_is_left (fd) && fstat (fd, &st) == 0 && time (NULL) - st.st_mtime > STALE_S)
    (void)unlink (path);
}

gboolean
journal_recover (const char *folder, const char *key, const struct journal_reader *reader, GError **error)
{
  g_autoptr (GError) first = NULL;
  g_autoptr (GDir) names = g_dir_open (folder, 0, NULL);
  g_autofree char *prefix = g_strconcat (key, "-", NULL);
  for (const char *name; names && (name = g_dir_read_name (names));) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (name[0] == '.')
      journal_sweep_hidden (path);
    else if (g_str_has_prefix (name, prefix))
      (void)recover_one (path, reader, first ? NULL : &first);
  }
  if (!first)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&first));
  return FALSE;
}
