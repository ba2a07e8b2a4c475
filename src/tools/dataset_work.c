/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/dataset_work.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "library/library.h"
#include "store/files.h"
#include "tools/dataset_put.h"

#define WALL_MS         (10 * 60 * 1000)
#define MEMORY_BYTES    (G_GUINT64_CONSTANT (2) << 30)
#define WORKSPACE_BYTES (G_GUINT64_CONSTANT (256) << 20) /* what a run gets by default */
#define ANSWER_NAME     "answer.json"
#define ANSWER_BYTES    (16 << 20)
#define TABLE_NAME      "table.parquet"

static const char code[] = "import sys\n"
                           "from adder_runner import datasets\n"
                           "datasets.main(*sys.argv[1:])\n";

/* Each job's name in the sandbox, and its output. */
static const struct job {
  const char *name, *description;
  gboolean answers, makes_table;
} jobs[] = {
    [DATASET_OF_ROWS] = {"rows", "Writes rows as the table of a data set.", TRUE, TRUE},
    [DATASET_IMPORT] = {"import", "Writes a file as the table of a data set.", TRUE, TRUE},
    [DATASET_HEAD] = {"head", "Reads the first rows of a data set.", TRUE, FALSE},
    [DATASET_CSV] = {"csv", "Writes a data set as CSV.", FALSE, FALSE},
    [DATASET_JSON] = {"json", "Writes a data set as JSON.", FALSE, FALSE},
};

void
dataset_made_clear (struct dataset_made *made)
{
  json_decref (made->answer);
  fd_close (&made->table_fd);
  g_free (made->file_id);
}

/* ---- asking ---- */

static gboolean
dataset_work_add_source (const struct dataset_work *work, AdderRequest *request, GError **error)
{
  if (work->file_id)
    return adder_request_add_stored_file (request, work->file_id, work->source, "work", error);
  if (lseek (work->fd, 0, SEEK_SET) < 0)
    return error_from_errno (error, errno, "cannot pass the table on");
  return adder_request_add_file (request, work->source, work->fd, error);
}

/* A large table may have to be copied, and its converted form is stored beside it. */
static gboolean
dataset_work_set_limits (const struct dataset_work *work, AdderRequest *request, GError **error)
{
  guint64 more = work->bytes > WORKSPACE_BYTES / 8 ? 4 * work->bytes : 0;
  guint64 workspace = WORKSPACE_BYTES + more;
  const struct {
    const char *name;
    guint64 value;
  } limits[] = {
      {"wall_ms", WALL_MS},      {"cpu_ms", WALL_MS},        {"memory_bytes", MEMORY_BYTES + more},
      {"file_bytes", workspace}, {"files_bytes", workspace},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (limits); i++)
    if (!adder_request_set_limit (request, limits[i].name, limits[i].value, error))
      return FALSE;
  return more == 0 || adder_request_set_limit (request, "workspace_bytes", workspace, error);
}

static AdderRequest *
dataset_work_make_request (struct call *call, const struct dataset_work *work, GError **error)
{
  const struct job *job = &jobs[work->job];
  g_autoptr (AdderRequest) request = call_request (call, code, NULL);
  gboolean imports = work->job == DATASET_IMPORT;
  const char *const arguments[] = {job->name,
                                   work->source,
                                   job->makes_table ? TABLE_NAME : work->target,
                                   imports ? work->shown : NULL,
                                   imports ? work->wanted : NULL,
                                   NULL};
  adder_request_set_arguments (request, arguments);
  adder_request_set_description (request, job->description);
  adder_request_set_profiles_allowed (request, NULL); /* the code is ours */
  if (work->unwatched)
    adder_request_set_watch (request, -1);
  if (!dataset_work_add_source (work, request, error) || !dataset_work_set_limits (work, request, error))
    return NULL;
  return g_steal_pointer (&request);
}

/* ---- what came of it ---- */

/* The file NAME of RESULT: a descriptor, or -1. */
static int
dataset_work_open_file (const AdderResult *result, const char *name, GError **error)
{
  for (gsize i = 0; i < adder_result_file_count (result); i++)
    if (strcmp (adder_result_file_name (result, i), name) == 0)
      return adder_result_file_open (result, i, error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the sandbox left no file %s", name);
  return -1;
}

static json_t *
dataset_work_read_answer (const AdderResult *result, GError **error)
{
  autoclose int fd = dataset_work_open_file (result, ANSWER_NAME, error);
  struct stat st;
  if (fd < 0)
    return NULL;
  if (fstat (fd, &st) < 0 || st.st_size > ANSWER_BYTES) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "what the sandbox tells of the table has more than %d MiB", ANSWER_BYTES >> 20);
    return NULL;
  }
  g_autofree char *text = g_malloc0 ((gsize)st.st_size + 1);
  int r = fd_read_all (fd, text, (gsize)st.st_size);
  if (r < 0) {
    (void)error_from_errno (error, r, "cannot read what the sandbox tells of the table");
    return NULL;
  }
  return json_parse_object (text, (gsize)st.st_size, "what the sandbox tells of the table", error);
}

/* A file that only looks like Parquet fails in the sandbox that reads it; any other is refused. */
static gboolean
is_parquet (int fd)
{
  struct stat st;
  char head[4], tail[4];
  return fstat (fd, &st) == 0 && S_ISREG (st.st_mode) && st.st_size >= 12 &&
         pread (fd, head, sizeof head, 0) == sizeof head &&
         pread (fd, tail, sizeof tail, st.st_size - 4) == sizeof tail && memcmp (head, "PAR1", 4) == 0 &&
         memcmp (tail, "PAR1", 4) == 0;
}

static gboolean
dataset_work_take_table (const AdderResult *result, struct dataset_made *made, GError **error)
{
  made->table_fd = dataset_work_open_file (result, TABLE_NAME, error);
  if (made->table_fd >= 0 && !is_parquet (made->table_fd))
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "what the sandbox wrote is no Parquet file");
  else if (made->table_fd >= 0)
    return TRUE;
  return FALSE;
}

/* The run's files are stored like any others: except TARGET, they are of no interest. */
static void
take_stored (struct call *call, const json_t *result, const char *target, struct dataset_made *made)
{
  gsize index;
  json_t *file;
  json_array_foreach (json_object_get (result, "files"), index, file)
  {
    const char *id = json_string_value (json_object_get (file, "file_id"));
    if (id && target && !made->file_id && strcmp (json_member_text (file, "name"), target) == 0)
      made->file_id = g_strdup (id);
    else if (id)
      (void)files_remove (call->tools->engine->store, call->caller->owner, id, NULL);
  }
}

/* Why the sandbox made nothing: REASON, the error of its run, may be NULL. An error of its reader names the
 * file. */
static void
dataset_work_set_reason (const struct dataset_work *work, const json_t *reason, GError **error)
{
  const char *message = reason ? json_member_text (reason, "message") : "";
  if (reason && strcmp (json_member_text (reason, "type"), "CannotRead") == 0)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, message);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s cannot be read or written as a table: %s",
                 work->shown ? work->shown : "the data set", message);
}

static gboolean
dataset_work_take (struct call *call, const struct dataset_work *work, const AdderResult *result,
                   struct dataset_made *made, GError **error)
{
  const struct job *job = &jobs[work->job];
  gboolean is_file = !job->answers;
  g_autoptr (json_t) object = library_result (result);
  gboolean ok = adder_result_outcome (result) == ADDER_OUTCOME_OK;
  if (!ok) {
    dataset_work_set_reason (work, json_object_get (object, "error"), error);
  } else {
    made->answer = job->answers ? dataset_work_read_answer (result, error) : NULL;
    ok = (!job->answers || made->answer) &&
         (!job->makes_table || dataset_work_take_table (result, made, error));
  }
  take_stored (call, object, is_file && ok ? work->target : NULL, made);
  if (ok && is_file && !made->file_id) {
    const char *warning = json_string_value (json_array_get (json_object_get (object, "warnings"), 0));
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the file was not kept: %s",
                 warning ? warning : "the sandbox left none");
    return FALSE;
  }
  return ok;
}

static gboolean
is_of_code (AdderOutcome outcome)
{
  return outcome != ADDER_OUTCOME_BUSY && outcome != ADDER_OUTCOME_FAILED &&
         outcome != ADDER_OUTCOME_CANCELLED && outcome != ADDER_OUTCOME_APPROVAL_REQUIRED;
}

gboolean
dataset_work_run (struct call *call, const struct dataset_work *work, struct dataset_made *ret_made)
{
  *ret_made = (struct dataset_made){.table_fd = -1};
  g_autoptr (GError) problem = NULL;
  g_autoptr (AdderRequest) request = dataset_work_make_request (call, work, &problem);
  if (!request) {
    call_fail (call, problem);
    return FALSE;
  }
  AdderResult *result = adder_run (call->tools->engine, request);
  if (!is_of_code (adder_result_outcome (result))) {
    struct ran ran;
    if (call_take_result (call, result, &ran))
      ran_clear (&ran);
    return FALSE;
  }
  gboolean ok = dataset_work_take (call, work, result, ret_made, &problem);
  adder_result_free (result);
  if (ok)
    return TRUE;
  dataset_made_clear (ret_made);
  call_fail (call, problem);
  return FALSE;
}

struct dataset *
dataset_keep (struct call *call, const struct dataset_keeping *keeping, GError **error)
{
  const json_t *rows = json_object_get (keeping->made->answer, "rows");
  json_t *columns = json_object_get (keeping->made->answer, "columns");
  if (!json_is_integer (rows) || json_integer_value (rows) < 0 || !json_is_array (columns)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the sandbox does not tell what is in the table");
    return NULL;
  }
  g_autoptr (json_t) facts = json_copy ((json_t *)(guintptr)keeping->facts);
  json_object_set (facts, "schema", columns);
  if (json_array_size (json_object_get (keeping->made->answer, "assumed")) > 0)
    json_object_set (facts, "assumed", json_object_get (keeping->made->answer, "assumed"));
  const struct dataset_new put = {.owner = call->caller->owner,
                                  .conversation = call->caller->conversation,
                                  .name = keeping->name,
                                  .table_fd = keeping->made->table_fd,
                                  .facts = facts,
                                  .rows = (guint64)json_integer_value (rows),
                                  .complete = keeping->complete,
                                  .keep_versions = keeping->keep_versions};
  return dataset_put (call->tools->engine->store, &put, error);
}
