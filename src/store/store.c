/* SPDX-License-Identifier: Apache-2.0 */
/* The database and the blobs that the configuration names, opened when they are first wanted, and the thread
 * that tends to them. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/log.h"
#include "common/paths.h"
#include "common/text.h"
#include "engine/id.h"
#include "store/blobs.h"
#include "store/database.h"
#include "store/file_url.h"
#include "store/files.h"
#include "store/records.h"

#define NODE_MOST 100
/* The first look comes after a moment, so that commands that only ask something do not pay for it. */
#define FIRST_LOOK_US (1 * G_USEC_PER_SEC)
#define LOOK_US       (60 * G_USEC_PER_SEC)
#define STALE_S       3600 /* after which a lock that was never finished is nobody's */

struct store {
  const struct config *config;
  char *node, *writer;
  GMutex lock;
  GCond changed;
  struct database *database;
  struct blobs *blobs;
  struct file_signer *signer;
  char *writers; /* the folder of locks; NULL: not yet made */
  int lock_fd;   /* of the file that says that this writer lives */
  GThread *thread;
  gboolean is_woken, is_closed;
};

static gboolean sweep_writers (struct store *store, GError **error);

/* What the thread does, in order. */
struct duty {
  const char *what;
  gboolean (*run) (struct store *store, GError **error);
};
static const struct duty duties[] = {
    {"files", files_recover},
    {"records", records_retain},
    {"writers", sweep_writers},
    {NULL, NULL},
};

/* ---- the configuration ---- */

static gboolean
is_none (const char *value)
{
  return strcmp (value, "none") == 0;
}

/* A name that can stand in a path and in a line. */
static gboolean
check_node (const char *node, GError **error)
{
  static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (node[0] != '\0' && strlen (node) <= NODE_MOST && node[strspn (node, good)] == '\0')
    return TRUE;
  g_autofree char *shown = text_one_line (node, NODE_MOST);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "[store] node = %s: it must have 1 to %d letters, digits, dots, dashes and underscores", shown,
               NODE_MOST);
  return FALSE;
}

static gboolean
check_config (const struct config *config, GError **error)
{
  const char *records = config->store_records, *blobs = config->store_blobs;
  if (!is_none (records) && strcmp (records, "sqlite") != 0 && !database_check_url (records, error))
    return FALSE;
  if (is_none (blobs) || strcmp (blobs, "directory") == 0 || g_str_has_prefix (blobs, "directory:/") ||
      g_str_has_prefix (blobs, "s3://"))
    return TRUE;
  g_autofree char *shown = text_one_line (blobs, 200);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "[store] blobs = %s: it must be directory, directory:/PATH, s3://BUCKET?endpoint=... or none",
               shown);
  return FALSE;
}

struct store *
store_new (const struct config *config, GError **error)
{
  /* What the host is called is not ours to refuse. */
  g_autofree char *node = g_strndup (config->store_node ? config->store_node : g_get_host_name (), NODE_MOST);
  if (!config->store_node)
    g_strcanon (node, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", '-');
  if (!check_node (node, error) || !check_config (config, error))
    return NULL;
  char id[ID_BYTES];
  id_make (id);
  struct store *store = g_atomic_rc_box_new0 (struct store);
  store->config = config;
  store->writer = g_strconcat (node, "/", id, NULL);
  store->node = g_steal_pointer (&node);
  store->lock_fd = -1;
  store->signer = file_signer_new ();
  g_mutex_init (&store->lock);
  g_cond_init (&store->changed);
  return store;
}

struct store *
store_ref (struct store *store)
{
  return g_atomic_rc_box_acquire (store);
}

const struct config *
store_config (const struct store *store)
{
  return store->config;
}

gboolean
store_keeps_records (const struct store *store)
{
  return !is_none (store->config->store_records);
}

gboolean
store_keeps_files (const struct store *store)
{
  return store_keeps_records (store) && !is_none (store->config->store_blobs);
}

const char *
store_node (const struct store *store)
{
  return store->node;
}

const char *
store_writer (const struct store *store)
{
  return store->writer;
}

/* ---- who is alive ---- */

static const char *
writer_id (const char *writer)
{
  const char *slash = strrchr (writer, '/');
  return slash ? slash + 1 : writer;
}

/* FOLDER/NAME; the caller's. */
static char *
make_folder (const char *parent, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);
  if (g_mkdir_with_parents (path, 0700) < 0) {
    error_from_errno (error, errno, "cannot make the folder %s of the store", path);
    return NULL;
  }
  return g_steal_pointer (&path);
}

/* Makes the file of this writer, which has its name only once it is locked: so one that can be locked is of a
 * dead writer. Locked. */
static gboolean
show_alive (struct store *store, const char *folder, GError **error)
{
  if (store->lock_fd >= 0)
    return TRUE;
  g_autofree char *writers = make_folder (folder, "writers", error);
  if (!writers)
    return FALSE;
  g_autofree char *hidden = g_strdup_printf ("%s/.%s", writers, writer_id (store->writer));
  g_autofree char *path = g_strdup_printf ("%s/%s", writers, writer_id (store->writer));
  autoclose int fd = open (hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || flock (fd, LOCK_EX) < 0 || rename (hidden, path) < 0)
    return error_from_errno (error, errno, "cannot make the lock %s of the store", path);
  store->lock_fd = fd_steal (&fd);
  store->writers = g_steal_pointer (&writers);
  return TRUE;
}

gboolean
store_writer_lives (struct store *store, const char *writer)
{
  if (strcmp (writer, store->writer) == 0)
    return TRUE;
  g_autofree char *node = g_strndup (writer, (gsize)(writer_id (writer) - writer));
  g_mutex_lock (&store->lock);
  g_autofree char *path =
      store->writers ? g_strdup_printf ("%s/%s", store->writers, writer_id (writer)) : NULL;
  /* A database that is a file has the locks of all its writers beside it, whatever the host was called. */
  gboolean is_ours = (store->database && !database_is_shared (store->database)) ||
                     (g_str_has_prefix (node, store->node) && strcmp (node + strlen (store->node), "/") == 0);
  g_mutex_unlock (&store->lock);
  if (!path || !is_ours)
    return TRUE;
  autoclose int fd = open (path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno != ENOENT;
  return flock (fd, LOCK_SH | LOCK_NB) < 0;
}

/* Removes the files of writers that were killed: without one they are as dead. One that is being made is
 * hidden, and only one that was left so is old. */
static gboolean
sweep_writers (struct store *store, GError **error)
{
  g_mutex_lock (&store->lock);
  g_autofree char *writers = g_strdup (store->writers);
  g_mutex_unlock (&store->lock);
  g_autoptr (GDir) folder = writers ? g_dir_open (writers, 0, error) : NULL;
  for (const char *name; folder && (name = g_dir_read_name (folder));) {
    g_autofree char *path = g_build_filename (writers, name, NULL);
    autoclose int fd = open (path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat (fd, &st) < 0 || (name[0] == '.' && time (NULL) - st.st_mtime < STALE_S))
      continue;
    if (flock (fd, LOCK_EX | LOCK_NB) == 0)
      (void)unlink (path);
  }
  return !writers || folder;
}

/* ---- opening ---- */

/* The folder of the store in the state directory; the caller's. */
static char *
store_folder (GError **error)
{
  g_autofree char *state = paths_state_dir (error);
  return state ? make_folder (state, "store", error) : NULL;
}

static void start_thread (struct store *store);

/* Locked. */
static gboolean
open_database (struct store *store, GError **error)
{
  if (store->database)
    return TRUE;
  const struct config *config = store->config;
  if (is_none (config->store_records)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "nothing is kept: the configuration says so ([store] records = none)");
    return FALSE;
  }
  const char *path =
      g_str_has_prefix (config->store_records, "sqlite:") ? config->store_records + strlen ("sqlite:") : NULL;
  g_autofree char *folder = path ? g_path_get_dirname (path) : store_folder (error);
  g_autofree char *own =
      strcmp (config->store_records, "sqlite") == 0 ? g_strdup_printf ("sqlite:%s/records.db", folder) : NULL;
  if (!folder || !show_alive (store, folder, error))
    return FALSE;
  store->database = database_open (own ? own : config->store_records, config->store_timeout_ms, error);
  return store->database != NULL;
}

struct database *
store_database (struct store *store, GError **error)
{
  g_mutex_lock (&store->lock);
  struct database *database = open_database (store, error) ? store->database : NULL;
  if (database)
    start_thread (store);
  g_mutex_unlock (&store->lock);
  return database;
}

/* Locked. */
static gboolean
open_blobs (struct store *store, GError **error)
{
  if (store->blobs)
    return TRUE;
  const struct config *config = store->config;
  if (is_none (config->store_blobs)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "no files are kept: the configuration says so ([store] blobs = none)");
    return FALSE;
  }
  g_autofree char *folder = store_folder (error);
  if (!folder)
    return FALSE;
  g_autofree char *own = strcmp (config->store_blobs, "directory") == 0
                             ? g_strdup_printf ("directory:%s", folder)
                             : g_strdup (config->store_blobs);
  store->blobs = blobs_open (own, folder, config->store_cache_bytes, config->store_timeout_ms, error);
  return store->blobs != NULL;
}

struct blobs *
store_blobs (struct store *store, GError **error)
{
  g_mutex_lock (&store->lock);
  struct blobs *blobs = open_blobs (store, error) ? store->blobs : NULL;
  g_mutex_unlock (&store->lock);
  return blobs;
}

struct file_signer *
store_signer (struct store *store)
{
  return store->signer;
}

/* ---- the thread ---- */

/* FALSE: the store is closed. Each wake is one look. */
static gboolean
wait_for_look (struct store *store, gint64 until_us)
{
  g_mutex_lock (&store->lock);
  while (!store->is_closed && !store->is_woken && g_cond_wait_until (&store->changed, &store->lock, until_us))
    ;
  store->is_woken = FALSE;
  gboolean go_on = !store->is_closed;
  g_mutex_unlock (&store->lock);
  return go_on;
}

static gpointer
tend (gpointer data)
{
  struct store *store = data;
  g_autofree char *said = g_strdup ("");
  for (gint64 pause_us = FIRST_LOOK_US; wait_for_look (store, g_get_monotonic_time () + pause_us);
       pause_us = LOOK_US) {
    g_autofree char *trouble = g_strdup ("");
    for (const struct duty *duty = duties; duty->run; duty++) {
      g_autoptr (GError) error = NULL;
      if (duty->run (store, &error))
        continue;
      g_free (trouble);
      trouble = g_strdup_printf ("%s: %s", duty->what, error->message);
    }
    /* A server that is away for hours is one line of the log. */
    if (trouble[0] != '\0' && strcmp (trouble, said) != 0)
      log_warning ("store: %s", trouble);
    g_free (said);
    said = g_steal_pointer (&trouble);
  }
  return NULL;
}

/* Locked. Only who keeps something needs it. */
static void
start_thread (struct store *store)
{
  if (!store->thread && !store->is_closed)
    store->thread = g_thread_try_new ("adder-store", tend, store, NULL);
}

void
store_wake (struct store *store)
{
  g_mutex_lock (&store->lock);
  store->is_woken = TRUE;
  start_thread (store);
  g_cond_broadcast (&store->changed);
  g_mutex_unlock (&store->lock);
}

void
store_close (struct store *store)
{
  g_mutex_lock (&store->lock);
  store->is_closed = TRUE;
  GThread *thread = g_steal_pointer (&store->thread);
  g_cond_broadcast (&store->changed);
  g_mutex_unlock (&store->lock);
  if (thread)
    g_thread_join (thread);
}

static void
clear_store (gpointer data)
{
  struct store *store = data;
  store_close (store);
  database_close (store->database);
  blobs_close (store->blobs);
  file_signer_free (store->signer);
  if (store->lock_fd >= 0) {
    g_autofree char *path = g_strdup_printf ("%s/%s", store->writers, writer_id (store->writer));
    (void)unlink (path);
  }
  fd_close (&store->lock_fd);
  g_mutex_clear (&store->lock);
  g_cond_clear (&store->changed);
  g_free (store->node);
  g_free (store->writer);
  g_free (store->writers);
}

void
store_unref (struct store *store)
{
  if (store)
    g_atomic_rc_box_release_full (store, clear_store);
}
