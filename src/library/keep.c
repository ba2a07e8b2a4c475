/* SPDX-License-Identifier: Apache-2.0 */
/* What outlives a run: its record, its files, and its output where that was long. The engine's hook (struct
 * request_keeper) meets the store here.
 *
 *     while it runs   create     a file without a name, for long output
 *     at its end      keep       rows and blobs of files; then, in one transaction, the record and that the
 *                                files are kept; then ids and URLs go into the result
 *
 * Whatever fails here is a warning of the result: the run itself is what it was. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "library/keep_private.h"
#include "library/library.h"
#include "store/files.h"

#define FILES_AT_ONCE 64 /* open */
#define BLOCK_BYTES   ((gsize)128 << 10)
#define OUTPUT_MIME   "text/plain"
#define GIVEN_MIME    "application/octet-stream"

/* Of one engine; its runs may outlive that. */
struct keeper {
  gatomicrefcount references;
  struct store *store;
  struct news *news;
  GMutex lock;
  guint64 kept, lost; /* runs: whole, and those of which something was not kept */
  char *problem;      /* why the last one was not kept that was not, or NULL */
  gint64 problem_us;  /* g_get_real_time */
};

struct keeping {
  struct store *store;
  const struct run_request *request;
  struct account *account;
  struct file_new *files;
  struct artifact **artifacts; /* of each of them; NULL: it is long output */
  gsize count;
};

static int
create_file (struct store *store, GError **error)
{
  struct blobs *blobs = store_blobs (store, error);
  return blobs ? blobs_create (blobs, error) : -1;
}

static int
create (gpointer data, GError **error)
{
  return create_file (((struct keeper *)data)->store, error);
}

/* ---- files ---- */

/* Code that lives on may change the file while it is copied: what counts is what the copy holds. */
static gboolean
copy_living (struct store *store, int from, struct file_new *file, GChecksum *checksum, GError **error)
{
  g_autofree guint8 *block = g_malloc (BLOCK_BYTES);
  autoclose int to = create_file (store, error);
  if (to < 0)
    return FALSE;
  for (guint64 total = 0; total < file->bytes;) {
    gssize got = pread (from, block, MIN (BLOCK_BYTES, file->bytes - total), (off_t)total);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_from_errno (error, errno, "cannot read it");
    if (got == 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "its session has changed it since");
      return FALSE;
    }
    int r = fd_write_all (to, block, (gsize)got);
    if (r < 0)
      return error_from_errno (error, r, "cannot copy it");
    g_checksum_update (checksum, block, got);
    total += (guint64)got;
  }
  file->fd = fd_steal (&to);
  return TRUE;
}

/* Fills FILE's descriptor, and digest where it is a copy. */
static gboolean
open_artifact (const struct keeping *keeping, struct artifact *artifact, struct file_new *file,
               GError **error)
{
  autoclose int fd = artifact_open (keeping->account->workspace_fd, artifact, error);
  if (fd < 0)
    return FALSE;
  if (!keeping->account->living) {
    file->fd = fd_steal (&fd);
    return TRUE;
  }
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  if (!copy_living (keeping->store, fd, file, checksum, error))
    return FALSE;
  g_free (artifact->sha256);
  artifact->sha256 = g_strdup (g_checksum_get_string (checksum));
  file->sha256 = artifact->sha256;
  return TRUE;
}

static struct file_new
new_file (const struct keeping *keeping, enum file_kind kind)
{
  const struct run_request *request = keeping->request;
  return (struct file_new){
      .kind = kind,
      .fd = -1,
      .owner = request->owner ? request->owner : "",
      .conversation = request->conversation,
      .session = keeping->account->session,
      .run_id = keeping->account->run_id,
  };
}

static void
write_artifacts (struct keeping *keeping)
{
  const GPtrArray *artifacts = keeping->account->artifacts;
  for (guint from = 0; artifacts && from < artifacts->len; from += FILES_AT_ONCE) {
    gsize first = keeping->count, most = MIN (FILES_AT_ONCE, artifacts->len - from);
    for (guint i = 0; i < most; i++) {
      g_autoptr (GError) problem = NULL;
      struct artifact *artifact = artifacts->pdata[from + i];
      struct file_new *file = &keeping->files[keeping->count];
      *file = new_file (keeping, artifact->is_table ? FILE_TABLE : FILE_GENERATED);
      file->name = artifact->name;
      file->mime = artifact->mime;
      file->sha256 = artifact->sha256;
      file->bytes = artifact->bytes;
      if (open_artifact (keeping, artifact, file, &problem))
        keeping->artifacts[keeping->count++] = artifact;
      else
        g_ptr_array_add (keeping->account->warnings,
                         g_strdup_printf ("%s is not kept: %s", artifact->name, problem->message));
    }
    files_write (keeping->store, keeping->files + first, keeping->count - first, keeping->account->warnings);
    for (gsize i = first; i < keeping->count; i++)
      fd_close (&keeping->files[i].fd);
  }
}

static void
write_output (struct keeping *keeping)
{
  static const struct {
    enum file_kind kind;
    const char *name;
  } rows[ACCOUNT_STREAMS] = {
      [ACCOUNT_OUTPUT] = {FILE_STDOUT, "stdout.txt"},
      [ACCOUNT_ERRORS] = {FILE_STDERR, "stderr.txt"},
  };
  for (int i = 0; i < ACCOUNT_STREAMS; i++) {
    const struct spill *spill = keeping->account->spills[i];
    if (spill->fd < 0)
      continue;
    struct file_new *file = &keeping->files[keeping->count++];
    *file = new_file (keeping, rows[i].kind);
    file->fd = spill->fd;
    file->name = rows[i].name;
    file->mime = OUTPUT_MIME;
    file->sha256 = spill->sha256;
    file->bytes = spill->bytes;
    files_write (keeping->store, file, 1, keeping->account->warnings);
  }
}

static gboolean
is_any_written (const struct keeping *keeping)
{
  for (gsize i = 0; i < keeping->count; i++)
    if (keeping->files[i].written)
      return TRUE;
  return FALSE;
}

static struct spill *
spill_of (const struct keeping *keeping, const struct file_new *file)
{
  return keeping->account->spills[file->kind == FILE_STDOUT ? ACCOUNT_OUTPUT : ACCOUNT_ERRORS];
}

/* Ids and URLs of what is kept, for the result and the record; or, where that did not come about, none. */
static void
tell_files (struct keeping *keeping, gboolean kept)
{
  for (gsize i = 0; i < keeping->count; i++) {
    const struct file_new *file = &keeping->files[i];
    struct artifact *artifact = keeping->artifacts[i];
    gboolean told = kept && file->written;
    if (!artifact) {
      spill_of (keeping, file)->kept = told;
      continue;
    }
    g_clear_pointer (&artifact->file_id, g_free);
    g_clear_pointer (&artifact->url, g_free);
    if (told) {
      artifact->file_id = g_strdup (file->id);
      artifact->url = files_url (keeping->store, file->id, artifact->name);
    }
  }
}

/* ---- files that are given ---- */

static void
give (gpointer data, const struct run_request *request, struct input *given, int fd)
{
  struct store *store = ((struct keeper *)data)->store;
  g_autoptr (GError) problem = NULL;
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  struct stat st;
  struct file_new file = {.kind = FILE_GIVEN,
                          .fd = -1,
                          .name = given->name,
                          .mime = GIVEN_MIME,
                          .owner = request->owner ? request->owner : "",
                          .conversation = request->conversation,
                          .session = request->session};
  if (fstat (fd, &st) == 0)
    file.bytes = (guint64)st.st_size;
  gboolean kept = copy_living (store, fd, &file, checksum, &problem);
  if (kept) {
    file.sha256 = g_checksum_get_string (checksum);
    kept = files_put (store, &file, &problem);
  }
  fd_close (&file.fd);
  struct file_row *row = kept ? files_find (store, file.owner, file.id, &problem) : NULL;
  if (row) {
    given->bytes = row->bytes;
    given->sha256 = g_strdup (row->sha256);
    given->key = g_strdup (row->blob);
    file_row_free (row);
  } else
    log_warning ("a file of a session is not kept for its replay: %s", problem->message);
}

/* ---- the transaction ---- */

struct step {
  const struct keeping *keeping;
  const struct record *record; /* NULL: none is kept */
};

static gboolean
commit_step (gpointer data, struct transaction *transaction, GError **error)
{
  const struct step *step = data;
  const struct keeping *keeping = step->keeping;
  return (!step->record || records_add (keeping->store, transaction, step->record, error)) &&
         (keeping->count == 0 ||
          files_keep (keeping->store, transaction, keeping->files, keeping->count, error));
}

static gboolean
commit (const struct keeping *keeping, GError **error)
{
  struct keep_record kept;
  struct step step = {keeping, NULL};
  struct database *database = store_database (keeping->store, error);
  if (!database)
    return FALSE;
  gboolean wants_record = store_keeps_records (keeping->store);
  if (wants_record) {
    keep_record_make (&kept, keeping->store, keeping->request, keeping->account);
    step.record = &kept.record;
  }
  gboolean ok = database_commit (database, commit_step, &step, error);
  if (wants_record)
    keep_record_clear (&kept);
  return ok;
}

static void
warn_lost (const struct keeping *keeping, gboolean files, const char *problem)
{
  gboolean record = store_keeps_records (keeping->store);
  g_ptr_array_add (keeping->account->warnings,
                   g_strdup_printf ("%s: %s",
                                    record && files ? "the run is not on record, and its files are not kept"
                                    : record        ? "the run is not on record"
                                                    : "its files are not kept",
                                    problem));
}

/* PROBLEM: what was not kept of a run, and why; NULL: all of it was. */
static void
count (struct keeper *keeper, const char *problem)
{
  g_mutex_lock (&keeper->lock);
  if (problem) {
    g_free (keeper->problem);
    keeper->problem = g_strdup (problem);
    keeper->problem_us = g_get_real_time ();
    keeper->lost++;
  } else
    keeper->kept++;
  g_mutex_unlock (&keeper->lock);
}

/* What was not kept although the record may be, or NULL: told by warnings from the WARNED-th on, or while the
 * run was under way. */
static const char *
find_loss (const struct account *account, guint warned)
{
  if (account->warnings->len > warned)
    return account->warnings->pdata[warned];
  for (int i = 0; i < ACCOUNT_STREAMS; i++)
    if (account->spills[i]->failed)
      return "long output of a run was not kept whole: the warnings of its result say why";
  return NULL;
}

/* Files, that is: long output is no news. */
static void
tell_news (struct news *news, const struct keeping *keeping)
{
  for (gsize i = 0; i < keeping->count; i++)
    if (keeping->artifacts[i] && keeping->files[i].written)
      news_tell (news, NEWS_FILE, keeping->files[i].owner, keeping->files[i].id);
}

static void
keep (gpointer data, const struct run_request *request, struct account *account)
{
  g_autoptr (GError) problem = NULL;
  gsize most = (account->artifacts ? account->artifacts->len : 0) + ACCOUNT_STREAMS;
  g_autofree struct file_new *files = g_new0 (struct file_new, most);
  g_autofree struct artifact **artifacts = g_new0 (struct artifact *, most);
  struct keeper *keeper = data;
  struct keeping keeping = {keeper->store, request, account, files, artifacts, 0};
  guint warned = account->warnings->len;
  if (request->keeper.create) {
    write_artifacts (&keeping);
    write_output (&keeping);
  }
  const char *lost = find_loss (account, warned);
  gboolean written = is_any_written (&keeping);
  if (!written && !store_keeps_records (keeping.store)) {
    if (lost)
      count (keeper, lost);
    return;
  }
  tell_files (&keeping, TRUE);
  (void)commit (&keeping, &problem);
  count (keeper, problem ? problem->message : lost);
  if (!problem) {
    tell_news (keeper->news, &keeping);
    return;
  }
  tell_files (&keeping, FALSE);
  if (written)
    files_abandon (keeping.store, files, keeping.count);
  warn_lost (&keeping, written, problem->message);
}

/* ---- the keeper ---- */

struct keeper *
keeper_new (struct store *store, struct news *news)
{
  struct keeper *keeper = g_new0 (struct keeper, 1);
  g_atomic_ref_count_init (&keeper->references);
  keeper->store = store_ref (store);
  keeper->news = news_ref (news);
  g_mutex_init (&keeper->lock);
  return keeper;
}

void
keeper_unref (struct keeper *keeper)
{
  if (!keeper || !g_atomic_ref_count_dec (&keeper->references))
    return;
  store_unref (keeper->store);
  news_unref (keeper->news);
  g_mutex_clear (&keeper->lock);
  g_free (keeper->problem);
  g_free (keeper);
}

/* The kind of place that URL names: nothing that could be a secret. */
static char *
kind_of (const char *url)
{
  return g_strndup (url, strcspn (url, ":"));
}

json_t *
keeper_status (struct keeper *keeper)
{
  const struct config *config = store_config (keeper->store);
  g_autofree char *records = kind_of (config->store_records), *files = kind_of (config->store_blobs);
  g_mutex_lock (&keeper->lock);
  g_autofree char *when = keeper->problem ? text_time (keeper->problem_us) : NULL;
  json_t *status =
      json_pack ("{s:s, s:s, s:I, s:I, s:o, s:s?}", "records", records, "files", files, "runs_kept",
                 (json_int_t)keeper->kept, "runs_not_kept", (json_int_t)keeper->lost, "last_problem",
                 json_text_or_null (keeper->problem), "last_problem_at", when);
  g_mutex_unlock (&keeper->lock);
  return status;
}

static void
release (gpointer data)
{
  keeper_unref (data);
}

void
library_set_keeper (AdderEngine *engine, struct run_request *resolved, gboolean session)
{
  struct keeper *keeper = engine->keeper;
  gboolean files = store_keeps_files (keeper->store) && resolved->keeps_files;
  if (!files && !store_keeps_records (keeper->store))
    return;
  g_atomic_ref_count_inc (&keeper->references);
  resolved->keeper = (struct request_keeper){
      .create = files ? create : NULL,
      .keep = keep,
      .give = files && session ? give : NULL,
      .release = release,
      .data = keeper,
  };
}
