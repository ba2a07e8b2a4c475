/* SPDX-License-Identifier: Apache-2.0 */
/* Stored files in runs and cells: found by their owner's id, copied when they are small, bind-mounted when
 * they are large. */
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "library/library.h"
#include "run_support.h"
#include "session_calls.h"
#include "store/blobs.h"
#include "store/datasets.h"
#include "store/files.h"
#include "store_world.h"
#include "suite.h"

#define OWNER "somebody"
#define LARGE ((gsize)17 << 20)

static AdderEngine *engine;

/* Keeps LENGTH bytes of FILL as NAME. Its id, the caller's. */
static char *
store_file (const char *owner, const char *name, char fill, gsize length)
{
  g_autoptr (GError) error = NULL;
  struct blobs *blobs = store_blobs (engine->store, &error);
  g_assert_no_error (error);
  autoclose int fd = blobs_create (blobs, &error);
  g_assert_no_error (error);
  g_autofree char *data = g_malloc (length + 1);
  memset (data, fill, length);
  g_assert_cmpint (fd_write_all (fd, data, length), ==, 0);
  g_autofree char *sha256 = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)data, length);
  struct file_new file = {.kind = FILE_UPLOADED,
                          .fd = fd,
                          .name = name,
                          .mime = "text/plain",
                          .sha256 = sha256,
                          .bytes = length,
                          .owner = owner};
  files_put (engine->store, &file, &error);
  g_assert_no_error (error);
  return g_strdup (file.id);
}

static AdderRequest *
request_with (const char *code, const char *id, const char *name, const char *place)
{
  g_autoptr (GError) error = NULL;
  AdderRequest *request = new_request (code);
  adder_request_set_owner (request, OWNER, NULL);
  g_assert_true (adder_request_add_stored_file (request, id, name, place, &error));
  return request;
}

static void
assert_says (AdderRequest *request, const char *text)
{
  g_autoptr (json_t) result = run (engine, request, "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==, text);
  g_assert_cmpuint (json_array_size (json_object_get (result, "files")), ==, 0);
}

static guint
count_entries (const char *path, gboolean all)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  guint count = 0;
  for (const char *name; directory && (name = g_dir_read_name (directory));) {
    g_autofree char *below = g_build_filename (path, name, NULL);
    count += all ? 1 : count_entries (below, strcmp (name, "links") == 0);
  }
  return count;
}

/* How many folders of links there are, wherever the store has them. */
static guint
count_links (void)
{
  return count_entries (scratch, FALSE);
}

/* An engine whose files are kept in KIND of place. */
static gboolean
set_up (const struct store_world_kind *kind)
{
  static const struct store_world_kind *current;
  g_autofree char *url = kind == current ? NULL : store_world_blobs (kind, scratch);
  if (kind == current)
    return engine != NULL;
  current = kind;
  g_clear_pointer (&engine, adder_engine_free);
  if (!url)
    return FALSE;
  g_autofree char *settings = g_strdup_printf ("[pool]\nparked = 2\n[store]\nblobs = %s\n", url);
  engine = new_engine (settings);
  return TRUE;
}

#define LOOK                                                                                                 \
  "import os\n"                                                                                              \
  "data = open(P, 'rb').read()\n"                                                                            \
  "print(len(data), set(data) == {ord('x')}, os.stat(P).st_uid == os.getuid())\n"

static void
test_found (gconstpointer kind)
{
  if (!set_up (kind)) {
    g_test_skip ("no such place for files");
    return;
  }
  static const struct {
    gsize length;
    const char *place, *name, *path, *isolation;
  } rows[] = {
      {5, "work", NULL, "/work/own.csv", NULL},
      {5, "tmp", NULL, "/tmp/own.csv", NULL},
      {0, "tmp", "other", "/tmp/other", NULL},
      {5, "work", "deep/er/other", "/work/deep/er/other", NULL},
      {LARGE, "work", NULL, "/work/own.csv", NULL},
      {LARGE, "tmp", "deep/er/other", "/tmp/deep/er/other", NULL},
      {5, "tmp", NULL, "../tmp/own.csv", "process"},
      {LARGE, "work", "deep/other", "deep/other", "process"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *id = store_file (OWNER, "own.csv", 'x', rows[i].length);
    g_autofree char *code = g_strdup_printf ("P = '%s'\n" LOOK, rows[i].path);
    g_autofree char *text =
        g_strdup_printf ("%zu %s True\n", rows[i].length, rows[i].length > 0 ? "True" : "False");
    AdderRequest *request = request_with (code, id, rows[i].name, rows[i].place);
    adder_request_set_isolation (request, rows[i].isolation);
    /* What is bind-mounted takes nothing of it. */
    if (!rows[i].isolation)
      set_limit (request, "workspace_bytes", 4 * MIB);
    assert_says (request, text);
    g_assert_cmpuint (count_links (), ==, 0);
  }
}

static void
test_not_found (gconstpointer kind)
{
  if (!set_up (kind)) {
    g_test_skip ("no such place for files");
    return;
  }
  g_autofree char *others = store_file ("another", "theirs", 'x', 5);
  g_autofree char *nobodys = store_file ("", "nobodys", 'x', 5);
  const char *const ids[] = {others, nobodys, "none", "", "01890000-0000-7000-8000-000000000000", "' OR 1=1"};
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    expect (engine, request_with ("1", ids[i], NULL, "work"), "failed", 125);
  g_autoptr (GError) error = NULL;
  AdderRequest *request = new_request ("1");
  g_assert_false (adder_request_add_stored_file (request, others, NULL, "home", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (adder_request_add_stored_file (request, others, "../x", "work", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  adder_request_free (request);
}

/* In a session it is there from the cell on that it came with, and is the session's own. */
static void
test_session (gconstpointer kind)
{
  if (!set_up (kind)) {
    g_test_skip ("no such place for files");
    return;
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *first = store_file (OWNER, "first", 'x', 5);
  g_autofree char *second = store_file (OWNER, "second", 'x', LARGE);
  AdderRequest *options = request_with ("", first, NULL, "work");
  g_free (adder_session_new (engine, options, "one", &error));
  g_assert_no_error (error);
  adder_request_free (options);
  AdderRequest *cell =
      request_with ("P = '/tmp/second'\n" LOOK "print(open('first').read())", second, NULL, "tmp");
  adder_request_set_session (cell, "one", TRUE);
  assert_says (cell, "17825792 True True\nxxxxx\n");
  cell = new_request ("open('/tmp/second', 'a').write('y'); print(os.path.getsize('/tmp/second'))");
  adder_request_set_owner (cell, OWNER, NULL);
  adder_request_set_session (cell, "one", TRUE);
  g_autoptr (json_t) result = run (engine, cell, "ok", 0);
  g_assert_cmpuint (json_array_size (json_object_get (result, "files")), ==, 1);
  g_assert_true (called_session_end (engine, OWNER, "one", &error));
}

/* What the code makes of one that was bind-mounted comes back; the stored file stays what it was. */
static void
test_changed (gconstpointer kind)
{
  if (!set_up (kind)) {
    g_test_skip ("no such place for files");
    return;
  }
  g_autofree char *id = store_file (OWNER, "own", 'x', LARGE);
  g_autoptr (json_t) result =
      run (engine, request_with ("open('own', 'r+b').write(b'y')", id, NULL, "work"), "ok", 0);
  g_assert_cmpuint (json_array_size (json_object_get (result, "files")), ==, 1);
  assert_says (request_with ("P = 'own'\n" LOOK, id, NULL, "work"), "17825792 True True\n");
}

/* It may be removed while a run has it. */
static void
test_removed (gconstpointer kind)
{
  if (!set_up (kind)) {
    g_test_skip ("no such place for files");
    return;
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *id = store_file (OWNER, "own", 'x', LARGE);
  AdderRequest *request = request_with (
      "import time\nprint('begun', flush=True)\nwhile not __import__('os').path.exists('/tmp/go'):\n"
      " time.sleep(0.01)\n break\nP = 'own'\n" LOOK,
      id, NULL, "work");
  AdderRun *begun = adder_run_start (engine, request);
  AdderEvent event;
  do
    g_assert_true (adder_run_next (begun, &event));
  while (event.kind != ADDER_EVENT_STARTED);
  g_assert_cmpuint (count_links (), ==, 1);
  g_assert_true (files_remove (engine->store, OWNER, id, &error));
  g_autoptr (AdderResult) result = pull (begun);
  g_assert_nonnull (strstr (adder_result_json (result), "17825792 True True"));
  adder_run_free (begun);
  adder_request_free (request);
  expect (engine, request_with ("1", id, NULL, "work"), "failed", 125);
}

/* All files below it come along, and nothing that a link leads to. */
static void
test_folders (gconstpointer kind)
{
  if (!set_up (kind)) {
    g_test_skip ("no such place for files");
    return;
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_build_filename (scratch, ((const struct store_world_kind *)kind)->name, NULL);
  g_autofree char *below = g_build_filename (folder, "a", "b", NULL);
  g_autofree char *file = g_build_filename (below, "c.txt", NULL);
  g_autofree char *link = g_build_filename (folder, "link", NULL);
  g_assert_cmpint (g_mkdir_with_parents (below, 0755), ==, 0);
  g_assert_true (g_file_set_contents (file, "text", -1, NULL));
  g_assert_cmpint (symlink ("/etc/passwd", link), ==, 0);
  autoclose int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  AdderRequest *request =
      new_request ("import os\nprint(sorted(os.walk('in')))\nprint(open('in/a/b/c.txt').read())");
  g_assert_true (adder_request_add_file (request, "in", fd, &error));
  g_autoptr (json_t) result = run (engine, request, "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==,
                   "[('in', ['a'], []), ('in/a', ['b'], []), ('in/a/b', [], ['c.txt'])]\ntext\n");
  g_assert_cmpuint (json_array_size (json_object_get (result, "files")), ==, 0);
  g_assert_cmpuint (json_array_size (json_object_get (result, "warnings")), ==, 1);
}

/* The id of its table; the caller's. */
static char *
store_dataset (const char *content)
{
  g_autoptr (GError) error = NULL;
  autoclose int fd = memfd_create ("table", MFD_CLOEXEC);
  g_autoptr (json_t) facts = json_object ();
  g_assert_cmpint (fd_write_all (fd, content, strlen (content)), ==, 0);
  const struct dataset_new put = {
      .owner = OWNER, .name = "tio2", .table_fd = fd, .facts = facts, .rows = 1, .keep_versions = TRUE};
  struct dataset *dataset = dataset_put (engine->store, &put, &error);
  g_assert_no_error (error);
  char *id = g_strdup (dataset->table_id);
  dataset_free (dataset);
  return id;
}

static void
test_datasets_by_name (gconstpointer kind)
{
  if (!set_up (kind)) {
    g_test_skip ("no such place for files");
    return;
  }
  static const char code[] = "print(open('tio2.parquet').read())";
  g_autofree char *first = store_dataset ("one"), *second = store_dataset ("two");
  g_autofree char *by_id = g_strconcat ("@", first, NULL);
  const struct {
    const char *named, *text;
  } rows[] = {
      {"@tio2", "two\n"}, {"@tio2:1", "one\n"}, {"@tio2:2", "two\n"}, {by_id, "one\n"}, {second, "two\n"}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_says (request_with (code, rows[i].named, NULL, "work"), rows[i].text);

  /* Another's, one that is not there, and what is no name at all: in a sentence. */
  static const struct {
    const char *owner, *named, *text;
  } bad[] = {{"another", "@tio2", "no data set tio2"},
             {OWNER, "@zno", "no data set zno"},
             {OWNER, "@tio2:7", "the versions of tio2 are"},
             {OWNER, "@", "name"},
             {OWNER, "@../x", "name"}};
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    AdderRequest *request = request_with ("1", bad[i].named, NULL, "work");
    adder_request_set_owner (request, bad[i].owner, NULL);
    g_autoptr (json_t) result = run (engine, request, "failed", 125);
    const char *message = string_at (json_object_get (result, "error"), "message");
    g_assert_nonnull (strstr (message, bad[i].text));
  }

  autoclose int fd = -1;
  const AdderCaller caller = {OWNER, NULL, -1, -1, &fd};
  g_autofree char *text = adder_call (engine, &caller, "file.open", "{\"file\": \"@tio2\"}", NULL);
  g_assert_cmpint (fd, >=, 0);
  g_assert_nonnull (strstr (text, second));
  /* The database is that of the next kind as well. */
  g_assert_true (dataset_remove (engine->store, OWNER, "tio2", NULL));
}

UNIT_SUITE (library_inputs)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  static const struct {
    const char *name;
    GTestDataFunc run;
  } tests[] = {{"found", test_found},
               {"not-found", test_not_found},
               {"session", test_session},
               {"changed", test_changed},
               {"removed", test_removed},
               {"folders", test_folders},
               {"datasets", test_datasets_by_name}};
  for (const struct store_world_kind *kind = store_world_blob_kinds; kind->name; kind++)
    for (gsize i = 0; i < G_N_ELEMENTS (tests); i++) {
      g_autofree char *path = g_strdup_printf ("/library/inputs/%s/%s", kind->name, tests[i].name);
      g_test_add_data_func (path, kind, tests[i].run);
    }
  int r = g_test_run ();
  adder_engine_free (engine);
  support_end ();
  return r;
}
