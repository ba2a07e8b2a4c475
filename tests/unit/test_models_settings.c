/* SPDX-License-Identifier: Apache-2.0 */
/* What is set for models, where their keys come from, and the file that says both. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/json.h"
#include "models/keys.h"
#include "models/model.h"
#include "models/models_file.h"
#include "models/presets.h"
#include "suite.h"

static char *folder; /* ADDER_CONFIG_DIR of this process */

static void
assert_says (const GError *error, const char *part)
{
  g_assert_nonnull (error);
  if (!strstr (error->message, part))
    g_error ("\"%s\" has no \"%s\"", error->message, part);
}

static void
write_conf (const char *text)
{
  g_autofree char *path = models_file_path ();
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (chmod (path, 0600), ==, 0);
}

static void
test_defaults_and_bounds (void)
{
  g_autoptr (model_settings_auto) settings = model_settings_new ("m");
  g_assert_cmpuint (settings->timeout_ms, ==, 300000);
  g_assert_cmpuint (settings->answer_bytes, ==, 8 << 20);
  g_assert_true (settings->stream && !settings->sees);
  g_assert_cmpfloat (settings->input_price, <, 0);
  static const struct {
    const char *key, *value, *says;
  } wrong[] = {
      {"timeout_ms", "3h", "from 100 ms to 2 h"},
      {"timeout_ms", "soon", "must begin with a digit"},
      {"retries", "21", "from 0 to 20"},
      {"output_tokens", "0", "from 1 to"},
      {"sees", "yes", "true or false"},
      {"dialect", "smoke", "chat, responses and messages"},
      {"base_url", "file:///etc", "looks like https://"},
      {"base_url", "https://", "looks like https://"},
      {"base_url", "https://u:secret@host/v1", "neither a user nor a password"},
      {"base_url", "https://host/v1?key=secret", "nothing may come after"},
      {"key_env", "sk-secret", "the key itself belongs into it"},
      {"key_file", "key", "must be absolute"},
      {"model", "", "one line"},
      {"model", "a\nb", "one line"},
      {"input_price", "-1", "a price is a number"},
      {"input_price", "nan", "a price is a number"},
      {"input_price", "1e7", "a price is a number"},
      {"tiemout_ms", "1s", "did you mean timeout_ms?"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (model_settings_set (settings, wrong[i].key, wrong[i].value, &error));
    g_assert_error (error, MODEL_ERROR, MODEL_ERROR_INVALID);
    assert_says (error, wrong[i].says);
    g_assert_null (strstr (error->message, "secret"));
  }
}

static void
test_values_as_they_are_written (void)
{
  g_autoptr (model_settings_auto) settings = model_settings_new ("m");
  g_autoptr (GError) error = NULL;
  static const char *const values[][3] = {
      {"base_url", "http://127.0.0.1:8080/v1//", "http://127.0.0.1:8080/v1"},
      {"timeout_ms", "90s", "90000"},
      {"answer_bytes", "1MiB", "1048576"},
      {"input_price", "0.15", "0.15"},
      {"dialect", "messages", "messages"},
      {"sees", "true", "true"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++) {
    g_assert_true (model_settings_set (settings, values[i][0], values[i][1], &error));
    g_assert_no_error (error);
    g_autofree char *text = model_settings_text (settings, model_setting_find (values[i][0]));
    g_assert_cmpstr (text, ==, values[i][2]);
  }
  g_assert_false (model_settings_check (settings, &error));
  assert_says (error, "has no model");
}

static void
test_presets (void)
{
  static const struct {
    const char *name, *url;
    enum dialect dialect;
  } known[] = {
      {"openai", "https://api.openai.com/v1", DIALECT_RESPONSES},
      {"anthropic", "https://api.anthropic.com", DIALECT_MESSAGES},
      {"ollama", "http://127.0.0.1:11434/v1", DIALECT_CHAT},
      {"llama.cpp", "http://127.0.0.1:8080/v1", DIALECT_CHAT},
      {"vllm", "http://127.0.0.1:8000/v1", DIALECT_CHAT},
  };
  g_autoptr (GError) error = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++) {
    g_autoptr (model_settings_auto) settings = model_settings_new ("m");
    g_assert_true (preset_apply (known[i].name, settings, &error));
    g_assert_cmpstr (settings->base_url, ==, known[i].url);
    g_assert_cmpint (settings->dialect, ==, known[i].dialect);
  }
  g_autoptr (model_settings_auto) settings = model_settings_new ("m");
  g_assert_false (preset_apply ("opnai", settings, &error));
  assert_says (error, "known are openai, anthropic, ollama, llama.cpp, vllm");
}

static void
test_reading_models_conf (void)
{
  g_autoptr (GError) error = NULL;
  write_conf ("# mine\n[models]\ndefault = b\n[a]\nbase_url = http://h/v1\nmodel = x\n"
              "[b]\nbase_url = http://h/v1\nmodel = y\ntimeout_ms = 10min\n");
  g_autofree char *standard = NULL;
  g_autoptr (GPtrArray) models = models_file_read (&standard, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (models->len, ==, 2);
  g_assert_cmpstr (standard, ==, "b");
  g_autoptr (model_settings_auto) found = models_file_find ("b", &error);
  g_assert_cmpuint (found->timeout_ms, ==, 600000);
  g_assert_null (models_file_find ("c", &error));
  g_assert_error (error, MODEL_ERROR, MODEL_ERROR_UNKNOWN);

  static const struct {
    const char *text, *says;
  } wrong[] = {
      {"[a]\nmodel = x\n", "models.conf: [a]: the model a has no base_url"},
      {"[a]\nbase_url = http://h/v1\nmodel = x\nkey = sk\n", "there is no setting key"},
      {"[a/b]\nmodel = x\n", "is no name of a model"},
      {"[models]\ndefault = a\n", "is no model of the file"},
      {"[models]\nstandard = a\n", "it has no key but default"},
      {"model = x\n", "cannot read "},
      {"[a]\nbase_url = http://h\nmodel = x\nkey_env = A\nkey_file = /b\n", "leave one of them out"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    write_conf (wrong[i].text);
    g_autofree char *none = NULL;
    g_autoptr (GError) problem = NULL;
    g_assert_null (models_file_read (&none, &problem));
    g_assert_error (problem, MODEL_ERROR, MODEL_ERROR_INVALID);
    assert_says (problem, wrong[i].says);
  }
}

static gboolean
set_default (GKeyFile *keys, gpointer data, GError **error)
{
  (void)error;
  g_key_file_set_string (keys, MODELS_GROUP, MODELS_DEFAULT, data);
  return TRUE;
}

static void
test_changes_keep_comments_and_write_only_what_can_be_read (void)
{
  g_autoptr (GError) error = NULL;
  static const char *const text =
      "# those of the lab\n[a]\n# the big one\nmodel = x\nbase_url = http://h/v1\n";
  write_conf (text);
  g_assert_true (models_file_change (set_default, (gpointer) "a", &error));
  g_autofree char *path = models_file_path (), *after = NULL, *later = NULL;
  g_assert_true (g_file_get_contents (path, &after, NULL, NULL));
  g_assert_nonnull (strstr (after, "# those of the lab\n"));
  g_assert_nonnull (strstr (after, "# the big one\nmodel"));
  g_assert_nonnull (strstr (after, "default=a"));
  struct stat status;
  g_assert_cmpint (stat (path, &status), ==, 0);
  g_assert_cmpint (status.st_mode & 07777, ==, 0600);
  g_assert_false (models_file_change (set_default, (gpointer) "nobody", &error));
  g_assert_true (g_file_get_contents (path, &later, NULL, NULL));
  g_assert_cmpstr (later, ==, after);
}

static void
test_a_file_that_others_may_write_to_is_refused (void)
{
  g_autoptr (GError) error = NULL;
  write_conf ("");
  g_autofree char *path = models_file_path (), *standard = NULL;
  g_assert_cmpint (chmod (path, 0622), ==, 0);
  g_assert_null (models_file_read (&standard, &error));
  assert_says (error, "may be changed by others (its mode is 0622): chmod 600 ");
}

/* The key that TEXT in a file of MODE gives, or NULL with ERROR; the caller's. */
static char *
key_of_file (const char *text, int mode, GError **error)
{
  g_autoptr (model_settings_auto) settings = model_settings_new ("m");
  settings->key_file = g_build_filename (folder, "key", NULL);
  g_assert_true (g_file_set_contents (settings->key_file, text, -1, NULL));
  g_assert_cmpint (chmod (settings->key_file, (mode_t)mode), ==, 0);
  return keys_resolve (settings, error) ? g_strdup (settings->key) : NULL;
}

static void
test_keys_of_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *key = key_of_file ("  sk-1\n", 0600, &error);
  g_assert_cmpstr (key, ==, "sk-1");
  g_autofree char *read_only = key_of_file ("sk-1", 0400, &error);
  g_assert_cmpstr (read_only, ==, "sk-1");
  g_autofree char *huge = g_strnfill (KEY_BYTES_MAX + 1, 'k');
  const struct {
    const char *text;
    int mode;
    const char *says;
  } wrong[] = {
      {"sk-1", 0644, "may be read by others (its mode is 0644): chmod 600 "},
      {"sk-1", 0660, "chmod 600 "},
      {"", 0600, "the key is empty"},
      {"sk-1\r\nX-Header: 1", 0600, "one word of printable ASCII"},
      {"sk-1\xc3\xa4", 0600, "one word of printable ASCII"},
      {huge, 0600, "has more than"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) problem = NULL;
    g_assert_null (key_of_file (wrong[i].text, wrong[i].mode, &problem));
    g_assert_error (problem, MODEL_ERROR, MODEL_ERROR_KEY);
    assert_says (problem, wrong[i].says);
    g_assert_null (strstr (problem->message, "sk-1"));
  }
}

static void
test_keys_of_variables (void)
{
  g_autoptr (model_settings_auto) settings = model_settings_new ("m");
  g_autoptr (GError) error = NULL;
  settings->key_env = g_strdup ("ADDER_TEST_KEY");
  g_unsetenv ("ADDER_TEST_KEY");
  g_assert_false (keys_resolve (settings, &error));
  g_assert_error (error, MODEL_ERROR, MODEL_ERROR_KEY);
  assert_says (error, "from the variable ADDER_TEST_KEY, which is not set");
  g_setenv ("ADDER_TEST_KEY", "sk-2", TRUE);
  g_clear_error (&error);
  g_assert_true (keys_resolve (settings, &error));
  g_assert_cmpstr (settings->key, ==, "sk-2");
  g_autofree char *described = keys_describe (settings);
  g_assert_cmpstr (described, ==, "$ADDER_TEST_KEY");
  g_autoptr (json_t) shown = model_settings_json (settings);
  g_autofree char *text = json_to_text (shown);
  g_assert_null (strstr (text, "sk-2"));
}

UNIT_SUITE (models_settings)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("models-XXXXXX", NULL);
  g_setenv ("ADDER_CONFIG_DIR", folder, TRUE);
  g_test_add_func ("/models/settings/bounds", test_defaults_and_bounds);
  g_test_add_func ("/models/settings/values", test_values_as_they_are_written);
  g_test_add_func ("/models/settings/presets", test_presets);
  g_test_add_func ("/models/settings/file", test_reading_models_conf);
  g_test_add_func ("/models/settings/changes", test_changes_keep_comments_and_write_only_what_can_be_read);
  g_test_add_func ("/models/settings/writable", test_a_file_that_others_may_write_to_is_refused);
  g_test_add_func ("/models/keys/files", test_keys_of_files);
  g_test_add_func ("/models/keys/variables", test_keys_of_variables);
  int code = g_test_run ();
  for (const char *const *name = (const char *const[]){"key", "models.conf", "models.conf.lock", NULL}; *name;
       name++) {
    g_autofree char *path = g_build_filename (folder, *name, NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
  g_free (folder);
  return code;
}
