/* SPDX-License-Identifier: Apache-2.0 */
/* The store while one call to the system or a statement of the database fails, each in turn: what was asked
 * for is done or refused with a sentence, and what is kept stays whole. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "blob_support.h"
#include "each_call.h"
#include "engine/host/id.h"
#include "store/check.h"
#include "store/datasets.h"
#include "store/file_upload.h"
#include "store/file_url.h"
#include "store/output_read.h"
#include "store/records.h"
#include "store/review.h"
#include "store_bed.h"
#include "suite.h"

#define OWNER "uid:1"

static const struct pair here = {&store_world_kinds[0], &store_world_blob_kinds[0]};

/* What the steps of this file work on. */
struct work {
  struct bed bed;
  int descriptors;
  int content_fd, out_fd;
  char *sha256;
  char id[ID_BYTES]; /* a file that stays */
};

static void
work_init (struct work *work)
{
  *work = (struct work){.descriptors = suite_descriptors (), .out_fd = memfd_create ("out", MFD_CLOEXEC)};
  g_assert_true (bed_init (&work->bed, &here, "timeout_ms = 1000\n"));
  work->content_fd = bed_make_file ("x", "one\ntwo\nthree\n", OWNER, &work->sha256).fd;
  bed_put (&work->bed, "stays.txt", "stays", OWNER, work->id);
}

static void
work_clear (struct work *work)
{
  bed_clear (&work->bed);
  close (work->content_fd);
  close (work->out_fd);
  g_free (work->sha256);
  g_assert_cmpint (suite_descriptors (), ==, work->descriptors);
}

static struct file_new
new_file (const struct work *work, const char *name, enum file_kind kind)
{
  return (struct file_new){.kind = kind,
                           .fd = work->content_fd,
                           .name = name,
                           .mime = "text/plain",
                           .sha256 = work->sha256,
                           .bytes = strlen ("one\ntwo\nthree\n"),
                           .owner = OWNER,
                           .run_id = "run"};
}

/* A database that could not be reached is asked again only after a while, unless the store is opened anew. */
static void
open_again (struct work *work)
{
  gboolean ok = TRUE;
  for (gboolean write = FALSE; write <= TRUE; write++) {
    struct database *database = store_database (work->bed.store, NULL);
    struct transaction *transaction = database ? database_begin (database, write, NULL) : NULL;
    ok = ok && transaction;
    transaction_end (transaction);
  }
  if (ok)
    return;
  bed_close (&work->bed);
  bed_open (&work->bed);
}

/* Nothing is lost: each row has its file, and once what was broken off is finished, each file its row. */
static void
check_whole (gpointer data, gboolean done)
{
  struct work *work = data;
  (void)done;
  g_autoptr (GError) error = NULL;
  open_again (work);
  files_recover (work->bed.store, &error);
  g_assert_no_error (error);
  g_autoptr (json_t) found = bed_check (&work->bed, TRUE, TRUE);
  if (!json_is_true (json_object_get (found, "healthy")))
    g_error ("not healthy: %s", json_dumps (found, 0));
  g_assert_cmpint (bed_count_rows (&work->bed), ==, bed_count_blobs (&work->bed));
  g_assert_true (bed_has (&work->bed, OWNER, work->id));
}

static void
each (call_step step)
{
  struct work work;
  work_init (&work);
  for (enum call_fault kind = CALL_ERROR; kind <= CALL_SHORT; kind++) {
    guint count = each_call_fails (kind, CALLS_EVERYWHERE, step, check_whole, &work);
    g_test_message ("kind %d: %u calls", kind, count);
  }
  check_whole (&work, TRUE);
  work_clear (&work);
}

/* ---- files ---- */

static gboolean
files_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct file_new file = new_file (work, "a.txt", FILE_GENERATED);
  char uploaded[ID_BYTES];
  if (!files_put (work->bed.store, &file, error))
    return FALSE;
  const struct file_upload upload = {.owner = OWNER, .name = "b.txt", .fd = work->content_fd};
  (void)lseek (work->content_fd, 0, SEEK_SET);
  if (!file_upload (work->bed.store, &upload, NULL, uploaded, error))
    return FALSE;
  g_autoptr (GPtrArray) list =
      files_list (work->bed.store, &(struct file_filter){.owner = OWNER, .most = 10}, error);
  if (!list)
    return FALSE;
  struct file_row *row = files_find (work->bed.store, OWNER, file.id, error);
  if (!row)
    return FALSE;
  json_decref (file_row_to_json (work->bed.store, row));
  struct blobs *blobs = store_blobs (work->bed.store, error);
  autoclose int fd = blobs ? blobs_get (blobs, row->blob, row->bytes, row->sha256, error) : -1;
  file_row_free (row);
  return fd >= 0 && files_remove (work->bed.store, OWNER, file.id, error) &&
         files_remove (work->bed.store, OWNER, uploaded, error);
}

static void
test_files (void)
{
  each (files_step);
}

static gboolean
output_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct file_new file = new_file (work, "stdout", FILE_STDOUT);
  if (!files_put (work->bed.store, &file, error))
    return FALSE;
  struct file_row *row = files_find_output (work->bed.store, OWNER, "run", FILE_STDOUT, error);
  struct blobs *blobs = row ? store_blobs (work->bed.store, error) : NULL;
  g_autoptr (json_t) text = blobs ? output_read (blobs, row, 4, 64, error) : NULL;
  g_autoptr (json_t) lines = text ? output_grep (blobs, row, 0, 100, "t.*", error) : NULL;
  file_row_free (row);
  return lines && files_remove (work->bed.store, OWNER, file.id, error);
}

static void
test_output (void)
{
  each (output_step);
}

/* ---- data sets ---- */

static struct dataset *
put (struct work *work, GError **error)
{
  g_autoptr (json_t) facts = json_pack ("{s:s}", "query", "elements HAS \"Ti\"");
  const struct dataset_new put = {.owner = OWNER,
                                  .name = "tio2",
                                  .table_fd = work->content_fd,
                                  .facts = facts,
                                  .rows = 7,
                                  .complete = TRUE};
  return dataset_put (work->bed.store, &put, error);
}

static gboolean
dataset_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct dataset *first = put (work, error), *second = first ? put (work, error) : NULL;
  g_autoptr (json_t) facts = second ? dataset_facts (work->bed.store, second, error) : NULL;
  dataset_free (first);
  dataset_free (second);
  if (!facts)
    return FALSE;
  g_autoptr (GPtrArray) list = datasets_list (work->bed.store, OWNER, TRUE, error);
  return list && dataset_remove (work->bed.store, OWNER, "tio2", error);
}

static void
test_datasets (void)
{
  each (dataset_step);
}

/* ---- records ---- */

static gboolean
add (gpointer data, struct transaction *transaction, GError **error)
{
  struct work *work = data;
  char id[ID_BYTES];
  id_make (id);
  const struct record record = {.run_id = id,
                                .started_ms = 1790000000000,
                                .owner = OWNER,
                                .profile = "standard",
                                .environment = "science",
                                .code = "print()",
                                .code_sha256 = "abc",
                                .outcome = "ok",
                                .level = 2};
  return records_add (work->bed.store, transaction, &record, error);
}

static gboolean
record_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct store *store = work->bed.store;
  struct database *database = store_database (store, error);
  if (!database || !database_commit (database, add, work, error) || !records_retain (store, error))
    return FALSE;
  g_autoptr (json_t) filters = json_pack ("{s:i}", "limit", 5);
  g_autoptr (json_t) list = records_list (store, OWNER, filters, error);
  g_autoptr (json_t) stats = list ? records_stats (store, OWNER, NULL, error) : NULL;
  g_autoptr (json_t) exported =
      stats ? records_export (store, OWNER, NULL, "csv", work->out_fd, error) : NULL;
  g_autoptr (json_t) verified = exported ? records_verify (store, NULL, error) : NULL;
  return verified != NULL;
}

static void
check_records (gpointer data, gboolean done)
{
  struct work *work = data;
  g_autoptr (GError) error = NULL;
  open_again (work);
  g_autoptr (json_t) verified = records_verify (work->bed.store, NULL, &error);
  g_assert_no_error (error);
  if (!json_is_true (json_object_get (verified, "ok")))
    g_error ("not whole: %s", json_dumps (verified, 0));
  check_whole (data, done);
}

static void
test_records (void)
{
  struct work work;
  work_init (&work);
  work.bed.config->store_record_count = 20;
  for (enum call_fault kind = CALL_ERROR; kind <= CALL_SHORT; kind++)
    each_call_fails (kind, CALLS_EVERYWHERE, record_step, check_records, &work);
  work_clear (&work);
}

/* ---- the store itself ---- */

/* Opened anew on what is there. What could not be opened is tried again with each call. */
static gboolean
open_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct store *store = store_new (work->bed.config, error);
  if (!store)
    return FALSE;
  gboolean ok = store_database (store, error) && store_blobs (store, error);
  json_decref (store_describe (store));
  store_close (store);
  store_unref (store);
  return ok;
}

static void
test_open (void)
{
  each (open_step);
}

/* In a place where nothing is yet. */
static gboolean
fresh_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct config config = *work->bed.config;
  char id[ID_BYTES];
  id_make (id);
  g_autofree char *folder = g_build_filename (store_world_folder (work->bed.world), id, NULL);
  g_autofree char *records = g_strdup_printf ("sqlite:%s/adder.db", folder);
  g_autofree char *blobs = g_strdup_printf ("directory:%s/blobs", folder);
  config.store_records = records;
  config.store_blobs = blobs;
  struct work fresh = {.bed.config = &config};
  gboolean ok = open_step (&fresh, error);
  suite_remove (folder);
  return ok;
}

static void
test_fresh (void)
{
  each (fresh_step);
}

/* Contents, pending rows and links that nobody needs are found and removed. */
static gboolean
check_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct file_new file = new_file (work, "left.txt", FILE_GENERATED);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  files_write (work->bed.store, &file, 1, warnings);
  files_abandon (work->bed.store, &file, 1);
  struct blobs *blobs = store_blobs (work->bed.store, error);
  g_autofree char *key = blob_key ("unknown");
  if (!blobs || !blobs_put (blobs, key, work->content_fd, file.bytes, work->sha256, "text/plain", error))
    return FALSE;
  g_autoptr (json_t) found =
      store_check (work->bed.store, &(struct check_options){.deep = TRUE}, NULL, error);
  return found != NULL;
}

static void
test_check (void)
{
  each (check_step);
}

/* ---- contents ---- */

static gboolean
ignore_key (gpointer data, const char *key, guint64 bytes, gint64 made_ms)
{
  (void)data, (void)key, (void)bytes, (void)made_ms;
  return TRUE;
}

static gboolean
blob_step (gpointer data, GError **error)
{
  struct work *work = data;
  struct blobs *blobs = store_blobs (work->bed.store, error);
  guint64 bytes = strlen ("one\ntwo\nthree\n");
  char byte;
  guint swept;
  g_autofree char *key = blob_key ("own"), *same = blob_key ("same");
  autoclose int fd = blobs ? blobs_create (blobs, error) : -1;
  if (fd < 0)
    return FALSE;
  int r = fd_write_all (fd, "one\ntwo\nthree\n", bytes);
  if (r < 0) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot write");
    return FALSE;
  }
  gboolean ok = blobs_put (blobs, key, fd, bytes, work->sha256, "text/plain", error) &&
                blobs_put (blobs, same, work->content_fd, bytes, work->sha256, "text/plain", error) &&
                blobs_stat (blobs, key, NULL, error) && blobs_read (blobs, same, 0, &byte, 1, error) >= 0;
  autoclose int got = ok ? blobs_get (blobs, key, bytes, work->sha256, error) : -1;
  struct blob_links *links = got >= 0 ? blob_links_new (blobs, error) : NULL;
  ok = links && blob_links_add (links, key, bytes, work->sha256, "tmp/data/a.csv", error);
  blob_links_free (links);
  return ok && blobs_list (blobs, ignore_key, NULL, error) && blobs_remove (blobs, key, error) &&
         blobs_remove (blobs, same, error) && blobs_sweep (blobs, &swept, error);
}

static void
test_blobs (void)
{
  each (blob_step);
}

/* ---- reviews ---- */

struct reviewed {
  char *path;
  int directory_fd, upper_fd;
  struct config config;
  struct reviews *reviews;
};

static void
write_text (int at_fd, const char *name, const char *text)
{
  autoclose int fd = openat (at_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  g_assert_cmpint (fd_write_all (fd, text, strlen (text)), ==, 0);
}

static int
open_fresh (const struct reviewed *reviewed, const char *name)
{
  g_autofree char *path = g_build_filename (reviewed->path, name, NULL);
  suite_remove (path);
  g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
  return open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A file that is changed, one that is new, a directory that is new, and one name that is gone. */
static void
reviewed_fill (struct reviewed *reviewed)
{
  reviewed->directory_fd = open_fresh (reviewed, "directory");
  reviewed->upper_fd = open_fresh (reviewed, "upper");
  write_text (reviewed->directory_fd, "changed", "before");
  write_text (reviewed->directory_fd, "gone", "gone");
  write_text (reviewed->upper_fd, "changed", "after");
  write_text (reviewed->upper_fd, "new", "new");
  g_assert_cmpint (mkdirat (reviewed->upper_fd, "made", 0755), ==, 0);
  write_text (reviewed->upper_fd, "made/in", "in");
  g_assert_cmpint (symlinkat ("in", reviewed->upper_fd, "made/link"), ==, 0);
  (void)mknodat (reviewed->upper_fd, "gone", S_IFCHR, makedev (0, 0));
}

static void
reviewed_empty (struct reviewed *reviewed)
{
  fd_close (&reviewed->directory_fd);
  fd_close (&reviewed->upper_fd);
}

static char *
stage (struct reviewed *reviewed, GError **error)
{
  char *id = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  struct change_set *changes =
      changes_collect (reviewed->upper_fd, reviewed->directory_fd, G_MAXINT64, warnings);
  const struct review_subject subject = {.owner = OWNER,
                                         .path = "/directory",
                                         .directory_fd = reviewed->directory_fd,
                                         .upper_fd = reviewed->upper_fd,
                                         .changes = changes};
  if (changes->obstacle)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, changes->obstacle);
  else
    reviews_stage (reviewed->reviews, &subject, &id, error);
  change_set_free (changes);
  return id;
}

static gboolean
review_step (gpointer data, GError **error)
{
  struct reviewed *reviewed = data;
  g_autofree char *id = stage (reviewed, error);
  if (!id)
    return FALSE;
  g_autoptr (json_t) list = reviews_list (reviewed->reviews, OWNER, error);
  g_autoptr (json_t) shown = list ? reviews_show (reviewed->reviews, OWNER, id, error) : NULL;
  g_autoptr (json_t) settled =
      shown ? reviews_settle (reviewed->reviews, OWNER, id, REVIEW_COMMIT, NULL, -1, error) : NULL;
  return settled != NULL;
}

static gboolean
has (const struct reviewed *reviewed, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (reviewed->path, "directory", name, NULL), *text = NULL;
  return g_file_get_contents (path, &text, NULL, NULL) ? g_strcmp0 (text, content) == 0 : content == NULL;
}

/* What was broken off is taken back, or finished where it cannot be any more. */
static gboolean
end_broken (struct reviewed *reviewed, const char *id)
{
  g_autoptr (GError) error = NULL;
  json_t *settled =
      reviews_settle (reviewed->reviews, OWNER, id, REVIEW_UNDO, NULL, reviewed->directory_fd, NULL);
  gboolean undone = settled != NULL;
  if (!undone)
    settled =
        reviews_settle (reviewed->reviews, OWNER, id, REVIEW_COMMIT, NULL, reviewed->directory_fd, &error);
  g_assert_no_error (error);
  json_decref (settled);
  return undone;
}

/* All is as it was and waits, or all is as it is to be. */
static void
check_review (gpointer data, gboolean done)
{
  struct reviewed *reviewed = data;
  g_autoptr (GError) error = NULL;
  /* What a commit set aside is removed by a thread, which can fail too and needs the directory. */
  reviews_close (reviewed->reviews);
  g_autoptr (json_t) answer = reviews_list (reviewed->reviews, OWNER, &error);
  g_assert_no_error (error);
  const json_t *review = json_array_get (json_object_get (answer, "reviews"), 0);
  const char *id = json_string_value (json_object_get (review, "review_id"));
  gboolean waits =
      id && (strcmp (json_member_text (review, "state"), "waiting") == 0 || end_broken (reviewed, id));
  gboolean made = has (reviewed, "changed", "after");
  g_assert_false (done && !made);
  g_assert_false (made && waits);
  if (made)
    g_assert_true (has (reviewed, "new", "new") && has (reviewed, "made/in", "in") &&
                   has (reviewed, "gone", NULL));
  else
    g_assert_true (has (reviewed, "changed", "before") && has (reviewed, "new", NULL) &&
                   has (reviewed, "gone", "gone"));
  if (waits) {
    json_decref (reviews_settle (reviewed->reviews, OWNER, id, REVIEW_DROP, NULL, -1, &error));
    g_assert_no_error (error);
  }
  /* What end_broken set aside is gone before the next call fails, and before its directory goes. */
  reviews_close (reviewed->reviews);
  reviewed_empty (reviewed);
  reviewed_fill (reviewed);
}

static void
test_review (void)
{
  int descriptors = suite_descriptors ();
  struct reviewed reviewed = {
      .path = g_dir_make_tmp ("adder-review-XXXXXX", NULL),
      .config = {.review_expire_ms = 3600 * 1000, .max_reviews = 3, .max_reviews_bytes = 1000}};
  g_setenv ("ADDER_STATE_DIR", reviewed.path, TRUE);
  reviewed.reviews = reviews_new (&reviewed.config);
  reviewed_fill (&reviewed);
  for (enum call_fault kind = CALL_ERROR; kind <= CALL_SHORT; kind++)
    each_call_fails (kind, CALLS_EVERYWHERE, review_step, check_review, &reviewed);
  reviews_close (reviewed.reviews);
  reviews_unref (reviewed.reviews);
  reviewed_empty (&reviewed);
  suite_remove (reviewed.path);
  g_free (reviewed.path);
  g_assert_cmpint (suite_descriptors (), ==, descriptors);
}

UNIT_SUITE (store_failing)
{
  g_autofree char *state = g_dir_make_tmp ("adder-state-XXXXXX", NULL);
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/failing/files", test_files);
  g_test_add_func ("/store/failing/output", test_output);
  g_test_add_func ("/store/failing/datasets", test_datasets);
  g_test_add_func ("/store/failing/records", test_records);
  g_test_add_func ("/store/failing/open", test_open);
  g_test_add_func ("/store/failing/fresh", test_fresh);
  g_test_add_func ("/store/failing/check", test_check);
  g_test_add_func ("/store/failing/blobs", test_blobs);
  g_test_add_func ("/store/failing/review", test_review);
  int code = g_test_run ();
  suite_remove (state);
  return code;
}
