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
#include "policy/profile_workdir.h"
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
  g_assert_null (config->environment);
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
    {"[pool]\nno_such_key = 1\n", "[pool]", "no_such_key",
     ".conf:2: [pool] no_such_key: there is no such key (adder config show"},
    {"[pool]\n# parked = 1\n\n parkt = 1\n", "[pool]", "parkt",
     ".conf:4: [pool] parkt: there is no such key; did you mean parked?"},
    {"[log]\nmax_sessions = 1\n", "[log]", "max_sessions", "did you mean max_sessions of "},
    {"[no such group]\nx = 1\n", "[no such group]", "", ".conf:1: there is no group"},
    {"[pools]\nx = 1\n", "[pools]", "", "did you mean [pool]?"},
    {"[sandbox]\nmin_isolation = 5\n", "[sandbox]", "min_isolation", "auto, 0, 1, 2, 3, 4"},
    {"[sandbox]\nisolation = full\n", "[sandbox]", "isolation", "auto, none, process, namespaces"},
    {"[sandbox]\nroot_uid = 0\n", "[sandbox]", "root_uid", "1"},
    {"[sandbox]\nroot_uid = 4294967295\n", "[sandbox]", "root_uid", "4294967294"},
    {"[log]\ncode = yes\n", "[log]", "code", "true"},
    {"[log]\nlevel =\n", "[log]", "level", "not one of"},
    {"[pool]\nparked = 1\n[log]\n[pool]\nparked = 2\n", "[pool]", "parked",
     ".conf:5: [pool] parked: it is set twice; line 2"},
    {"\xef\xbb\xbf[pool]\nparked = 1\n", "", "", ".conf:1: the file begins with a byte order mark"},
    {"[pool]\n# \xff\n", "", "", ".conf:2: the line is not UTF-8 text"},
    {"[pool]\nparked = 1\nx = y\n[logs]\nz = 1\n[log]\nw\nlevel = a\n", "[pool]", "x",
     "; line 4: there is no group [logs]; did you mean [log]?; line 7: [log]: the line is neither "
     "\"[group]\", "
     "\"key = value\" nor a comment; line 8: [log] level: \"a\" is not one of"},
    {"[pool]\na=1\nb=1\nc=1\nd=1\ne=1\nf=1\n", "[pool]", "a", "; and 1 more"},
    {"[daemon]\nsocket = adder.sock\n", "[daemon]", "socket", "absolute"},
    {"[environment]\ndefault =\n", "[environment]", "default", "empty"},
    {"# it\nno key file at all\n", "", "", "adder.conf:2: "},
    {"[pool\nparked = 1\n", "", "", "adder.conf:1: "},
    {"\nparked = 1\n[pool]\n", "", "", "adder.conf:2: the key parked is before the first [group]"},
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
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, row->group));
    g_assert_nonnull (strstr (error->message, row->key));
    g_assert_nonnull (strstr (error->message, row->word));
    g_assert_null (strchr (error->message, '\n'));
  }
}

/* What is wrong is left out, whatever it is; the first of it is told. */
static void
test_anyway (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  write_file (place->file, "[pool]\nparked = many\n[dæmon]\n[daemon]\nsocket = /here\nsockett = 1\n");
  struct config *config = config_load_anyway (&error);
  g_assert_nonnull (strstr (error->message, "adder.conf:2: [pool] parked"));
  g_assert_cmpstr (config->socket, ==, "/here");
  config_free (config);
  g_clear_error (&error);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_files); i++) {
    write_file (place->file, bad_files[i].text);
    config = config_load_anyway (&error);
    g_assert_nonnull (config);
    g_assert_nonnull (error);
    g_clear_error (&error);
    config_free (config);
  }
}

static void
assert_texts (char **texts, const char *joined)
{
  g_autofree char *text = g_strjoinv (" ", texts);
  g_assert_cmpstr (text, ==, joined);
  g_strfreev (texts);
}

static void
test_reload (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  char **applied, **restart;
  write_file (place->file, "[sessions]\nmax_sessions = 5\n[http]\nhosts = old\n");
  struct config *config = config_load (NULL, NULL), *fresh = NULL;
  g_assert_false (config_is_stale (config));
  write_file (place->file, "[sessions]\nmax_sessions = 6\n[http]\nhosts = new\n[pool]\nparked = 9\n"
                           "[store]\ncode = false\n");
  g_assert_true (config_is_stale (config));
  const char *old = config->http_hosts;
  guint64 parked = config->parked;
  fresh = config_load (NULL, NULL);
  config_reload (config, fresh, &applied, &restart);
  config_free (fresh);
  assert_texts (applied, "[sessions] max_sessions [store] code [http] hosts");
  assert_texts (restart, "[pool] parked");
  g_assert_cmpuint (config->max_sessions, ==, 6);
  g_assert_cmpuint (config->parked, ==, parked);
  g_assert_false (config->store_code);
  g_assert_cmpstr (config->http_hosts, ==, "new");
  g_assert_cmpstr (old, ==, "old"); /* who has it may still look at it */
  g_assert_false (config_is_stale (config));

  /* A file that goes is a change, and defaults come back. */
  g_assert_cmpint (g_remove (place->file), ==, 0);
  g_assert_true (config_is_stale (config));
  fresh = config_load (NULL, NULL);
  config_reload (config, fresh, &applied, &restart);
  config_free (fresh);
  assert_texts (applied, "[sessions] max_sessions [store] code [http] hosts");
  assert_texts (restart, "");
  g_assert_null (config->http_hosts);
  config_free (config);
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
  /* What has no default says so. */
  g_assert_null (strstr (text, "(null)"));
  struct config *config = config_load (NULL, NULL);
  g_autofree char *shows = shown (config, FALSE);
  g_assert_null (strstr (shows, "(null)"));
  config_free (config);
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
                 "[profile]\ntitle = My own\nenvironment = system\nmin_isolation = 4\n"
                 "[limits]\nwall_ms = 2min\nmemory_bytes = 4G\npids = 7\n");
  write_profile (place, "standard.conf", "[limits]\nwall_ms = 5s\n");
  write_profile (place, "Not a name.conf", "");
  struct profile *profile = profile_load ("mine", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (profile->title, ==, "My own");
  g_assert_cmpstr (profile->environment, ==, "system");
  g_assert_cmpuint (profile->min_isolation, ==, 4);
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

#define ALLOWED "[network]\nmode = allow\n"
#define SECRET  "secret_host = https://a.example\n"

static const struct bad bad_profiles[] = {
    {"[limits]\nwall_ms = 2h\n", "[limits]", "wall_ms", "1 h"},
    {"[limits]\nmemory_bytes = 1\n", "[limits]", "memory_bytes", "16 MiB"},
    {"[limits]\nno_such = 1\n", "[limits]", "no_such", "no such limit"},
    {"[limits]\npids = -1\n", "[limits]", "pids", "digit"},
    {"[profile]\nmin_isolation = 5\n", "[profile]", "min_isolation", "4"},
    {"[profile]\nmitigations = store_bypass cores\n", "[profile]", "mitigations",
     "\"cores\" is not one of: core_scheduling"},
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
    {"wall_ms = 1\n", "bad.conf:1:", "wall_ms", "before the first"},
    {"[limits]\n\xff\n", "bad.conf:2:", "", "UTF-8"},
    {"[profile]\ncolour = red\n", "[profile]", "colour", "no such key"},
    {"[rules]\nx = 1\n", "bad.conf:1:", "", "there is no group [rules]"},
    {"x\n", "", "", "bad.conf"},
    {"[workdir]\nvariables = LANG HOME=/x\n", "[workdir]", "variables", "HOME=/x"},
    {"[workdir]\nvariables = *\n", "[workdir]", "variables", "name of a variable"},
    {"[network]\nmode = allow\nallow = a_b/c\n", "[network]", "allow", "a_b/c"},
    {"[network]\nallow = a.example\n", "[network]", "allow", "mode = allow alone"},
    {"[network]\nmode = full\n" SECRET "secret_file = /key\n", "[network]", "secret_host", "mode = allow"},
    {ALLOWED SECRET, "[network]", "secret_host", "secret_file or secret_variable"},
    {ALLOWED SECRET "secret_file = /key\nsecret_variable = KEY\n", "[network]", "secret_variable", "both"},
    {ALLOWED "secret_file = /key\n", "[network]", "secret_file", "no secret_host"},
    {ALLOWED "secret_variable = KEY\n", "[network]", "secret_variable", "no secret_host"},
    {ALLOWED "secret_header = X-Key: {}\n", "[network]", "secret_header", "no secret_host"},
    {ALLOWED "secret_file = key\n" SECRET, "[network]", "secret_file", "not an absolute path"},
    {ALLOWED "secret_host = a.example\n", "[network]", "secret_host", "with a scheme"},
    {ALLOWED "secret_host = ftp://a.example\n", "[network]", "secret_host", "with a scheme"},
    {ALLOWED "secret_host = https://\n", "[network]", "secret_host", "with a scheme"},
    {ALLOWED "secret_host = https://a.example/v1\n", "[network]", "secret_host", "with a scheme"},
    {ALLOWED "secret_host = https://a.example:0\n", "[network]", "secret_host", "with a scheme"},
    {ALLOWED "secret_header = Authorization\n", "[network]", "secret_header", "one {} where"},
    {ALLOWED "secret_header = Authorization: Bearer\n", "[network]", "secret_header", "one {} where"},
    {ALLOWED "secret_header = Authorization: {} {}\n", "[network]", "secret_header", "one {} where"},
    {ALLOWED "secret_header = : {}\n", "[network]", "secret_header", "one {} where"},
    {ALLOWED "secret_header = A b: {}\n", "[network]", "secret_header", "one {} where"},
    /* With these a request would not be what the proxy says of it. */
    {ALLOWED "secret_header = Content-Length: {}\n", "[network]", "secret_header", "one {} where"},
    {ALLOWED "secret_header = HOST: {}\n", "[network]", "secret_header", "one {} where"},
};

static void
test_bad_profiles (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_profiles); i++) {
    const struct bad *row = &bad_profiles[i];
    g_autoptr (GError) error = NULL;
    g_test_message ("%s", row->text);
    write_profile (place, "bad.conf", row->text);
    g_assert_null (profile_load ("bad", &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, "bad.conf"));
    g_test_message ("%s", error->message);
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
    g_autofree char *text = ini_problem_text ("bad.conf", problems->pdata[i]);
    g_assert_cmpstr (text, ==, wanted[i]);
  }
  profile_free (profile);
}

/* What was wrong with a line is not told again as what the group then lacks. */
static void
test_one_mistake_is_told_once (G_GNUC_UNUSED struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *text, *told;
  } rows[] = {
      {ALLOWED SECRET "secret_file = key\n",
       "bad.conf:4: [network] secret_file: \"key\" is not an absolute path"},
      {ALLOWED SECRET "secret_fil = /key\n",
       "bad.conf:4: [network] secret_fil: there is no such key; did you mean secret_file?"},
      {ALLOWED "secret_host = a.example\nsecret_file = /key\n",
       "bad.conf:3: [network] secret_host: \"a.example\" is no host with a scheme, as "
       "https://api.example.org"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GPtrArray) problems = NULL;
    struct profile *profile = profile_read_text ("bad", rows[i].text, strlen (rows[i].text), &problems);
    g_assert_cmpuint (problems->len, ==, 1);
    g_autofree char *text = ini_problem_text ("bad.conf", problems->pdata[0]);
    g_assert_cmpstr (text, ==, rows[i].told);
    profile_free (profile);
  }
}

/* What a file of a profile may hold, and what it may be. */
static void
test_profile_bounds (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *before, *again;
    guint times;
    const char *word; /* NULL: it is not too much yet */
  } rows[] = {
      {"", "\n", 9999, NULL},
      {"", "\n", 10000, "it has more than 10000 lines"},
      {"", "# a comment of 32 bytes in a line\n", 7000, NULL},
      {"", "# a comment of 32 bytes in a line\n", 8000, "is longer than 256 KiB"},
      {"[variables]\n", "V%u = 1\n", 256, NULL},
      {"[variables]\n", "V%u = 1\n", 257,
       "bad.conf:258: [variables] V256: there are more than 256 variables"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GString) text = g_string_new (rows[i].before);
    g_auto (GStrv) parts = g_strsplit (rows[i].again, "%u", 2);
    for (guint line = 0; line < rows[i].times; line++) {
      g_string_append (text, parts[0]);
      if (parts[1])
        g_string_append_printf (text, "%u%s", line, parts[1]);
    }
    write_profile (place, "bad.conf", text->str);
    struct profile *profile = profile_load ("bad", &error);
    g_assert_true ((profile != NULL) == (rows[i].word == NULL));
    if (rows[i].word)
      g_assert_nonnull (strstr (error->message, rows[i].word));
    profile_free (profile);
  }
  g_autoptr (GError) is_directory = NULL, is_pipe = NULL;
  g_autofree char *file = g_build_filename (place->profiles, "bad.conf", NULL);
  g_assert_cmpint (g_remove (file), ==, 0);
  g_assert_cmpint (g_mkdir (file, 0700), ==, 0);
  g_assert_null (profile_load ("bad", &is_directory));
  g_assert_nonnull (strstr (is_directory->message, "bad.conf is a directory, not a file"));
  g_assert_cmpint (g_rmdir (file), ==, 0);
  /* It is refused without waiting for somebody who writes. */
  g_assert_cmpint (mkfifo (file, 0600), ==, 0);
  g_assert_null (profile_load ("bad", &is_pipe));
  g_assert_nonnull (strstr (is_pipe->message, "bad.conf is a device or a pipe, not a file"));
}

/* A list of all mistakes has an end. */
static void
test_problems_bound (G_GNUC_UNUSED struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GString) text = g_string_new ("[limits]\n");
  for (int i = 0; i < INI_PROBLEMS_MAX + 10; i++)
    g_string_append_printf (text, "no_%d = 1\n", i);
  struct profile *profile = profile_read_text ("bad", text->str, text->len, &problems);
  g_assert_cmpuint (problems->len, ==, INI_PROBLEMS_MAX);
  const struct ini_problem *last = problems->pdata[INI_PROBLEMS_MAX - 1];
  g_assert_cmpuint (last->line, ==, INI_PROBLEMS_MAX + 1);
  profile_free (profile);
}

static struct profile *
own_profile (const struct place *place, const char *text)
{
  g_autoptr (GError) error = NULL;
  write_profile (place, "mine.conf", text);
  struct profile *profile = profile_load ("mine", &error);
  g_assert_no_error (error);
  return profile;
}

static void
test_profile_network (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *host, *header;
    const char *name, *value;
    guint16 port;
    gboolean tls;
  } rows[] = {
      {"https://a.example", "", "Authorization", "Bearer {}", 443, TRUE},
      {"http://a.example", "", "Authorization", "Bearer {}", 80, FALSE},
      {"https://a.example/", "secret_header = X-Key: {}\n", "X-Key", "{}", 443, TRUE},
      {"https://a.example:8443", "secret_header = X-Key:a {} b\n", "X-Key", "a {} b", 8443, TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text =
        g_strdup_printf (ALLOWED "allow = a.example *.b.example\nsecret_host = %s\n%ssecret_file = /key\n",
                         rows[i].host, rows[i].header);
    struct profile *profile = own_profile (place, text);
    struct network_rules *rules = profile_network_rules (profile);
    g_assert_cmpstr (rules->profile, ==, "mine");
    g_assert_cmpint (rules->mode, ==, NETWORK_ALLOW);
    g_assert_cmpuint (rules->hosts->len, ==, 2);
    const struct network_secret *secret = rules->secret;
    g_assert_cmpstr (secret->host.text, ==, "a.example");
    g_assert_cmpuint (secret->port, ==, rows[i].port);
    g_assert_cmpint (secret->tls, ==, rows[i].tls);
    g_assert_cmpstr (secret->header, ==, rows[i].name);
    g_assert_cmpstr (secret->value, ==, rows[i].value);
    g_assert_cmpstr (secret->file, ==, "/key");
    g_assert_null (secret->variable);
    network_rules_unref (rules);
    profile_free (profile);
  }
  struct profile *none = own_profile (place, "[network]\nmode = none\n");
  g_assert_null (profile_network_rules (none));
  profile_free (none);
  /* A list that is empty is no network either, but it is one that says so. */
  struct profile *nobody = own_profile (place, ALLOWED);
  struct network_rules *rules = profile_network_rules (nobody);
  g_assert_cmpuint (rules->hosts->len, ==, 0);
  g_assert_null (rules->secret);
  g_assert_cmpint (network_rules_needs (rules), ==, NETWORK_NONE);
  network_rules_unref (rules);
  profile_free (nobody);
}

static void
test_profile_workdir (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *most;
    enum workdir_mode allowed, refused;
    const char *word;
  } rows[] = {
      {"none", WORKDIR_NONE, WORKDIR_READ, "the profile mine allows no work directory"},
      {"read", WORKDIR_READ, WORKDIR_OVERLAY, "as \"read\" at most, and \"overlay\" was requested"},
      {"overlay", WORKDIR_REVIEW, WORKDIR_WRITE, "as \"overlay\" at most, and \"rw\" was requested"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = g_strdup_printf ("[workdir]\nmode = %s\n", rows[i].most);
    struct profile *profile = own_profile (place, text);
    g_assert_true (profile_allows_workdir (profile, rows[i].allowed, NULL));
    g_assert_false (profile_allows_workdir (profile, rows[i].refused, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED);
    g_assert_nonnull (strstr (error->message, rows[i].word));
    profile_free (profile);
  }
  struct profile *standard = own_profile (place, "");
  g_assert_true (profile_allows_workdir (standard, WORKDIR_WRITE, NULL));
  profile_free (standard);
}

/* A wildcard takes along nothing that looks like a secret; a name that is said in full does. */
static void
test_profile_variables (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  char *environment[] = {(char *)"LANG",        (char *)"LC_TIME",
                         (char *)"LC_TOKEN",    (char *)"APP_MODE",
                         (char *)"APP_API_KEY", (char *)"MY_SECRET",
                         (char *)"APP_A",       (char *)"app_passwd",
                         (char *)"APP_COOKIE",  NULL};
  static const struct {
    const char *variables, *picked;
  } rows[] = {
      {"", ""},
      {"variables = LANG\n", "LANG"},
      {"variables = LC_* APP_*\n", "LC_TIME APP_MODE APP_A"},
      {"variables = APP_? a*\n", "APP_A"},
      {"variables = MY_SECRET LC_*\n", "LC_TIME MY_SECRET"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat ("[workdir]\n", rows[i].variables, NULL);
    struct profile *profile = own_profile (place, text);
    g_auto (GStrv) picked = profile_pick_variables (profile, environment);
    g_autofree char *joined = g_strjoinv (" ", picked);
    g_assert_cmpstr (joined, ==, rows[i].picked);
    profile_free (profile);
  }
}

/* Who asks for a longer time gets as much of a processor, within what the profile allows. */
static void
test_profile_cpu (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *limits;
    guint64 wall_ms, cpu_ms;
  } rows[] = {
      {"[limits]\nwall_ms = 5s\ncpu_ms = 5s\n", 4000, 0},
      {"[limits]\nwall_ms = 5s\ncpu_ms = 5s\n", 9000, 9000},
      {"[limits]\nwall_ms = 5s\ncpu_ms = 5s\n[maxima]\ncpu_ms = 7s\n", 9000, 7000},
      {"[limits]\nwall_ms = 5s\ncpu_ms = 1s\n", 9000, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct profile *profile = own_profile (place, rows[i].limits);
    g_assert_cmpuint (profile_cpu_ms (profile, rows[i].wall_ms), ==, rows[i].cpu_ms);
    profile_free (profile);
  }
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
  ADD ("/config/anyway", test_anyway);
  ADD ("/config/reload", test_reload);
  ADD ("/config/show", test_show);
  ADD ("/config/documentation", test_documentation);
  ADD ("/profile/standard", test_standard_profile);
  ADD ("/profile/own", test_own_profile);
  ADD ("/profile/bad", test_bad_profiles);
  ADD ("/profile/problems", test_all_problems);
  ADD ("/profile/one-mistake", test_one_mistake_is_told_once);
  ADD ("/profile/problems-bound", test_problems_bound);
  ADD ("/profile/bounds", test_profile_bounds);
  ADD ("/profile/network", test_profile_network);
  ADD ("/profile/workdir", test_profile_workdir);
  ADD ("/profile/variables", test_profile_variables);
  ADD ("/profile/cpu", test_profile_cpu);
  ADD ("/profile/shown", test_profile_shown);
  ADD ("/profile/unknown", test_unknown_profile);
  ADD ("/paths/runtime", test_runtime_dir);
  ADD ("/paths/environments", test_environment_dirs);
  return g_test_run ();
}
