/* SPDX-License-Identifier: Apache-2.0 */
/* adder.conf, profiles and the directories that they are found in. */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "common/config.h"
#include "common/json.h"
#include "common/paths.h"
#include "policy/profile_file.h"
#include "suite.h"

/* A configuration folder of its own for each test. */
struct place {
  char *folder, *file, *profiles;
};

static void
place_set_up (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  place->folder = g_dir_make_tmp ("adder-config-XXXXXX", NULL);
  place->file = g_build_filename (place->folder, "adder.conf", NULL);
  place->profiles = g_build_filename (place->folder, "profiles", NULL);
  g_assert_cmpint (g_mkdir (place->profiles, 0700), ==, 0);
  g_setenv ("ADDER_CONFIG_DIR", place->folder, TRUE);
}

static void
remove_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    g_remove (path);
  }
}

static void
place_tear_down (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  remove_files (place->profiles);
  g_rmdir (place->profiles);
  remove_files (place->folder);
  g_rmdir (place->folder);
  g_free (place->folder);
  g_free (place->file);
  g_free (place->profiles);
}

static void
write_file (const char *path, const char *text)
{
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

/* ---- adder.conf ---- */

static void
test_defaults (G_GNUC_UNUSED struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  struct config *config = config_load (NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (config->environment, ==, "science");
  g_assert_cmpstr (config->min_isolation, ==, "auto");
  g_assert_cmpstr (config->isolation, ==, "auto");
  g_assert_cmpuint (config->parked, ==, g_get_num_processors () + 2);
  g_assert_cmpuint (config->idle_exit_ms, ==, 600000);
  g_assert_false (config->log_code);
  g_assert_true (config->touch_ahead);
  g_assert_null (config->socket);
  g_assert_cmpuint (config_max_memory (config), >=, 2048u << 20);
  config_free (config);
}

static void
test_values (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  write_file (place->file, "# a comment\n[pool]\nparked = 3 \nqueue_wait_ms=1.5s\nmax_memory = "
                           "1.5G\n[log]\ncode = true\nlevel=debug\n"
                           "[daemon]\nsocket = /a b/c\nidle_exit_ms = 0\n");
  struct config *config = config_load (NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (config->parked, ==, 3);
  g_assert_cmpuint (config->queue_wait_ms, ==, 1500);
  g_assert_cmpuint (config_max_memory (config), ==, 1536u << 20);
  g_assert_cmpuint (config->idle_exit_ms, ==, 0);
  g_assert_true (config->log_code);
  g_assert_cmpstr (config->log_level, ==, "debug");
  g_autofree char *socket = config_socket (config, NULL);
  g_assert_cmpstr (socket, ==, "/a b/c");
  config_free (config);
}

struct bad {
  const char *text, *group, *key, *word;
};

static const struct bad bad_files[] = {
    {"[pool]\nparked = many\n", "[pool]", "parked", "many"},
    {"[pool]\nparked = 0\n", "[pool]", "parked", "1"},
    {"[pool]\nparked = 100000\n", "[pool]", "parked", "1024"},
    {"[pool]\nmax_memory = 1M\n", "[pool]", "max_memory", "64 MiB"},
    {"[pool]\nmax_memory = lots\n", "[pool]", "max_memory", "lots"},
    {"[pool]\nparked =\n", "[pool]", "parked", "number"},
    {"[pool]\nzygote_age_ms = 1ms\n", "[pool]", "zygote_age_ms", "1 s"},
    {"[pool]\nno_such_key = 1\n", "[pool]", "no_such_key", "no such key"},
    {"[no such group]\nx = 1\n", "[no such group]", "x", "no such key"},
    {"[sandbox]\nmin_isolation = 4\n", "[sandbox]", "min_isolation", "auto, 0, 1, 2, 3"},
    {"[sandbox]\nisolation = full\n", "[sandbox]", "isolation", "auto, none, process, namespaces"},
    {"[sandbox]\nroot_uid = 0\n", "[sandbox]", "root_uid", "1"},
    {"[sandbox]\nroot_uid = 4294967295\n", "[sandbox]", "root_uid", "4294967294"},
    {"[log]\ncode = yes\n", "[log]", "code", "true"},
    {"[log]\nlevel =\n", "[log]", "level", "none of"},
    {"[daemon]\nsocket = /a\\1\n", "[daemon]", "socket", "cannot be interpreted"},
    {"[daemon]\nsocket = adder.sock\n", "[daemon]", "socket", "absolute"},
    {"[environment]\ndefault =\n", "[environment]", "default", "empty"},
    {"no key file at all\n", "", "", "adder.conf"},
    {"[pool\nparked = 1\n", "", "", "adder.conf"},
};

static void
test_bad_files (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_files); i++) {
    const struct bad *row = &bad_files[i];
    g_autoptr (GError) error = NULL;
    write_file (place->file, row->text);
    g_assert_null (config_load (NULL, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, place->file));
    g_assert_nonnull (strstr (error->message, row->group));
    g_assert_nonnull (strstr (error->message, row->key));
    g_assert_nonnull (strstr (error->message, row->word));
    g_assert_null (strchr (error->message, '\n'));
  }
}

static void
test_named_file (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *other = g_build_filename (place->folder, "other.conf", NULL);
  g_assert_null (config_load (other, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, other));

  write_file (place->file, "[pool]\nparked = wrong\n");
  write_file (other, "[pool]\nparked = 5\n");
  struct config *config = config_load (other, NULL);
  g_assert_nonnull (config);
  g_assert_cmpuint (config->parked, ==, 5);
  config_free (config);
}

/* Text of a FILE-writing function, in memory. */
static char *
shown (const struct config *config, gboolean json)
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream (&text, &size);
  if (config)
    config_show (config, json, stream);
  else
    config_write_documentation (stream);
  fclose (stream);
  return text;
}

/* What is shown as text is a configuration that gives the same again. */
static void
test_show (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  write_file (place->file, "[pool]\nparked = 3\n");
  struct config *config = config_load (NULL, NULL);
  g_autofree char *text = shown (config, FALSE);
  g_assert_nonnull (strstr (text, "parked = 3\n"));
  g_assert_nonnull (strstr (text, place->file));
  g_autofree char *json = shown (config, TRUE);
  g_autoptr (json_t) object = json_parse_object (json, strlen (json), "the text", NULL);
  const json_t *parked = json_object_get (json_object_get (object, "pool"), "parked");
  g_assert_cmpint (json_integer_value (json_object_get (parked, "value")), ==, 3);
  g_assert_cmpstr (json_string_value (json_object_get (parked, "source")), ==, place->file);
  config_free (config);

  write_file (place->file, text);
  g_autoptr (GError) error = NULL;
  config = config_load (NULL, &error);
  g_assert_no_error (error);
  g_autofree char *again = shown (config, TRUE);
  g_autoptr (json_t) second = json_parse_object (again, strlen (again), "the text", NULL);
  parked = json_object_get (json_object_get (second, "pool"), "parked");
  g_assert_cmpint (json_integer_value (json_object_get (parked, "value")), ==, 3);
  config_free (config);
}

static void
test_documentation (G_GNUC_UNUSED struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *text = shown (NULL, FALSE);
  g_assert_nonnull (strstr (text, "| `parked` |"));
  for (int i = 0; i < LIMIT_COUNT; i++)
    g_assert_nonnull (strstr (text, limit_table[i].name));
}

/* ---- profiles ---- */

static void
write_profile (const struct place *place, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (place->profiles, name, NULL);
  write_file (path, text);
}

static void
test_standard_profile (G_GNUC_UNUSED struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  struct profile *profile = profile_load ("standard", &error);
  struct limits limits = limits_default ();
  g_assert_no_error (error);
  g_assert_cmpmem (&profile->limits, sizeof limits, &limits, sizeof limits);
  g_assert_cmpuint (strlen (profile->title), >, 5);
  g_assert_null (profile->environment);
  profile_free (profile);
}

static void
test_own_profile (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  write_profile (place, "mine.conf",
                 "[profile]\ntitle = My own\nenvironment = system\nmin_isolation = 3\n"
                 "[limits]\nwall_ms = 2min\nmemory_bytes = 4G\npids = 7\n");
  write_profile (place, "standard.conf", "[limits]\nwall_ms = 5s\n");
  write_profile (place, "Not a name.conf", "");
  struct profile *profile = profile_load ("mine", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (profile->title, ==, "My own");
  g_assert_cmpstr (profile->environment, ==, "system");
  g_assert_cmpuint (profile->min_isolation, ==, 3);
  g_assert_cmpuint (profile->limits.value[LIMIT_WALL], ==, 120000);
  g_assert_cmpuint (profile->limits.value[LIMIT_MEMORY], ==, G_GUINT64_CONSTANT (4) << 30);
  g_assert_cmpuint (profile->limits.value[LIMIT_PIDS], ==, 7);
  g_assert_cmpuint (profile->limits.value[LIMIT_CPU], ==, limit_table[LIMIT_CPU].standard);
  profile_free (profile);

  profile = profile_load ("standard", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (profile->limits.value[LIMIT_WALL], ==, 5000);
  profile_free (profile);

  g_auto (GStrv) names = profile_names ();
  g_assert_true (g_strv_contains ((const char *const *)names, "mine"));
  g_assert_true (g_strv_contains ((const char *const *)names, "standard"));
  g_assert_false (g_strv_contains ((const char *const *)names, "Not a name"));
}

static const struct bad bad_profiles[] = {
    {"[limits]\nwall_ms = 2h\n", "[limits]", "wall_ms", "1 h"},
    {"[limits]\nmemory_bytes = 1\n", "[limits]", "memory_bytes", "8 MiB"},
    {"[limits]\nno_such = 1\n", "[limits]", "no_such", "no such limit"},
    {"[limits]\npids = -1\n", "[limits]", "pids", "digit"},
    {"[profile]\nmin_isolation = 4\n", "[profile]", "min_isolation", "3"},
    {"[profile]\nenvironment = ../x\n", "[profile]", "environment", "../x"},
    {"[profile]\ntitle = a\x1b[1\n", "[profile]", "", "control character"},
    {"[profile]\ntitle =\n", "[profile]", "title", "empty"},
    {"[profile]\n\ntitle = a\ntitle = b\n", "bad.conf:4:", "title", "line 3"},
    {"[profile]\nrole = root\n", "[profile]", "role", "guest, user, admin"},
    {"[maxima]\n\nwall_ms = 1s\n", "bad.conf:3:", "[maxima] wall_ms", "less than"},
    {"[limits]\nwall_ms = 5s\ncpu_m = 1s\n", "bad.conf:3:", "[limits] cpu_m", "did you mean cpu_ms"},
    {"[session]\nidle_ms = 1ms\n", "[session]", "idle_ms", "10 ms"},
    {"[session]\nallowed = no\n", "[session]", "allowed", "true nor false"},
    {"[blocked]\ncalls = system\n", "[blocked]", "calls", "function of a module"},
    {"[blocked]\nmodules = os subprocess/..\n", "[blocked]", "modules", "name of a module"},
    {"[limits\n", "bad.conf:1:", "", "does not end"},
    {"wall_ms = 1\n", "bad.conf:1:", "wall_ms", "before any"},
    {"[limits]\n\xff\n", "bad.conf:2:", "", "UTF-8"},
    {"[profile]\ncolour = red\n", "[profile]", "colour", "no such key"},
    {"[rules]\nx = 1\n", "bad.conf:1:", "", "there is no group [rules]"},
    {"x\n", "", "", "bad.conf"},
};

static void
test_bad_profiles (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_profiles); i++) {
    const struct bad *row = &bad_profiles[i];
    g_autoptr (GError) error = NULL;
    write_profile (place, "bad.conf", row->text);
    g_assert_null (profile_load ("bad", &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, "bad.conf"));
    g_assert_nonnull (strstr (error->message, row->group));
    g_assert_nonnull (strstr (error->message, row->key));
    g_assert_nonnull (strstr (error->message, row->word));
  }
}

/* Each says where it stands, and one does not hide the next. */
static void
test_all_problems (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  static const char *const wanted[] = {
      "bad.conf:2: [profile] titel: there is no such key; did you mean title?",
      "bad.conf:3: there is no group [limit]; did you mean [limits]?",
      "bad.conf:6: [limits] pids: 0 is not between 1 and 4096",
      "bad.conf:7: [limits]: the line is neither \"[group]\", \"key = value\" nor a comment",
  };
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GError) error = NULL;
  write_profile (place, "bad.conf",
                 "[profile]\r\ntitel = x\n[limit]\nx = 1\n[limits]\n  pids = 0\nwhat\n# no\n");
  g_autofree char *path = g_build_filename (place->profiles, "bad.conf", NULL);
  struct profile *profile = profile_read_file ("bad", path, &problems, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (problems->len, ==, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < problems->len; i++) {
    g_autofree char *text = profile_problem_text ("bad.conf", problems->pdata[i]);
    g_assert_cmpstr (text, ==, wanted[i]);
  }
  profile_free (profile);
}

/* What was said comes back by its group, what was not as null. */
static void
test_profile_shown (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  write_profile (place, "mine.conf",
                 "[profile]\nrole = user\n[maxima]\nwall_ms = 1min\n[session]\nallowed = false\n"
                 "[variables]\nno_proxy = *\nEMPTY =\n[blocked]\ncalls = os.system, os.exec*;os.system\n");
  struct profile *profile = profile_load ("mine", &error);
  g_assert_no_error (error);
  g_autoptr (json_t) shown = profile_to_json (profile);
  g_autoptr (json_t) wanted =
      json_pack ("{s:{s:b, s:n}, s:{s:s, s:s}, s:{s:[s, s], s:n}, s:s, s:s, s:n}", "session", "allowed",
                 FALSE, "idle_ms", "variables", "EMPTY", "", "no_proxy", "*", "blocked", "calls", "os.system",
                 "os.exec*", "modules", "role", "user", "title", "mine", "environment");
  const char *name;
  json_t *value;
  json_object_foreach (wanted, name, value) g_assert_true (json_equal (json_object_get (shown, name), value));
  g_assert_cmpint (json_integer_value (json_object_get (json_object_get (shown, "maxima"), "wall_ms")), ==,
                   60000);
  profile_free (profile);
}

static void
test_unknown_profile (G_GNUC_UNUSED struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  static const char *const names[] = {"no-such",     "",         "../standard", "standard.conf",
                                      "/etc/passwd", "Standard", "a\nb",        "\xff"};
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (profile_load (names[i], &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
    g_assert_nonnull (strstr (error->message, "standard"));
  }
}

/* ---- directories ---- */

static void
test_runtime_dir (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *path = g_build_filename (place->folder, "run", NULL);
  g_autofree char *link = g_build_filename (place->folder, "link", NULL);
  g_autoptr (GError) open_to_others = NULL, is_link = NULL;
  struct stat st;
  g_setenv ("ADDER_RUNTIME_DIR", path, TRUE);
  g_autofree char *made = paths_runtime_dir (NULL);
  g_assert_cmpstr (made, ==, path);
  g_assert_cmpint (stat (path, &st), ==, 0);
  g_assert_cmpuint (st.st_mode & 07777, ==, 0700);

  g_assert_cmpint (chmod (path, 0755), ==, 0);
  g_assert_null (paths_runtime_dir (&open_to_others));
  g_assert_nonnull (strstr (open_to_others->message, "0700"));
  g_assert_cmpint (chmod (path, 0700), ==, 0);

  g_assert_cmpint (symlink (path, link), ==, 0);
  g_setenv ("ADDER_RUNTIME_DIR", link, TRUE);
  g_assert_null (paths_runtime_dir (&is_link));
  g_assert_nonnull (strstr (is_link->message, link));
  g_unsetenv ("ADDER_RUNTIME_DIR");
  g_rmdir (path);
}

static void
test_environment_dirs (G_GNUC_UNUSED struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *before = g_strdup (g_getenv ("ADDER_ENVIRONMENTS_DIR"));
  g_setenv ("ADDER_ENVIRONMENTS_DIR", "/a/b", TRUE);
  g_auto (GStrv) alone = paths_environment_dirs ();
  g_assert_cmpstr (alone[0], ==, "/a/b");
  g_assert_null (alone[1]);
  g_unsetenv ("ADDER_ENVIRONMENTS_DIR");
  g_auto (GStrv) usual = paths_environment_dirs ();
  g_assert_cmpstr (usual[g_strv_length (usual) - 1], ==, "/var/lib/adder/environments");
  g_assert_cmpuint (g_strv_length (usual), ==, geteuid () == 0 ? 1 : 2);
  if (before)
    g_setenv ("ADDER_ENVIRONMENTS_DIR", before, TRUE);
}

#define ADD(path, test) g_test_add (path, struct place, NULL, place_set_up, test, place_tear_down)

UNIT_SUITE (common_config)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/config/defaults", test_defaults);
  ADD ("/config/values", test_values);
  ADD ("/config/bad", test_bad_files);
  ADD ("/config/named-file", test_named_file);
  ADD ("/config/show", test_show);
  ADD ("/config/documentation", test_documentation);
  ADD ("/profile/standard", test_standard_profile);
  ADD ("/profile/own", test_own_profile);
  ADD ("/profile/bad", test_bad_profiles);
  ADD ("/profile/problems", test_all_problems);
  ADD ("/profile/shown", test_profile_shown);
  ADD ("/profile/unknown", test_unknown_profile);
  ADD ("/paths/runtime", test_runtime_dir);
  ADD ("/paths/environments", test_environment_dirs);
  return g_test_run ();
}
