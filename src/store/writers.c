/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of writers: FOLDER/writers/UUID. Daemons of one machine that share a database, as those of two users
 * do, have a folder each: so that none takes another for dead whose file it cannot see, each folder has an id
 * in FOLDER/place, which is part of its writers' names. */
#include "store/writers.h"

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

#define STALE_S 3600 /* age after which an unfinished lock is abandoned */

LOCK_CLASS (writers);

struct writers {
  char *node;
  char *first;   /* our name before the folder was known */
  char *own;     /* our name */
  char *visible; /* the common prefix of names in our folder */
  MUTEX (writers) lock;
  GUARDED_BY (writers) char *folder; /* NULL: not yet shown */
  GUARDED_BY (writers) gboolean all_here;
  GUARDED_BY (writers) int fd; /* of our own file */
};

struct writers *
writers_new (const char *node)
{
  char id[ID_BYTES];
  id_make (id);
  struct writers *writers = g_new0 (struct writers, 1);
  writers->node = g_strdup (node);
  writers->own = writers->first = g_strconcat (node, "/", id, NULL);
  g_mutex_init (&writers->lock);
  writers->fd = -1;
  return writers;
}

const char *
writers_own (const struct writers *writers)
{
  return writers->own;
}

static const char *
writers_id_of (const char *writer)
{
  const char *slash = strrchr (writer, '/');
  return slash ? slash + 1 : writer;
}

/* The file gets its name only once it is locked: one that can be locked later is a dead writer's. */
REQUIRES (writers)
static gboolean
writers_make_own (struct writers *writers, const char *folder, GError **error)
{
  g_autofree char *hidden = g_strdup_printf ("%s/.%s", folder, writers_id_of (writers->own));
  g_autofree char *path = g_build_filename (folder, writers_id_of (writers->own), NULL);
  autoclose int fd = open (hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) < 0 || rename (hidden, path) < 0)
    return error_from_errno (error, errno, "cannot make the lock %s of the store", path);
  writers->fd = fd_steal (&fd);
  return TRUE;
}

/* The id of FOLDER, which the first writer assigns. The caller's. */
static char *
writers_find_place (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "place", NULL);
  char id[ID_BYTES];
  id_make (id);
  g_autofree char *hidden = g_strdup_printf ("%s/.place-%s", folder, id);
  char *place = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    gboolean made = g_file_set_contents_full (hidden, id, -1, G_FILE_SET_CONTENTS_NONE, 0600, error) &&
                    (link (hidden, path) == 0 || errno == EEXIST ||
                     error_from_errno (error, errno, "cannot make %s", path));
    (void)unlink (hidden);
    if (!made)
      return NULL;
  }
  if (!g_file_get_contents (path, &place, NULL, error))
    return NULL;
  if (strlen (place) == ID_BYTES - 1 && strspn (place, "0123456789abcdef-") == ID_BYTES - 1)
    return place;
  g_free (place);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "%s is damaged: end all daemons that use the store, and remove it", path);
  return NULL;
}

REQUIRES (writers)
static gboolean
enter_place (struct writers *writers, const char *folder, GError **error)
{
  g_autofree char *place = writers_find_place (folder, error);
  if (!place)
    return FALSE;
  writers->visible = g_strconcat (writers->node, "/", place, "/", NULL);
  writers->own = g_strconcat (writers->visible, writers_id_of (writers->first), NULL);
  return TRUE;
}

gboolean
writers_show (struct writers *writers, const char *folder, gboolean all_here, GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writers->lock);
  if (writers->folder)
    return TRUE;
  g_autofree char *path = g_build_filename (folder, "writers", NULL);
  if (g_mkdir_with_parents (path, 0700) < 0)
    return error_from_errno (error, errno, "cannot make the folder %s of the store", path);
  if ((!all_here && !writers->visible && !enter_place (writers, folder, error)) ||
      !writers_make_own (writers, path, error))
    return FALSE;
  writers->folder = g_steal_pointer (&path);
  writers->all_here = all_here;
  return TRUE;
}

void
writers_free (struct writers *writers)
{
  if (!writers)
    return;
  UNSHARED (writers);
  if (writers->folder) {
    g_autofree char *path = g_build_filename (writers->folder, writers_id_of (writers->own), NULL);
    (void)unlink (path);
  }
  fd_close (&writers->fd);
  g_mutex_clear (&writers->lock);
  g_free (writers->node);
  if (writers->own != writers->first)
    g_free (writers->own);
  g_free (writers->first);
  g_free (writers->visible);
  g_free (writers->folder);
  g_free (writers);
}

/* Whether WRITER's file, if it has one, is in our folder. */
REQUIRES (writers)
static gboolean
is_here (const struct writers *writers, const char *writer)
{
  return writers->all_here || (writers->visible && g_str_has_prefix (writer, writers->visible));
}

gboolean
writers_is_alive (struct writers *writers, const char *writer)
{
  if (strcmp (writer, writers->own) == 0)
    return TRUE;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writers->lock);
  if (!writers->folder || !is_here (writers, writer))
    return TRUE;
  g_autofree char *path = g_build_filename (writers->folder, writers_id_of (writer), NULL);
  autoclose int fd = open (path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno != ENOENT;
  return flock (fd, LOCK_SH | LOCK_NB) < 0;
}

/* Writers without a file count as dead. One being made is hidden, and old only if it was abandoned. */
static void
sweep_one (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  autoclose int fd = open (path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat (fd, &st) < 0 || (name[0] == '.' && time (NULL) - st.st_mtime < STALE_S))
    return;
  if (flock (fd, LOCK_EX | LOCK_NB) == 0)
    (void)unlink (path);
}

gboolean
writers_sweep (struct writers *writers, GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writers->lock);
  if (!writers->folder)
    return TRUE;
  g_autoptr (GDir) folder = g_dir_open (writers->folder, 0, error);
  if (!folder)
    return FALSE;
  for (const char *name; (name = g_dir_read_name (folder));)
    sweep_one (writers->folder, name);
  return TRUE;
}
