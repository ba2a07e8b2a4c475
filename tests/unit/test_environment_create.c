/* SPDX-License-Identifier: Apache-2.0 */
/* Environments are made and removed. Nothing is fetched: packages come from a wheel that the test writes
 * itself. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "engine/host/environment.h"
#include "engine/host/environment_private.h"
#include "environment_place.h"
#include "suite.h"

static gboolean
python_can_make_venvs (void)
{
  const char *const argv[] = {"/usr/bin/python3", "-I", "-c", "import venv, ensurepip", NULL};
  struct command command = {.argv = argv, .timeout_ms = 20000};
  int status = 1;
  return command_run (&command, &status, NULL) && status == 0;
}

/* A package "adderdemo" as a wheel, written with nothing but Python's own zipfile; returns a requirements
 * file that names it by its path. */
static char *
write_wheel (const struct place *place)
{
  static const char code[] =
      "import sys, zipfile\n"
      "with zipfile.ZipFile(sys.argv[1], 'w') as wheel:\n"
      "    info = 'adderdemo-1.0.dist-info/'\n"
      "    wheel.writestr('adderdemo.py', 'ANSWER = 42\\n')\n"
      "    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: adderdemo\\nVersion: 1.0\\n')\n"
      "    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: "
      "true\\nTag: "
      "py3-none-any\\n')\n"
      "    wheel.writestr(info + 'RECORD', 'adderdemo.py,,\\n' + info + 'METADATA,,\\n' + info + "
      "'WHEEL,,\\n' + info + "
      "'RECORD,,\\n')\n";
  g_autofree char *wheel = g_build_filename (place->root, "adderdemo-1.0-py3-none-any.whl", NULL);
  const char *const argv[] = {"/usr/bin/python3", "-I", "-c", code, wheel, NULL};
  struct command command = {.argv = argv, .timeout_ms = 20000};
  int status = 1;
  g_assert_true (command_run (&command, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  g_autofree char *text = g_strdup_printf ("%s\n", wheel);
  return write_file (place->root, "requirements.txt", text, 0644);
}

static void
assert_no_folder (const struct place *place, const char *name)
{
  g_autofree char *path = g_build_filename (place->environments, name, NULL);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_create (struct place *place, gconstpointer data)
{
  (void)data;
  if (!python_can_make_venvs ()) {
    g_test_skip ("/usr/bin/python3 cannot make virtual environments: python3-venv is missing");
    return;
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *requirements = write_wheel (place);
  const char *const modules[] = {"json", "adderdemo", NULL};
  struct environment_recipe recipe = {.name = "made", .requirements = requirements, .modules = modules};
  g_autofree char *log = g_build_filename (place->root, "log", NULL);
  FILE *progress = fopen (log, "we");
  mode_t mask = umask (077);
  gboolean created = environment_create (&recipe, progress, &error);
  umask (mask);
  fclose (progress);
  g_assert_no_error (error);
  g_assert_true (created);
  g_autofree char *said = NULL;
  g_assert_true (g_file_get_contents (log, &said, NULL, NULL));
  g_assert_nonnull (strstr (said, "environment made is ready"));

  struct environment *environment = environment_find ("made", &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_suffix (environment->python, "/made/venv/bin/python"));
  g_assert_cmpstr (environment->modules[1], ==, "adderdemo");
  g_autofree char *venv = g_build_filename (environment->directory, "venv", NULL);
  g_assert_true (g_strv_contains ((const char *const *)environment->roots, venv));

  /* Readable to all in spite of the umask, and compiled ahead. */
  static const char code[] = "import adderdemo, os, stat, sys\n"
                             "assert os.path.exists(adderdemo.__cached__), adderdemo.__cached__\n"
                             "for path in [adderdemo.__file__, sys.argv[1], sys.prefix]:\n"
                             "    assert os.stat(path).st_mode & stat.S_IROTH, path\n";
  g_autofree char *manifest = g_build_filename (environment->directory, "environment.conf", NULL);
  const char *const argv[] = {environment->python, "-I", "-B", "-c", code, manifest, NULL};
  struct command command = {.argv = argv, .timeout_ms = 20000};
  int status = 1;
  g_assert_true (command_run (&command, &status, NULL));
  g_assert_cmpint (status, ==, 0);

  json_t *object = environment_describe (environment, &error);
  g_assert_no_error (error);
  g_autofree char *described = json_dumps (object, JSON_COMPACT);
  g_assert_nonnull (strstr (described, "{\"name\":\"adderdemo\",\"version\":\"1.0\"}"));
  json_decref (object);

  /* It notices what is installed and removed. */
  g_autofree char *before = environment_fingerprint (environment);
  g_autofree char *same = environment_fingerprint (environment);
  g_assert_cmpstr (before, ==, same);
  g_autofree char *site = g_strdup_printf ("%s/lib/python%.4s/site-packages", venv, environment->version);
  g_free (write_file (site, "further.py", "", 0644));
  g_autofree char *after = environment_fingerprint (environment);
  g_assert_cmpstr (before, !=, after);

  g_assert_false (environment_create (&recipe, NULL, &error));
  assert_error (&error, ADDER_ERROR_INVALID, "there is an environment made already");
  g_assert_true (environment_remove ("made", &error));
  assert_no_folder (place, "made");
  environment_free (environment);
}

static void
test_create_fails_whole (struct place *place, gconstpointer data)
{
  (void)data;
  if (!python_can_make_venvs ()) {
    g_test_skip ("/usr/bin/python3 cannot make virtual environments: python3-venv is missing");
    return;
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *requirements =
      write_file (place->root, "bad.txt", "/nowhere/absent-1.0-py3-none-any.whl\n", 0644);
  struct environment_recipe recipe = {.name = "half", .requirements = requirements};
  g_assert_false (environment_create (&recipe, NULL, &error));
  assert_error (&error, ADDER_ERROR_FAILED, "/nowhere/absent-1.0-py3-none-any.whl");
  assert_no_folder (place, "half");

  const char *const modules[] = {"absent_module", NULL};
  struct environment_recipe adopting = {.name = "half", .python = "/usr/bin/python3", .modules = modules};
  g_assert_false (environment_create (&adopting, NULL, &error));
  assert_error (&error, ADDER_ERROR_FAILED, "No module named 'absent_module'");
  assert_no_folder (place, "half");
}

static void
test_create_refused (struct place *place, gconstpointer data)
{
  (void)place;
  (void)data;
  const char *const bad_modules[] = {"os; print(1)", NULL};
  const struct {
    struct environment_recipe recipe;
    int code;
    const char *says;
  } rows[] = {
      {{.name = "../x"}, ADDER_ERROR_INVALID, "cannot be the name"},
      {{.name = NULL}, ADDER_ERROR_INVALID, "cannot be the name"},
      {{.name = "system"}, ADDER_ERROR_INVALID, "cannot be made"},
      {{.name = "shell"}, ADDER_ERROR_INVALID, "is the host's shell as it is"},
      {{.name = "x", .python = "no-such-python"}, ADDER_ERROR_NOT_FOUND, "no interpreter no-such-python"},
      {{.name = "x", .python = "/usr"}, ADDER_ERROR_NOT_FOUND, "no interpreter /usr"},
      {{.name = "x", .requirements = "/nowhere.txt"}, ADDER_ERROR_NOT_FOUND, "/nowhere.txt"},
      {{.name = "x", .python = "/nowhere/python"}, ADDER_ERROR_NOT_FOUND, "/nowhere/python"},
      {{.name = "x", .python = "/bin/false"}, ADDER_ERROR_UNSUPPORTED, "/bin/false"},
      {{.name = "x", .python = "/usr/bin/python3", .modules = bad_modules},
       ADDER_ERROR_INVALID,
       "name of a module"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (environment_create (&rows[i].recipe, NULL, &error));
    assert_error (&error, rows[i].code, rows[i].says);
  }
}

/* An interpreter that does its part of each step as ARMS says, and leaves the rest to Python. */
static char *
write_python (const struct place *place, const char *name, const char *arms)
{
  g_autofree char *text = g_strdup_printf (
      "#!/bin/sh\n"
      "case \"$*\" in\n"
      "%s"
      "*'import venv, ensurepip'*) exit 0 ;;\n"
      "*'-m venv '*) for venv; do :; done; mkdir -p \"$venv/bin\" && cp \"$0\" \"$venv/bin/python\"; exit "
      ";;\n"
      "*'-m pip '*|*'-m compileall '*|*matplotlib*) exit 0 ;;\n"
      "esac\n"
      "/usr/bin/python3 \"$@\" | sed 's|\"executable\": *\"[^\"]*\"|\"executable\": \"'\"$0\"'\"|'\n",
      arms);
  return write_file (place->root, name, text, 0755);
}

/* Whichever step fails, its own words say why, and nothing is left. */
static void
test_failing_steps (struct place *place, gconstpointer data)
{
  (void)data;
  static const struct {
    const char *arms;
    int code;
    const char *says;
  } rows[] = {
      {"*'import venv, ensurepip'*) exit 1 ;;\n", ADDER_ERROR_UNSUPPORTED,
       "cannot make virtual environments: its module venv or ensurepip is missing"},
      {"*'-m venv '*) echo; echo 'the disk is full' >&2; exit 1 ;;\n", ADDER_ERROR_FAILED,
       "cannot make a virtual environment: the disk is full"},
      {"*'-m pip '*) echo 'noise'; echo 'ERROR: no such package'; echo '  more' >&2; exit 1 ;;\n",
       ADDER_ERROR_FAILED, "wanted.txt: no such package"},
      {"*'-m pip '*) echo 'noise' >&2; exit 1 ;;\n", ADDER_ERROR_FAILED,
       "wanted.txt: it ended without a word"},
      {"*'-c import json') echo 'first' >&2; echo 'the last line' >&2; exit 1 ;;\n", ADDER_ERROR_FAILED,
       "cannot load json ahead: the last line"},
  };
  const char *const modules[] = {"json", NULL};
  g_autofree char *requirements = write_file (place->root, "wanted.txt", "adderdemo\n", 0644);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strdup_printf ("python-%zu", i);
    g_autofree char *python = write_python (place, name, rows[i].arms);
    const struct environment_recipe recipe = {
        .name = "made", .python = python, .requirements = requirements, .modules = modules};
    g_assert_false (environment_create (&recipe, NULL, &error));
    assert_error (&error, rows[i].code, rows[i].says);
    assert_no_folder (place, "made");
  }
}

/* Each package is told as it comes; a list with a digest must have all of them; what libraries prepare is
 * kept. */
static void
test_told_steps (struct place *place, gconstpointer data)
{
  (void)data;
  static const char arms[] =
      "*'-m pip '*--require-hashes*) echo 'Collecting adderdemo==1.0 (from -r wanted.txt)'; exit 0 ;;\n"
      "*'-m pip '*) exit 1 ;;\n"
      "*matplotlib*) touch \"$MPLCONFIGDIR/fontlist.json\"; exit 0 ;;\n";
  g_autoptr (GError) error = NULL;
  g_autofree char *python = write_python (place, "python", arms);
  g_autofree char *requirements =
      write_file (place->root, "wanted.txt", "adderdemo==1.0 --hash=sha256:00\n", 0644);
  g_autofree char *log = g_build_filename (place->root, "log", NULL);
  const struct environment_recipe recipe = {.name = "told", .python = python, .requirements = requirements};
  FILE *progress = fopen (log, "we");
  gboolean created = environment_create (&recipe, progress, &error);
  fclose (progress);
  g_assert_no_error (error);
  g_assert_true (created);
  static const char *const lines[] = {"\n  adderdemo==1.0\n", "\n1 packages installed\n",
                                      "\nlist of fonts made\n", "environment told is ready"};
  g_autofree char *said = NULL;
  g_assert_true (g_file_get_contents (log, &said, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    g_assert_nonnull (strstr (said, lines[i]));
  g_autofree char *copy = g_build_filename (place->environments, "told", "requirements.txt", NULL);
  g_autofree char *kept = NULL;
  g_assert_true (g_file_get_contents (copy, &kept, NULL, NULL));
  g_assert_cmpstr (kept, ==, "adderdemo==1.0 --hash=sha256:00\n");
  g_assert_true (environment_remove ("told", &error));
  assert_no_folder (place, "told");
}

static void
test_adopt (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  struct environment_recipe recipe = {.name = "mine", .python = "/usr/bin/python3"};
  g_assert_true (environment_create (&recipe, NULL, &error));
  g_assert_no_error (error);
  struct environment *environment = environment_find ("mine", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (environment->python, ==, "/usr/bin/python3");
  g_autofree char *venv = g_build_filename (place->environments, "mine", "venv", NULL);
  g_assert_false (g_file_test (venv, G_FILE_TEST_EXISTS));
  environment_free (environment);
  g_assert_true (environment_remove ("mine", &error));
  assert_no_folder (place, "mine");
  g_assert_true (g_file_test ("/usr/bin/python3", G_FILE_TEST_EXISTS));
}

/* What a crash leaves is not an environment, can be removed, and is cleared away by the next maker; what
 * another program is at work on is left alone. */
static void
test_left_by_crash (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  struct environment_recipe recipe = {.name = "mine", .python = "/usr/bin/python3"};
  g_autofree char *folder = g_build_filename (place->environments, "mine", NULL);
  g_autofree char *left = write_file (folder, "venv/deep/down/file", "x", 0644);
  g_assert_null (environment_find ("mine", &error));
  assert_error (&error, ADDER_ERROR_NOT_FOUND, "no environment \"mine\"");

  autoclose int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (flock (fd, LOCK_EX), ==, 0);
  g_assert_false (environment_create (&recipe, NULL, &error));
  assert_error (&error, ADDER_ERROR_BUSY, "by another program");
  g_assert_false (environment_remove ("mine", &error));
  assert_error (&error, ADDER_ERROR_BUSY, "by another program");
  fd_close (&fd);

  g_assert_true (environment_create (&recipe, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (g_file_test (left, G_FILE_TEST_EXISTS));
  g_assert_true (environment_remove ("mine", &error));

  g_free (write_file (folder, "venv/file", "x", 0644));
  g_assert_true (environment_remove ("mine", &error));
  assert_no_folder (place, "mine");
  g_assert_false (environment_remove ("mine", &error));
  assert_error (&error, ADDER_ERROR_NOT_FOUND, "no environment \"mine\"");
  g_assert_false (environment_remove ("system", &error));
  assert_error (&error, ADDER_ERROR_INVALID, "stays");
  g_assert_false (environment_remove ("shell", &error));
  assert_error (&error, ADDER_ERROR_INVALID, "stays");
  g_assert_false (environment_remove ("../mine", &error));
  assert_error (&error, ADDER_ERROR_NOT_FOUND, "no environment");
}

/* Removing follows no links: what they lead to stays. */
static void
test_remove_follows_no_links (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autofree char *kept = write_file (place->root, "kept/file", "x", 0644);
  g_autofree char *target = g_path_get_dirname (kept);
  g_autofree char *folder = g_build_filename (place->environments, "mine", NULL);
  g_autofree char *link = g_build_filename (folder, "link", NULL);
  g_assert_cmpint (g_mkdir (folder, 0755), ==, 0);
  g_assert_cmpint (symlink (target, link), ==, 0);
  g_assert_true (environment_remove ("mine", &error));
  g_assert_true (g_file_test (kept, G_FILE_TEST_EXISTS));
}

UNIT_SUITE (environment_create)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function)                                                                                  \
  g_test_add ("/environment/" path, struct place, NULL, place_set_up, function, place_tear_down)
  ADD ("create", test_create);
  ADD ("create-fails-whole", test_create_fails_whole);
  ADD ("create-refused", test_create_refused);
  ADD ("failing-steps", test_failing_steps);
  ADD ("told-steps", test_told_steps);
  ADD ("adopt", test_adopt);
  ADD ("left-by-crash", test_left_by_crash);
  ADD ("remove-follows-no-links", test_remove_follows_no_links);
  return g_test_run ();
}
