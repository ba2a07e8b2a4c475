/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces as directories. */
#include "engine/host/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/log.h"

LOCK_CLASS (scratch);

/* The directory of a process holds a lock on itself: without the lock, the process is dead. */
struct scratch {
  char *path, *home;
  int fd;
  struct workspace_owner owner;
  gint64 places; /* made so far: their names */

  /* Code makes trees that take seconds to remove. A thread does it while there are any, so that acquiring
   * sandboxes does not block. */
  MUTEX (scratch) lock;
  GUARDED_BY (scratch) GQueue left;        /* struct scratch_place: to be removed */
  GUARDED_BY (scratch) gboolean sweep_due; /* remove what killed daemons left as well */
  GUARDED_BY (scratch) gboolean removing;  /* THREAD still runs */
  GUARDED_BY (scratch) gboolean closed;    /* no more threads are started */
  GUARDED_BY (scratch) GThread *thread;
};

/* Beyond this backlog, the thread that gives one back removes it: the disk cannot fill faster than it is
 * emptied. */
#define LEFT_MAX 16

struct scratch_place {
  struct scratch *scratch;
  char name[24];
};

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* ---- sweeping ---- */

/* Code cannot make deeper trees within a run's time; it bounds what a sweep remembers. */
#define DEPTH_MAX 1000000

/* Empties DIRECTORY as far as possible at once. Returns the name of a subdirectory that is not empty, or
 * NULL: it is empty, or cannot be emptied. */
static char *
remove_entries (int directory)
{
  DIR *list = fd_list (directory);
  char *full = NULL;
  if (!list)
    return NULL;
  for (const char *name; !full && (name = fd_next_name (list));)
    if (unlinkat (directory, name, 0) < 0 && errno == EISDIR &&
        unlinkat (directory, name, AT_REMOVEDIR) < 0 && (errno == ENOTEMPTY || errno == EEXIST))
      full = g_strdup (name);
  closedir (list);
  return full;
}

/* A directory may have no permissions. chmod of /proc/self/fd affects what an O_PATH descriptor stands for,
 * and never the target of a link. */
static int
scratch_enter (int directory, const char *name)
{
  int fd = openat (directory, name, OPEN_DIRECTORY);
  if (fd >= 0 || errno != EACCES)
    return fd;
  autoclose int node = openat (directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", node);
  return node >= 0 && chmod (path, 0700) == 0 ? openat (directory, name, OPEN_DIRECTORY) : -1;
}

static gboolean
scratch_is_same (int fd, const struct stat *expected)
{
  struct stat info;
  return fstat (fd, &info) == 0 && info.st_ino == expected->st_ino && info.st_dev == expected->st_dev;
}

/* Walks down and up again with one descriptor, however deep the tree is. On the way up it verifies that it
 * returns to the same place: an unconfined process could move directories meanwhile. A directory that cannot
 * be emptied (a file is undeletable) ends it, since it would be entered again and again. */
void
scratch_remove_tree (int parent, const char *name)
{
  g_autoptr (GArray) way = g_array_new (FALSE, FALSE, sizeof (struct stat));
  int directory = scratch_enter (parent, name);
  struct stat here, left = {0};
  while (directory >= 0 && way->len < DEPTH_MAX && fstat (directory, &here) == 0) {
    (void)fchmod (directory, 0700);
    g_autofree char *full = remove_entries (directory);
    int next = -1;
    if (full) {
      next = scratch_enter (directory, full);
      if (next >= 0 && scratch_is_same (next, &left))
        fd_close (&next);
      g_array_append_val (way, here);
    } else if (way->len > 0) {
      next = openat (directory, "..", OPEN_DIRECTORY);
      if (next >= 0 && !scratch_is_same (next, &g_array_index (way, struct stat, way->len - 1)))
        fd_close (&next);
      g_array_set_size (way, way->len - 1);
      left = here;
    }
    fd_close (&directory);
    directory = next;
  }
  fd_close (&directory);
  if (unlinkat (parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
    log_warning ("cannot remove the workspace %s: %s", name, g_strerror (errno));
}

static char *
prefix_of_user (void)
{
  return g_strdup_printf ("adder-%u-", (unsigned)geteuid ());
}

/* Left by killed daemons of this user: our naming, our ownership, and no lock held. */
static void
scratch_sweep (void)
{
  const char *parent = g_get_tmp_dir ();
  g_autofree char *prefix = prefix_of_user ();
  g_autoptr (GDir) list = g_dir_open (parent, 0, NULL);
  autoclose int directory = open (parent, OPEN_DIRECTORY);
  for (const char *name; list && directory >= 0 && (name = g_dir_read_name (list));) {
    struct stat info;
    if (!g_str_has_prefix (name, prefix))
      continue;
    autoclose int fd = openat (directory, name, OPEN_DIRECTORY);
    if (fd >= 0 && fstat (fd, &info) == 0 && info.st_uid == geteuid () && flock (fd, LOCK_EX | LOCK_NB) == 0)
      scratch_remove_tree (directory, name);
  }
}

/* ---- removing ---- */

static void
scratch_remove_place (struct scratch_place *place)
{
  scratch_remove_tree (place->scratch->fd, place->name);
  scratch_unref (place->scratch);
  g_free (place);
}

/* The next one to remove, or NULL; *RET_SWEEP: a sweep is next. Neither: done. */
static struct scratch_place *
take_next (struct scratch *scratch, gboolean *ret_sweep)
{
  g_mutex_lock (&scratch->lock);
  struct scratch_place *place = g_queue_pop_head (&scratch->left);
  *ret_sweep = !place && scratch->sweep_due;
  if (*ret_sweep)
    scratch->sweep_due = FALSE;
  scratch->removing = place || *ret_sweep;
  g_mutex_unlock (&scratch->lock);
  return place;
}

static gpointer
remove_all (gpointer data)
{
  struct scratch *scratch = data;
  struct scratch_place *place;
  gboolean sweeps;
  while ((place = take_next (scratch, &sweeps)) || sweeps)
    if (place)
      scratch_remove_place (place);
    else
      scratch_sweep ();
  return NULL;
}

/* Without a thread, the caller does it. */
static void
start_removing (struct scratch *scratch)
{
  g_mutex_lock (&scratch->lock);
  gboolean starts = !scratch->removing && !scratch->closed, started = FALSE;
  if (starts) {
    g_clear_pointer (&scratch->thread, g_thread_join);
    scratch->thread = g_thread_try_new ("adder-remove", remove_all, scratch, NULL);
    started = scratch->removing = scratch->thread != NULL;
  }
  g_mutex_unlock (&scratch->lock);
  if (starts && !started)
    remove_all (scratch);
}

/* ---- the directory of this process ---- */

/* A sandbox with its own user must be able to traverse our directory and own what is below it. */
static gboolean
give_away (int directory, const char *name, const struct workspace_owner *owner)
{
  return !owner->assume || fchownat (directory, name, owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct scratch *
scratch_make_directory (const char *prefix, const struct workspace_owner *owner, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/%sXXXXXX", g_get_tmp_dir (), prefix);
  if (!g_mkdtemp_full (path, owner->assume ? 0711 : 0700)) {
    error_from_errno (error, errno, "cannot make a directory for workspaces in %s", g_get_tmp_dir ());
    return NULL;
  }
  struct scratch *scratch = g_atomic_rc_box_new0 (struct scratch);
  g_mutex_init (&scratch->lock);
  g_queue_init (&scratch->left);
  scratch->sweep_due = TRUE;
  scratch->owner = *owner;
  scratch->home = g_build_filename (path, "zygote", NULL);
  scratch->fd = open (path, OPEN_DIRECTORY);
  scratch->path = g_steal_pointer (&path);
  /* The umask must not apply here. */
  if (scratch->fd < 0 || fchmod (scratch->fd, owner->assume ? 0711 : 0700) < 0 ||
      flock (scratch->fd, LOCK_EX | LOCK_NB) < 0 || mkdirat (scratch->fd, "zygote", 0700) < 0 ||
      !give_away (scratch->fd, "zygote", owner)) {
    error_from_errno (error, errno, "cannot prepare the directory for workspaces %s", scratch->path);
    scratch_unref (scratch);
    return NULL;
  }
  return scratch;
}

/* Before it is locked, a new directory looks dead to a process that sweeps at that moment. */
#define TRIES 3

struct scratch *
scratch_new (const struct workspace_owner *owner, GError **error)
{
  g_autofree char *prefix = prefix_of_user ();
  struct scratch *scratch = NULL;
  for (int i = 0; i < TRIES && !scratch; i++) {
    g_clear_error (error);
    scratch = scratch_make_directory (prefix, owner, error);
  }
  if (scratch)
    start_removing (scratch);
  return scratch;
}

static void
clear (gpointer data)
{
  struct scratch *scratch = data;
  g_autofree char *parent = g_path_get_dirname (scratch->path);
  g_autofree char *name = g_path_get_basename (scratch->path);
  autoclose int directory = open (parent, OPEN_DIRECTORY);
  if (directory >= 0)
    scratch_remove_tree (directory, name);
  fd_close (&scratch->fd);
  g_mutex_clear (&scratch->lock);
  g_free (scratch->path);
  g_free (scratch->home);
}

void
scratch_unref (struct scratch *scratch)
{
  if (scratch)
    g_atomic_rc_box_release_full (scratch, clear);
}

void
scratch_close (struct scratch *scratch)
{
  if (!scratch)
    return;
  g_mutex_lock (&scratch->lock);
  scratch->closed = TRUE;
  GThread *thread = g_steal_pointer (&scratch->thread);
  g_mutex_unlock (&scratch->lock);
  if (thread)
    g_thread_join (thread);
  scratch_unref (scratch);
}

const char *
scratch_home (const struct scratch *scratch)
{
  return scratch->home;
}

const char *
scratch_path (const struct scratch *scratch)
{
  return scratch->path;
}

/* ---- a workspace ---- */

struct scratch_place *
scratch_make (struct scratch *scratch, int *ret_fd, GError **error)
{
  static const char *const directories[] = {"work", "tmp", "tmp/output"};
  struct scratch_place *place = g_new0 (struct scratch_place, 1);
  place->scratch = g_atomic_rc_box_acquire (scratch);
  g_snprintf (place->name, sizeof place->name, "%" G_GINT64_FORMAT,
              __atomic_add_fetch (&scratch->places, 1, __ATOMIC_RELAXED));
  autoclose int fd = -1;
  gboolean made = mkdirat (scratch->fd, place->name, 0700) == 0;
  if (made)
    fd = openat (scratch->fd, place->name, OPEN_DIRECTORY);
  for (gsize i = 0; fd >= 0 && made && i < G_N_ELEMENTS (directories); i++)
    made = mkdirat (fd, directories[i], 0755) == 0 && give_away (fd, directories[i], &scratch->owner);
  if (fd < 0 || !made || !give_away (scratch->fd, place->name, &scratch->owner)) {
    error_from_errno (error, errno, "cannot make a workspace in %s", scratch->path);
    scratch_place_free (place);
    return NULL;
  }
  *ret_fd = fd_steal (&fd);
  return place;
}

void
scratch_place_free (struct scratch_place *place)
{
  if (!place)
    return;
  struct scratch *scratch = place->scratch;
  g_mutex_lock (&scratch->lock);
  gboolean later = !scratch->closed && g_queue_get_length (&scratch->left) < LEFT_MAX;
  if (later)
    g_queue_push_tail (&scratch->left, place);
  g_mutex_unlock (&scratch->lock);
  if (later)
    start_removing (scratch);
  else
    scratch_remove_place (place);
}
