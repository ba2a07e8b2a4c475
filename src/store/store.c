/* SPDX-License-Identifier: Apache-2.0 */
/* The configured database and blobs, opened on first use, and the thread that maintains them. */
#include "store/store.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/log.h"
#include "common/paths.h"
#include "common/text.h"
#include "store/blobs.h"
#include "store/database.h"
#include "store/departed.h"
#include "store/file_url.h"
#include "store/files.h"
#include "store/records_private.h"
#include "store/schema.h"
#include "store/writers.h"

#define NODE_MAX 100
/* The first pass comes after a moment, so that short commands do not pay for it. */
#define FIRST_LOOK_US (1 * G_USEC_PER_SEC)
#define LOOK_US       (60 * G_USEC_PER_SEC)
#define REACHED_US    (1 * G_USEC_PER_SEC) /* how long a reachability check is valid */

/* A key that nothing has. */
#define NO_KEY "output/00000000-0000-0000-0000-000000000000"

LOCK_CLASS (store);

struct store {
  const struct config *config;
  char *node;
  struct file_signer *signer;
  struct writers *writers;
  struct record_memory *record_memory;
  struct departed *departed;
  gint is_recovered; /* atomic: whether what the dead left was looked for */
  MUTEX (store) lock;
  GCond changed;
  GUARDED_BY (store) struct database *database;
  GUARDED_BY (store) struct blobs *blobs;
  GUARDED_BY (store) GThread *thread;
  GUARDED_BY (store) gboolean is_woken, is_closed;
  GUARDED_BY (store) gboolean is_read_only; /* its folder takes no files: what is kept can be read */
  GUARDED_BY (store) gint64 reached_us;     /* when it was looked whether both answer; 0: never */
  GUARDED_BY (store) GError *away;          /* the problem found; NULL: none */
};

static gboolean sweep_writers (struct store *store, GError **error);
static gboolean recover_departed (struct store *store, GError **error);

/* What the thread does, in order. */
struct duty {
  const char *what;
  gboolean (*run) (struct store *store, GError **error);
};
static const struct duty duties[] = {
    {"files", files_recover},
    {"records", records_retain},
    {"writers", sweep_writers},
    {"runs of daemons that died", recover_departed},
    {NULL, NULL},
};

/* ---- the configuration ---- */

static gboolean
store_is_none (const char *value)
{
  return strcmp (value, "none") == 0;
}

static const char node_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/* A name that can stand in a path and in a line. */
static gboolean
store_check_node (const char *node, GError **error)
{
  if (node[0] != '\0' && strlen (node) <= NODE_MAX && node[strspn (node, node_letters)] == '\0')
    return TRUE;
  g_autofree char *shown = text_one_line (node, NODE_MAX);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "[store] node = %s: it must have 1 to %d letters, digits, dots, dashes and underscores", shown,
               NODE_MAX);
  return FALSE;
}

static gboolean
check_config (const struct config *config, GError **error)
{
  const char *records = config->store_records, *blobs = config->store_blobs;
  if (!store_is_none (records) && strcmp (records, "sqlite") != 0 && !database_check_url (records, error))
    return FALSE;
  if (store_is_none (blobs) || strcmp (blobs, "directory") == 0 || g_str_has_prefix (blobs, "directory:/") ||
      g_str_has_prefix (blobs, "s3://"))
    return TRUE;
  g_autofree char *shown = text_one_line (blobs, 200);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "[store] blobs = %s: it must be directory, directory:/PATH, s3://BUCKET?endpoint=... or none",
               shown);
  return FALSE;
}

/* A bucket, or a directory that is there already. */
static gboolean
names_place (const struct config *config)
{
  const char *blobs = config->store_blobs;
  return g_str_has_prefix (blobs, "s3://") ||
         (g_str_has_prefix (blobs, "directory:") &&
          g_file_test (blobs + strlen ("directory:"), G_FILE_TEST_IS_DIR));
}

struct store *
store_new (const struct config *config, GError **error)
{
  g_autofree char *node =
      config->store_node ? g_strdup (config->store_node) : g_strndup (g_get_host_name (), NODE_MAX);
  /* We cannot reject the host's name. */
  if (!config->store_node)
    g_strcanon (node, node_letters, '-');
  if (!store_check_node (node, error) || !check_config (config, error))
    return NULL;
  struct store *store = g_atomic_rc_box_new0 (struct store);
  store->config = config;
  store->writers = writers_new (node);
  store->node = g_steal_pointer (&node);
  store->signer = file_signer_new ();
  store->record_memory = record_memory_new ();
  store->departed = departed_new (store);
  g_mutex_init (&store->lock);
  g_cond_init (&store->changed);
  g_autoptr (GError) problem = NULL;
  /* What is wrong with a place that is named is told at once, what is wrong with its server when it is
   * wanted.
   */
  if (names_place (config) && !store_blobs (store, &problem) &&
      g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_INVALID)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    store_unref (store);
    return NULL;
  }
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
store_is_shared (const struct config *config)
{
  return config->cluster_nats && g_str_has_prefix (config->store_records, "postgres");
}

gboolean
store_keeps_records (const struct store *store)
{
  return !store_is_none (store->config->store_records);
}

gboolean
store_keeps_files (const struct store *store)
{
  return store_keeps_records (store) && !store_is_none (store->config->store_blobs);
}

const char *
store_node (const struct store *store)
{
  return store->node;
}

const char *
store_writer (const struct store *store)
{
  return writers_own (store->writers);
}

gboolean
store_writer_lives (struct store *store, const char *writer)
{
  return writers_is_alive (store->writers, writer);
}

static gboolean
sweep_writers (struct store *store, GError **error)
{
  return writers_sweep (store->writers, error);
}

/* ---- opening ---- */

char *
store_folder (GError **error)
{
  g_autofree char *state = paths_state_dir (error);
  g_autofree char *path = state ? g_build_filename (state, "store", NULL) : NULL;
  if (path && g_mkdir_with_parents (path, 0700) == 0)
    return g_steal_pointer (&path);
  if (path)
    error_from_errno (error, errno, "cannot make the folder %s of the store", path);
  return NULL;
}

static void store_start_thread (struct store *store);

REQUIRES (store)
static gboolean
open_database (struct store *store, GError **error)
{
  if (store->database)
    return TRUE;
  const struct config *config = store->config;
  if (store_is_none (config->store_records)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "nothing is kept: the configuration says so ([store] records = none)");
    return FALSE;
  }
  const char *records = config->store_records;
  gboolean is_named = g_str_has_prefix (records, "sqlite:");
  g_autofree char *folder =
      is_named ? g_path_get_dirname (records + strlen ("sqlite:")) : store_folder (error);
  g_autofree char *url =
      strcmp (records, "sqlite") == 0 ? g_strdup_printf ("sqlite:%s/records.db", folder) : g_strdup (records);
  if (!folder)
    return FALSE;
  /* Writers to a file keep their locks beside it. */
  gboolean is_writable = access (folder, W_OK) == 0 || (errno != EROFS && errno != EACCES);
  if (is_writable && !writers_show (store->writers, folder, g_str_has_prefix (url, "sqlite:"), error))
    return FALSE;
  store->database = database_open (url, config->store_timeout_ms, error);
  store->is_read_only = store->database && !is_writable;
  if (store->is_read_only)
    database_set_read_only (store->database);
  return store->database != NULL;
}

gboolean
store_is_read_only (struct store *store)
{
  g_mutex_lock (&store->lock);
  gboolean is_read_only = store->is_read_only;
  g_mutex_unlock (&store->lock);
  return is_read_only;
}

struct database *
store_database (struct store *store, GError **error)
{
  g_mutex_lock (&store->lock);
  struct database *database = open_database (store, error) ? store->database : NULL;
  if (database && !store->is_read_only)
    store_start_thread (store);
  g_mutex_unlock (&store->lock);
  if (!database) {
    error_make_unavailable (error);
    return NULL;
  }
  /* Queries after a restart must find it; the thread repeats what fails now. */
  if (!store_is_read_only (store) && g_atomic_int_compare_and_exchange (&store->is_recovered, 0, 1))
    (void)departed_recover (store->departed, database, NULL);
  return database;
}

REQUIRES (store)
static gboolean
open_blobs (struct store *store, GError **error)
{
  if (store->blobs)
    return TRUE;
  const struct config *config = store->config;
  if (store_is_none (config->store_blobs)) {
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
  if (!blobs)
    error_make_unavailable (error);
  return blobs;
}

/* ---- whether they answer ---- */

static gboolean
reach_database (struct store *store, GError **error)
{
  gint64 version = 0;
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  gboolean ok = transaction && schema_read_version (transaction, &version, error);
  transaction_end (transaction);
  return ok;
}

static gboolean
reach_blobs (struct store *store, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct blobs *blobs = store_blobs (store, &problem);
  if (blobs && (blobs_stat (blobs, NO_KEY, NULL, &problem) ||
                g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* FALSE: the last check is too old. */
static gboolean
recall_reach (struct store *store, GError **ret_away)
{
  g_mutex_lock (&store->lock);
  gboolean is_new = store->reached_us > 0 && g_get_monotonic_time () - store->reached_us < REACHED_US;
  if (is_new && store->away)
    *ret_away = g_error_copy (store->away);
  g_mutex_unlock (&store->lock);
  return is_new;
}

static void
remember_reach (struct store *store, const GError *away)
{
  g_mutex_lock (&store->lock);
  g_clear_error (&store->away);
  store->away = away ? g_error_copy (away) : NULL;
  store->reached_us = g_get_monotonic_time ();
  g_mutex_unlock (&store->lock);
}

gboolean
store_is_reachable (struct store *store, GError **error)
{
  g_autoptr (GError) away = NULL;
  if (!recall_reach (store, &away)) {
    if (!store_keeps_records (store) || reach_database (store, &away))
      (void)(!store_keeps_files (store) || reach_blobs (store, &away));
    remember_reach (store, away);
  }
  if (!away)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&away));
  return FALSE;
}

const char *
store_told (const char *owner, const GError *problem)
{
  if (!g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE) || !owner || owner[0] == '\0' ||
      (g_str_has_prefix (owner, "uid:") && !strchr (owner, '/'))) /* a service's user is "uid:1000/anna" */
    return problem->message;
  log_warning_once ("store", problem->message);
  return "the store is not available at the moment: try again later (the daemon's log says why)";
}

struct file_signer *
store_signer (struct store *store)
{
  return store->signer;
}

struct record_memory *
store_record_memory (struct store *store)
{
  return store->record_memory;
}

struct departed *
store_departed (struct store *store)
{
  return store->departed;
}

static gboolean
recover_departed (struct store *store, GError **error)
{
  struct database *database = store_database (store, error);
  return database && departed_recover (store->departed, database, error);
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
    /* A server that is unreachable for hours is one line of the log. */
    if (trouble[0] != '\0' && strcmp (trouble, said) != 0)
      log_warning ("store: %s", trouble);
    g_free (said);
    said = g_steal_pointer (&trouble);
  }
  return NULL;
}

/* Only writers need it. */
REQUIRES (store)
static void
store_start_thread (struct store *store)
{
  if (!store->thread && !store->is_closed)
    store->thread = g_thread_try_new ("adder-store", tend, store, NULL);
}

void
store_wake (struct store *store)
{
  g_mutex_lock (&store->lock);
  store->is_woken = TRUE;
  store_start_thread (store);
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
  departed_close (store->departed);
}

static void
clear_store (gpointer data)
{
  struct store *store = data;
  store_close (store);
  UNSHARED (store);
  departed_free (store->departed);
  database_close (store->database);
  blobs_close (store->blobs);
  file_signer_free (store->signer);
  writers_free (store->writers);
  record_memory_free (store->record_memory);
  g_clear_error (&store->away);
  g_mutex_clear (&store->lock);
  g_cond_clear (&store->changed);
  g_free (store->node);
}

void
store_unref (struct store *store)
{
  if (store)
    g_atomic_rc_box_release_full (store, clear_store);
}
