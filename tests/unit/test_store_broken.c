/* SPDX-License-Identifier: Apache-2.0 */
/* A database that lost a table, refuses a change or is none: whatever needs it says so in one sentence, and
 * the rest works. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "store/check.h"
#include "store/datasets.h"
#include "store/file_upload.h"
#include "store/records.h"
#include "store_bed.h"
#include "suite.h"

#define OWNER "uid:1"

/* What was kept before something broke. */
struct kept {
  struct bed bed;
  char file[ID_BYTES], run[ID_BYTES];
  struct dataset *dataset;
};

/* ---- what is asked ---- */

static gboolean
is_there (json_t *answer)
{
  json_decref (answer);
  return answer != NULL;
}

static gboolean
are_there (GPtrArray *rows)
{
  gboolean answered = rows != NULL;
  g_clear_pointer (&rows, g_ptr_array_unref);
  return answered;
}

static gboolean
list_records (struct kept *kept, GError **error)
{
  return is_there (records_list (kept->bed.store, OWNER, NULL, error));
}

static gboolean
show_record (struct kept *kept, GError **error)
{
  return is_there (records_show (kept->bed.store, OWNER, kept->run, error));
}

static gboolean
count_records (struct kept *kept, GError **error)
{
  return is_there (records_stats (kept->bed.store, OWNER, NULL, error));
}

static gboolean
export_records (struct kept *kept, GError **error)
{
  autoclose int fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  return is_there (records_export (kept->bed.store, OWNER, NULL, "csv", fd, error));
}

static gboolean
verify_records (struct kept *kept, GError **error)
{
  return is_there (records_verify (kept->bed.store, NULL, error));
}

static gboolean
retain_records (struct kept *kept, GError **error)
{
  return records_retain (kept->bed.store, error);
}

struct adding {
  struct store *store;
  const char *run_id;
};

static gboolean
add_step (gpointer data, struct transaction *transaction, GError **error)
{
  const struct adding *adding = data;
  const struct record record = {
      .run_id = adding->run_id, .started_ms = 1790000000000, .owner = OWNER, .outcome = "ok"};
  return records_add (adding->store, transaction, &record, error);
}

static gboolean
add_record (struct kept *kept, GError **error)
{
  char id[ID_BYTES];
  id_make (id);
  struct adding adding = {kept->bed.store, id};
  struct database *database = store_database (kept->bed.store, error);
  return database && database_commit (database, add_step, &adding, error);
}

static gboolean
find_file (struct kept *kept, GError **error)
{
  struct file_row *row = files_find (kept->bed.store, OWNER, kept->file, error);
  file_row_free (row);
  return row != NULL;
}

static gboolean
list_files (struct kept *kept, GError **error)
{
  return are_there (files_list (kept->bed.store, &(struct file_filter){.most = 10}, error));
}

static gboolean
put_file (struct kept *kept, GError **error)
{
  g_autofree char *sha256 = NULL;
  struct file_new file = bed_make_file ("b", "text", OWNER, &sha256);
  gboolean ok = files_put (kept->bed.store, &file, error);
  close (file.fd);
  return ok;
}

static gboolean
upload_file (struct kept *kept, GError **error)
{
  g_autofree char *sha256 = NULL;
  char id[ID_BYTES];
  struct file_new file = bed_make_file ("c", "text", OWNER, &sha256);
  const struct file_upload upload = {.owner = OWNER, .name = "c", .fd = file.fd};
  gboolean ok = file_upload (kept->bed.store, &upload, NULL, id, error);
  close (file.fd);
  return ok;
}

static gboolean
recover_files (struct kept *kept, GError **error)
{
  return files_recover (kept->bed.store, error);
}

static gboolean
check_store (struct kept *kept, GError **error)
{
  return is_there (store_check (kept->bed.store, &(struct check_options){0}, NULL, error));
}

static gboolean
list_datasets (struct kept *kept, GError **error)
{
  return are_there (datasets_list (kept->bed.store, OWNER, TRUE, error));
}

static gboolean
find_dataset (struct kept *kept, GError **error)
{
  struct dataset *dataset = dataset_find (kept->bed.store, OWNER, "tio2", error);
  dataset_free (dataset);
  return dataset != NULL;
}

static gboolean
know_dataset (struct kept *kept, GError **error)
{
  return is_there (dataset_facts (kept->bed.store, kept->dataset, error));
}

static struct dataset *
put_dataset (struct kept *kept, GError **error)
{
  g_autofree char *sha256 = NULL;
  struct file_new table = bed_make_file ("x", "table", OWNER, &sha256);
  const struct dataset_new put = {
      .owner = OWNER, .name = "tio2", .table_fd = table.fd, .keep_versions = TRUE};
  struct dataset *dataset = dataset_put (kept->bed.store, &put, error);
  close (table.fd);
  return dataset;
}

static gboolean
add_dataset (struct kept *kept, GError **error)
{
  struct dataset *dataset = put_dataset (kept, error);
  dataset_free (dataset);
  return dataset != NULL;
}

static gboolean
remove_dataset (struct kept *kept, GError **error)
{
  return dataset_remove (kept->bed.store, OWNER, "tio2:1", error);
}

static gboolean
remove_file (struct kept *kept, GError **error)
{
  return files_remove (kept->bed.store, OWNER, kept->file, error);
}

/* In this order, those that remove last. */
static const struct {
  const char *name;
  gboolean (*run) (struct kept *kept, GError **error);
  const char *needs;   /* tables, and "blobs" */
  const char *changes; /* what it does to them */
} questions[] = {
    {"records_list", list_records, "records", ""},
    {"records_show", show_record, "records", ""},
    {"records_stats", count_records, "records", ""},
    {"records_export", export_records, "records", ""},
    {"records_verify", verify_records, "records chains anchors", ""},
    {"records_add", add_record, "records chains", "chains-UPDATE records-INSERT"},
    {"records_retain", retain_records, "records chains anchors",
     "chains-UPDATE records-DELETE anchors-INSERT"},
    {"files_find", find_file, "files", ""},
    {"files_list", list_files, "files", ""},
    {"files_put", put_file, "files blobs", "files-INSERT files-UPDATE"},
    {"file_upload", upload_file, "files blobs", "files-INSERT files-UPDATE"},
    {"files_recover", recover_files, "files", "files-UPDATE"},
    {"store_check", check_store, "files blobs", ""},
    {"datasets_list", list_datasets, "files datasets", ""},
    {"dataset_find", find_dataset, "files datasets", ""},
    {"dataset_facts", know_dataset, "files blobs", ""},
    {"dataset_put", add_dataset, "files datasets blobs", "files-INSERT files-UPDATE datasets-INSERT"},
    {"dataset_remove", remove_dataset, "files datasets", "files-UPDATE datasets-DELETE"},
    {"files_remove", remove_file, "files", "files-UPDATE"},
};

/* ---- what is broken ---- */

/* FALSE: not with this pair, or the host lacks a server. */
static gboolean
keep (struct kept *kept, const struct pair *pair)
{
  g_autoptr (GError) error = NULL;
  if (!pair_has_directory (pair) || !bed_init (&kept->bed, pair, ""))
    return FALSE;
  store_close (kept->bed.store); /* its thread would do some of it meanwhile */
  bed_put (&kept->bed, "a", "text", OWNER, kept->file);
  kept->dataset = put_dataset (kept, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++) {
    id_make (kept->run);
    struct adding adding = {kept->bed.store, kept->run};
    database_commit (store_database (kept->bed.store, NULL), add_step, &adding, &error);
    g_assert_no_error (error);
  }
  kept->bed.config->store_record_age_ms = 0;
  kept->bed.config->store_record_count = 2; /* so that retention has something to do */
  return TRUE;
}

static void
forget (struct kept *kept)
{
  dataset_free (kept->dataset);
  bed_clear (&kept->bed);
}

/* Asks all; MISSING: what is needed of it fails and says SAYS. NULL: all fails. */
static void
ask_all (struct kept *kept, const char *missing, const char *says)
{
  for (gsize i = 0; i < G_N_ELEMENTS (questions); i++) {
    g_autoptr (GError) error = NULL;
    gboolean needed =
        !missing || strstr (questions[i].needs, missing) || strstr (questions[i].changes, missing);
    gboolean ok = questions[i].run (kept, &error);
    if (ok == needed || ok == !!error)
      g_error ("without %s: %s %s: %s", missing ? missing : "it", questions[i].name,
               ok ? "went well" : "failed", error ? error->message : "no error");
    if (ok)
      continue;
    g_assert_true (error->domain == ADDER_ERROR);
    g_assert_null (strchr (error->message, '\n'));
    if (!strstr (error->message, says))
      g_error ("%s: expected \"%s\" in: %s", questions[i].name, says, error->message);
  }
}

static void
test_tables (gconstpointer pair)
{
  static const char *const tables[] = {"records", "chains", "anchors", "files", "datasets"};
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++) {
    struct kept kept;
    if (!keep (&kept, pair))
      return;
    g_autofree char *sql = g_strconcat ("DROP TABLE ", tables[i], NULL);
    bed_run_sql (&kept.bed, sql);
    ask_all (&kept, tables[i], tables[i]);
    forget (&kept);
  }
}

/* A database that refuses one kind of change: what would make it is taken back as a whole. */
static void
test_refusals (gconstpointer pair)
{
  static const char *const refusals[][2] = {
      {"records", "INSERT"}, {"records", "DELETE"}, {"chains", "UPDATE"},   {"anchors", "INSERT"},
      {"files", "INSERT"},   {"files", "UPDATE"},   {"datasets", "INSERT"}, {"datasets", "DELETE"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++) {
    struct kept kept;
    const char *table = refusals[i][0], *change = refusals[i][1];
    if (!keep (&kept, pair))
      return;
    if (store_world_is_server (kept.bed.world)) {
      forget (&kept);
      return;
    }
    g_autofree char *sql = g_strdup_printf (
        "CREATE TRIGGER refuse BEFORE %s ON %s BEGIN SELECT RAISE (ABORT, 'not today'); END", change, table);
    g_autofree char *what = g_strdup_printf ("%s-%s", table, change);
    bed_run_sql (&kept.bed, sql);
    ask_all (&kept, what, "not today");
    bed_run_sql (&kept.bed, "DROP TRIGGER refuse");
    g_autoptr (json_t) verified = records_verify (kept.bed.store, NULL, NULL);
    g_assert_true (json_is_true (json_object_get (verified, "ok")));
    g_assert_true (files_recover (kept.bed.store, NULL));
    bed_assert_whole (&kept.bed);
    forget (&kept);
  }
}

/* Opens the store again with RECORDS or BLOBS, formats of the folder, where they are not NULL. */
static void
open_at (struct kept *kept, const char *records, const char *blobs)
{
  const char *folder = store_world_folder (kept->bed.world);
  struct config *config = kept->bed.config;
  bed_close (&kept->bed);
  char **setting = records ? &config->store_records : &config->store_blobs;
  g_free (*setting);
  g_autoptr (GString) value = g_string_new (records ? records : blobs);
  g_string_replace (value, "FOLDER", folder, 1);
  *setting = g_string_free (g_steal_pointer (&value), FALSE);
  bed_open (&kept->bed);
  store_close (kept->bed.store);
}

/* A database below what is a file, and a file that is none. */
static void
test_no_database (gconstpointer pair)
{
  static const char *const urls[] = {"sqlite:FOLDER/adder.conf/x.db", "sqlite:FOLDER/adder.conf"};
  for (gsize i = 0; i < G_N_ELEMENTS (urls); i++) {
    struct kept kept;
    if (!keep (&kept, pair))
      return;
    open_at (&kept, urls[i], NULL);
    ask_all (&kept, NULL, "adder.conf");
    g_assert_null (files_url (kept.bed.store, kept.file, "a"));
    g_assert_false (files_url_is_good (kept.bed.store, kept.file, G_MAXINT32 * G_GINT64_CONSTANT (2), "x"));
    g_autoptr (json_t) described = store_describe (kept.bed.store);
    const json_t *place = json_object_get (described, "records_at");
    g_assert_true (json_is_false (json_object_get (place, "reachable")));
    g_assert_nonnull (strstr (json_member_text (place, "problem"), "adder.conf"));
    forget (&kept);
  }
}

static void
test_no_blobs (gconstpointer pair)
{
  struct kept kept;
  if (!keep (&kept, pair))
    return;
  open_at (&kept, NULL, "directory:FOLDER/adder.conf/blobs");
  ask_all (&kept, "blobs", "adder.conf");
  forget (&kept);
}

UNIT_SUITE (store_broken)
{
  static const struct bed_case cases[] = {{"tables", test_tables},
                                          {"refusals", test_refusals},
                                          {"no-database", test_no_database},
                                          {"no-blobs", test_no_blobs}};
  return bed_main (argc, argv, "store/broken", cases, G_N_ELEMENTS (cases), NULL);
}
