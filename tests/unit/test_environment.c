/* SPDX-License-Identifier: Apache-2.0 */
/* Environments against made-up interpreters (shell scripts that answer as Python would) and the host's own
 * python3. */
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "engine/host/environment.h"
#include "engine/host/environment_with_private.h"
#include "environment_place.h"
#include "suite.h"

/* A program that says what ANSWER, a JSON object, says. */
static char *
write_interpreter (const struct place *place, const char *name, const char *answer)
{
  g_autofree char *script = g_strdup_printf ("#!/bin/sh\ncat <<'END'\n%s\nEND\n", answer);
  return write_file (place->root, name, script, 0755);
}

/* As the interpreter's answer would be, with PREFIX for all prefixes and what is below it. */
static char *
answer_for (const char *executable, const char *prefix, const char *change)
{
  return g_strdup_printf (
      "{\"executable\": \"%s\", \"implementation\": \"CPython\", \"version\": \"3.12.1\", \"minor\": 12,"
      " \"free_threaded\": false, \"prefixes\": [\"%s\", \"%s\", \"%s\", \"%s\"],"
      " \"needed\": [\"%s/lib/python3.12\"], \"packages\": [\"%s/lib/python3.12/site-packages\"],"
      " \"wanted\": [\"/\", \"/nowhere\"] %s}",
      executable, prefix, prefix, prefix, prefix, prefix, prefix, change);
}

static void
write_manifest (const struct place *place, const char *name, const char *text)
{
  g_autofree char *file = g_build_filename (name, "environment.conf", NULL);
  g_free (write_file (place->environments, file, text, 0644));
}

/* ---- finding ---- */

static void
test_names (void)
{
  const char *const clean[] = {"science", "a", "0", "my-env_2"};
  const char *const unclean[] = {"", "-a", "_a", "A", "a/b", "..", "a b", "ä", "a.b"};
  for (gsize i = 0; i < G_N_ELEMENTS (clean); i++)
    g_assert_true (environment_name_is_clean (clean[i]));
  for (gsize i = 0; i < G_N_ELEMENTS (unclean); i++)
    g_assert_false (environment_name_is_clean (unclean[i]));
  g_autofree char *longest = g_strnfill (64, 'x');
  g_autofree char *longer = g_strnfill (65, 'x');
  g_assert_true (environment_name_is_clean (longest));
  g_assert_false (environment_name_is_clean (longer));

  g_assert_true (environment_module_is_clean ("matplotlib.pyplot"));
  const char *const unclean_modules[] = {"", ".", "a.", ".a", "a..b", "1a", "a;b", "a b", "a,b", "os\n"};
  for (gsize i = 0; i < G_N_ELEMENTS (unclean_modules); i++)
    g_assert_false (environment_module_is_clean (unclean_modules[i]));
}

static void
test_system (struct place *place, gconstpointer data)
{
  (void)place;
  (void)data;
  g_autoptr (GError) error = NULL;
  struct environment *environment = environment_find ("system", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (environment->python, ==, "/usr/bin/python3");
  g_assert_null (environment->directory);
  g_assert_null (environment->cache);
  g_assert_cmpint (g_strv_length (environment->modules), ==, 0);
  g_assert_true (g_str_has_prefix (environment->version, "3."));
  g_assert_cmpstr (environment->roots[0], ==, "/usr");
  for (gsize i = 1; environment->roots[i]; i++)
    g_assert_false (g_str_has_prefix (environment->roots[i], "/usr/"));

  json_t *object = environment_describe (environment, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (json_string_value (json_object_get (object, "name")), ==, "system");
  g_assert_true (json_is_null (json_object_get (object, "directory")));
  g_assert_true (json_is_array (json_object_get (object, "packages")));
  g_assert_true (json_is_boolean (json_object_get (object, "ipython")));
  json_decref (object);
  environment_free (environment);
}

/* By the names of what installers leave: nothing is run, and what is no such name is no package. */
static void
test_packages (struct place *place, gconstpointer data)
{
  (void)data;
  static const char *const entries[] = {"IPython-8.5.0.dist-info/METADATA",
                                        "PyYAML-6.0-py3.12.egg-info/PKG-INFO", "pip-23.0.dist-info/METADATA",
                                        "an order to you-1.dist-info/METADATA", "module.py"};
  for (gsize i = 0; i < G_N_ELEMENTS (entries); i++)
    g_free (write_file (place->root, entries[i], "", 0644));
  char *none[] = {NULL}, *packages[] = {place->root, (char *)"/nowhere", NULL};
  g_autofree char *python = write_file (place->root, "python", "#!/bin/sh\nexit 1\n", 0755);
  const struct environment environment = {.name = (char *)"own",
                                          .python = python,
                                          .version = (char *)"3.12.1",
                                          .modules = none,
                                          .roots = none,
                                          .packages = packages};
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) described = environment_describe (&environment, &error);
  g_assert_no_error (error);
  g_assert_true (json_is_true (json_object_get (described, "ipython")));
  g_autofree char *text = json_dumps (json_object_get (described, "packages"), JSON_COMPACT);
  g_assert_cmpstr (text, ==,
                   "[{\"name\":\"ipython\",\"version\":\"8.5.0\"},"
                   "{\"name\":\"pyyaml\",\"version\":\"6.0\"}]");

  const struct environment shell = {.name = (char *)"shell", .shell = TRUE};
  g_assert_null (environment_describe (&shell, &error));
  assert_error (&error, ADDER_ERROR_UNSUPPORTED, "the environment shell is no Python");
}

static void
test_not_found (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  write_manifest (place, "one", "[environment]\npython=/usr/bin/python3\n");
  g_assert_null (environment_find ("other", &error));
  assert_error (&error, ADDER_ERROR_NOT_FOUND, "one, system; \"adder env new other\"");
  g_assert_null (environment_find ("../one", &error));
  assert_error (&error, ADDER_ERROR_NOT_FOUND, "there is no environment \"../one\", only one, system");
}

static void
test_manifest (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  write_manifest (place, "good", "[environment]\npython=/usr/bin/python3\nmodules=json;os.path;\n");
  g_autofree char *cache = g_build_filename (place->environments, "good", "cache", NULL);
  g_assert_cmpint (g_mkdir (cache, 0755), ==, 0);
  struct environment *environment = environment_find ("good", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (environment->modules[0], ==, "json");
  g_assert_cmpstr (environment->modules[1], ==, "os.path");
  g_assert_null (environment->modules[2]);
  g_assert_cmpstr (environment->cache, ==, cache);
  environment_free (environment);

  static const struct {
    const char *text, *says;
  } bad[] = {
      {"not a key file", "cannot read"},
      {"[environment]\nmodules=json;\n", "absolute path of an interpreter"},
      {"[environment]\npython=python3\n", "absolute path of an interpreter"},
      {"[environment]\npython=/nowhere/python\n", "cannot run /nowhere/python"},
      {"[environment]\npython=/usr/bin/python3\nmodule=json\n", "unknown key, module"},
      {"[environment]\npython=/usr/bin/python3\nmodules=json;a b;\n", "\"a b\" in modules"},
      {"[environment]\npython=/bin/false\n", "leads to no CPython 3.9 or later"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    write_manifest (place, "bad", bad[i].text);
    g_assert_null (environment_find ("bad", &error));
    assert_error (&error, ADDER_ERROR_UNSUPPORTED, bad[i].says);
  }

  g_autoptr (GPtrArray) list = environment_list ();
  g_assert_cmpuint (list->len, ==, 2);
  g_assert_cmpstr (((struct environment *)list->pdata[0])->name, ==, "good");
  g_assert_cmpstr (((struct environment *)list->pdata[1])->name, ==, "system");
}

/* ---- what the interpreter says ---- */

static void
test_unusable (struct place *place, gconstpointer data)
{
  (void)data;
  static const struct {
    const char *change, *says;
  } rows[] = {
      {", \"implementation\": \"PyPy\"", "needs CPython"},
      {", \"minor\": 8, \"version\": \"3.8.18\"", "it is Python 3.8.18"},
      {", \"free_threaded\": true", "free-threaded"},
      {", \"executable\": \"\"", "its version and path"},
      {", \"executable\": \"python\"", "its version and path"},
      {", \"executable\": null", "its version and path"},
      {", \"implementation\": null", "its version and path"},
      {", \"version\": 3", "its version and path"},
      {", \"needed\": [\"/home\"]", "it needs /home"},
      {", \"needed\": [\"/tmp\"]", "a /tmp of its own"},
      {", \"packages\": [\"/etc\"]", "more than the interpreter"},
  };
  g_autofree char *prefix = g_build_filename (place->root, "prefix", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strdup_printf ("python%zu", i);
    g_autofree char *whole = answer_for ("/usr/bin/python3", prefix, "");
    /* A key may stand only once: the one to change is taken out first. */
    json_t *answer = json_loads (whole, 0, NULL);
    g_autofree char *text = g_strdup_printf ("{%s}", rows[i].change + 1);
    json_t *change = json_loads (text, 0, NULL);
    json_object_update (answer, change);
    g_autofree char *changed = json_dumps (answer, 0);
    g_autofree char *python = write_interpreter (place, name, changed);
    g_assert_null (facts_ask (python, &error));
    assert_error (&error, ADDER_ERROR_UNSUPPORTED, rows[i].says);
    json_decref (answer);
    json_decref (change);
  }
}

static void
test_roots (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = g_build_filename (place->root, "prefix", NULL);
  g_autofree char *link = g_build_filename (place->root, "link", NULL);
  g_free (write_file (prefix, "lib/python3.12/site-packages/one.py", "", 0644));
  g_assert_cmpint (symlink (prefix, link), ==, 0);
  g_autofree char *answer = answer_for ("/usr/bin/python3", link, "");
  g_autofree char *python = write_interpreter (place, "python", answer);
  struct facts *facts = facts_ask (python, &error);
  g_assert_no_error (error);
  /* Shown by the name that the interpreter knows and by the one that it leads to; "/" is never shown. */
  g_assert_true (g_strv_contains ((const char *const *)facts->roots, link));
  g_assert_true (g_strv_contains ((const char *const *)facts->roots, prefix));
  g_assert_cmpstr (facts->roots[0], ==, "/usr");
  for (gsize i = 0; facts->roots[i]; i++)
    g_assert_cmpstr (facts->roots[i], !=, "/");
  facts_free (facts);
}

/* What holds others stands for them; what is no path is nothing. */
static void
test_wider_root (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = g_build_filename (place->root, "wide", "prefix", NULL);
  g_autofree char *wide = g_path_get_dirname (prefix);
  g_free (write_file (prefix, "lib/python3.12/site-packages/one.py", "", 0644));
  g_autofree char *whole = answer_for ("/usr/bin/python3", prefix, "");
  g_autoptr (json_t) answer = json_loads (whole, 0, NULL);
  json_object_set_new (answer, "wanted", json_pack ("[i, s, n, s]", 1, "relative", wide));
  g_autofree char *text = json_to_text (answer);
  g_autofree char *python = write_interpreter (place, "python", text);
  struct facts *facts = facts_ask (python, &error);
  g_assert_no_error (error);
  g_assert_true (g_strv_contains ((const char *const *)facts->roots, wide));
  g_assert_false (g_strv_contains ((const char *const *)facts->roots, prefix));
  g_assert_false (g_strv_contains ((const char *const *)facts->roots, "relative"));
  facts_free (facts);
}

static void
test_other_programs (struct place *place, gconstpointer data)
{
  (void)data;
  static const struct {
    const char *script, *says;
  } rows[] = {
      {"exit 0", "it said nothing"},
      {"echo 'usage: other' >&2; exit 2", "does not answer as Python 3.9 or later does: usage: other"},
      {"printf '%1000s' x >&2; exit 1", "it is some other program"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strdup_printf ("python%zu", i);
    g_autofree char *script = g_strdup_printf ("#!/bin/sh\n%s\n", rows[i].script);
    g_autofree char *python = write_file (place->root, name, script, 0755);
    g_assert_null (facts_ask (python, &error));
    assert_error (&error, ADDER_ERROR_UNSUPPORTED, rows[i].says);
  }
}

static void
test_home_prefix (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  /* A Python with --prefix=$HOME: its libraries are shown, the home directory is not. */
  g_free (write_file (place->root, "lib/python3.12/site-packages/one.py", "", 0644));
  g_autofree char *home = g_strdup (g_get_home_dir ());
  g_autofree char *answer = answer_for ("/usr/bin/python3", place->root, "");
  g_autofree char *python = write_interpreter (place, "python", answer);
  if (g_test_subprocess ()) {
    struct facts *facts = facts_ask (g_getenv ("TEST_PYTHON"), &error);
    g_assert_no_error (error);
    g_assert_false (g_strv_contains ((const char *const *)facts->roots, g_get_home_dir ()));
    g_autofree char *library = g_build_filename (g_get_home_dir (), "lib/python3.12", NULL);
    g_assert_true (g_strv_contains ((const char *const *)facts->roots, library));
    facts_free (facts);
    return;
  }
  /* GLib remembers the home directory, so another process has to ask. */
  g_setenv ("HOME", place->root, TRUE);
  g_setenv ("TEST_PYTHON", python, TRUE);
  g_test_trap_subprocess (NULL, 20 * G_USEC_PER_SEC, 0);
  g_setenv ("HOME", home, TRUE);
  g_test_trap_assert_passed ();
}

/* A manifest with what PYTHON, of VERSION, said of itself when the environment was made. */
static void
write_told (const struct place *place, const char *name, const char *python, const char *version,
            const char *prefix)
{
  g_autofree char *text =
      g_strdup_printf ("[environment]\npython=%s\nversion=%s\nroots=/usr;%s;\n"
                       "packages=%s/lib/python3.12/site-packages;\nstamp=0123456789abcdef\n",
                       python, version, prefix, prefix);
  write_manifest (place, name, text);
}

/* What was told once holds, whatever the interpreter would say now: it is not run. */
static void
test_told_once (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = g_build_filename (place->root, "prefix", NULL);
  g_autofree char *mark = g_build_filename (place->root, "mark", NULL);
  g_autofree char *script = g_strdup_printf ("#!/bin/sh\ntouch %s\n", mark);
  g_autofree char *python = write_file (prefix, "bin/python", script, 0755);
  g_free (write_file (prefix, "lib/python3.12/site-packages/one-1.0.dist-info/METADATA", "", 0644));
  write_told (place, "told", python, "3.12.1", prefix);
  for (int i = 0; i < 3; i++) {
    struct environment *environment = environment_find ("told", &error);
    g_assert_no_error (error);
    g_assert_cmpstr (environment->python, ==, python);
    g_assert_cmpstr (environment->version, ==, "3.12.1");
    g_assert_cmpstr (environment->roots[1], ==, prefix);
    g_autoptr (json_t) described = environment_describe (environment, &error);
    g_assert_cmpuint (json_array_size (json_object_get (described, "packages")), ==, 1);
    g_autofree char *before = environment_fingerprint (environment);
    g_autofree char *name = g_strdup_printf ("lib/python3.12/site-packages/more%d.py", i);
    g_free (write_file (prefix, name, "", 0644));
    g_autofree char *after = environment_fingerprint (environment);
    g_assert_cmpstr (before, !=, after);
    environment_free (environment);
  }
  g_autoptr (GPtrArray) all = environment_list ();
  g_assert_cmpuint (all->len, ==, 2);
  g_assert_false (g_file_test (mark, G_FILE_TEST_EXISTS));
}

/* It holds for the interpreter that told it. Of another one, names say what it needs. */
static void
test_told_of_another (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = g_build_filename (place->root, "prefix", NULL);
  g_autofree char *elsewhere = g_build_filename (place->root, "elsewhere", NULL);
  g_autofree char *newer = write_file (prefix, "bin/python3.13", "", 0755);
  g_autofree char *moved = write_file (elsewhere, "bin/python3.12", "", 0755);
  g_free (write_file (prefix, "lib/python3.13/site-packages/one.py", "", 0644));
  g_free (write_file (elsewhere, "lib/python3.12/os.py", "", 0644));
  const struct {
    const char *python, *version, *root;
  } rows[] = {{newer, "3.13", prefix}, {moved, "3.12", elsewhere}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    write_told (place, "told", rows[i].python, "3.12.1", prefix);
    struct environment *environment = environment_find ("told", &error);
    g_assert_no_error (error);
    g_assert_cmpstr (environment->version, ==, rows[i].version);
    g_assert_cmpstr (environment->roots[g_strv_length (environment->roots) - 1], ==, rows[i].root);
    environment_free (environment);
  }
}

/* A root that has become a link to somewhere else is not followed. */
static void
test_root_that_leads_elsewhere (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = g_build_filename (place->root, "prefix", NULL);
  g_free (write_file (place->root, "secret/bin/python3.12", "", 0755));
  g_autofree char *python = g_build_filename (prefix, "bin/python3.12", NULL);
  g_autofree char *home = g_build_filename (place->root, "secret", NULL);
  g_assert_cmpint (symlink (home, prefix), ==, 0);
  write_told (place, "told", python, "3.12.1", prefix);
  g_assert_null (environment_find ("told", &error));
  assert_error (&error, ADDER_ERROR_UNSUPPORTED, "which it did not when it was made");
}

static gboolean
is_place (GPtrArray *places, const char *environment, const char *path)
{
  for (guint i = 0; i < places->len; i++) {
    const struct environment_place *place = places->pdata[i];
    if (g_strcmp0 (place->environment, environment) == 0 && strcmp (place->path, path) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Also of an environment whose interpreter is not there now. What all Pythons share is the system's. */
static void
test_places (struct place *place, gconstpointer data)
{
  (void)data;
  g_autofree char *prefix = g_build_filename (place->root, "prefix", NULL);
  g_autofree char *python = g_build_filename (place->root, "elsewhere/bin/python", NULL);
  g_autofree char *elsewhere = g_build_filename (place->root, "elsewhere", NULL);
  g_autofree char *packages = g_build_filename (prefix, "lib/python3.12/site-packages", NULL);
  write_told (place, "told", python, "3.12.1", prefix);
  write_manifest (place, "broken", "no key file");
  g_autoptr (GPtrArray) places = environment_places ();
  g_assert_true (is_place (places, NULL, place->environments));
  g_assert_true (is_place (places, "told", prefix));
  g_assert_false (is_place (places, "told", packages)); /* it is below the other */
  g_assert_true (is_place (places, "told", elsewhere));
  g_assert_true (is_place (places, "system", "/usr/local/lib"));
  g_assert_false (is_place (places, "told", "/usr"));
}

static gpointer
find_often (gpointer data)
{
  for (int i = 0; i < 40; i++) {
    g_autoptr (GError) error = NULL;
    struct environment *environment = environment_find (data, &error);
    g_assert_no_error (error);
    g_autofree char *fingerprint = environment_fingerprint (environment);
    g_assert_cmpuint (strlen (fingerprint), >, 16);
    environment_free (environment);
  }
  return NULL;
}

/* Many runs start at once, while packages are being installed. */
static void
test_threads (struct place *place, gconstpointer data)
{
  (void)data;
  g_autofree char *prefix = g_build_filename (place->root, "prefix", NULL);
  g_free (write_file (prefix, "lib/python3.12/site-packages/one.py", "", 0644));
  g_autofree char *python = write_file (prefix, "bin/python3.12", "", 0755);
  g_autofree char *manifest = g_strdup_printf ("[environment]\npython=%s\n", python);
  write_manifest (place, "many", manifest);
  GThread *threads[4];
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("finder", find_often, (gpointer) "many");
  for (int i = 0; i < 5; i++) {
    g_autofree char *name = g_strdup_printf ("lib/python3.12/site-packages/more%d.py", i);
    g_free (write_file (prefix, name, "", 0644));
    g_usleep (10 * 1000);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

static void
test_deadline (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autofree char *program = write_file (place->root, "slow", "#!/bin/sh\nexec sleep 60\n", 0755);
  const char *const argv[] = {program, NULL};
  struct command command = {.argv = argv, .timeout_ms = 100};
  int status = -1;
  g_assert_false (command_run (&command, &status, &error));
  assert_error (&error, ADDER_ERROR_FAILED, "did not end within");
  g_assert_cmpint (status, ==, -1);
}

static void
collect (const char *line, gboolean from_stderr, gpointer data)
{
  g_string_append_printf (data, "%s%s|", from_stderr ? "!" : "", line);
}

static void
test_command_environment (struct place *place, gconstpointer data)
{
  (void)data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) lines = g_string_new (NULL);
  g_autofree char *program =
      write_file (place->root, "show",
                  "#!/bin/sh\necho \"$PYTHONPATH,$PIP_TARGET,$PIP_PROXY,$MINE,$(pwd),$(umask)\"\nprintf 'no "
                  "end' >&2\ncat\nexit 3\n",
                  0755);
  g_setenv ("PYTHONPATH", "/leak", TRUE);
  g_setenv ("PIP_TARGET", "/leak", TRUE);
  g_setenv ("PIP_PROXY", "proxy", TRUE);
  const char *const argv[] = {program, NULL};
  const char *const settings[] = {"MINE=a=b", NULL};
  struct command command = {
      .argv = argv, .settings = settings, .timeout_ms = 10000, .line = collect, .data = lines};
  int status = -1;
  g_assert_true (command_run (&command, &status, &error));
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 3);
  g_assert_nonnull (strstr (lines->str, ",,proxy,a=b,/,0022|"));
  g_assert_nonnull (strstr (lines->str, "!no end|"));
  g_unsetenv ("PYTHONPATH");
  g_unsetenv ("PIP_TARGET");
  g_unsetenv ("PIP_PROXY");
}

/* One whose turn did not come takes nobody along who asks for the same before it has said so. */
static void
test_given_up (void)
{
  const struct making_bounds bounds = {.most = 0, .of_owner = 1, .waiting = 1, .wait_ms = 1};
  struct making *makings[2];
  int heard[G_N_ELEMENTS (makings)];
  for (gsize i = 0; i < G_N_ELEMENTS (makings); i++) {
    g_autoptr (GError) error = NULL;
    gboolean listens;
    int ends[2];
    g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), ==, 0);
    heard[i] = ends[0];
    makings[i] = making_begin ("given-up", "uid:1", &bounds, ends[1], &listens, &error);
    g_assert_no_error (error);
    g_assert_true (makings[i] && listens);
    g_assert_false (making_await_turn (makings[i], &bounds, "p", &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (makings); i++) {
    making_end (makings[i], "f");
    close (heard[i]);
  }
}

UNIT_SUITE (environment)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/environment/names", test_names);
  g_test_add_func ("/environment/given-up", test_given_up);
#define ADD(path, function)                                                                                  \
  g_test_add ("/environment/" path, struct place, NULL, place_set_up, function, place_tear_down)
  ADD ("system", test_system);
  ADD ("packages", test_packages);
  ADD ("not-found", test_not_found);
  ADD ("manifest", test_manifest);
  ADD ("unusable", test_unusable);
  ADD ("roots", test_roots);
  ADD ("wider-root", test_wider_root);
  ADD ("other-programs", test_other_programs);
  ADD ("home-prefix", test_home_prefix);
  ADD ("told-once", test_told_once);
  ADD ("told-of-another", test_told_of_another);
  ADD ("root-that-leads-elsewhere", test_root_that_leads_elsewhere);
  ADD ("places", test_places);
  ADD ("threads", test_threads);
  ADD ("deadline", test_deadline);
  ADD ("command-environment", test_command_environment);
  return g_test_run ();
}
