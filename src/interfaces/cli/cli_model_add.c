/* SPDX-License-Identifier: Apache-2.0 */
/* `adder model new`: an option for each key of models.conf. A key comes from a variable, a file or standard
 * input; arguments are visible to everybody. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "models/keys.h"
#include "models/model.h"
#include "models/models_file.h"
#include "models/presets.h"

struct add_options {
  char *provider;
  GPtrArray *values; /* of each row of the table its text, or NULL */
  gboolean *flags;   /* and whether its switch was thrown */
  gboolean key_stdin, replace, standard, json;
};

/* ---- options from the table ---- */

/* "timeout_ms" is --timeout; a switch that is on by default has a --no- option. */
static char *
option_name (const struct model_setting *row)
{
  gboolean on = row->kind == SETTING_BOOLEAN && strcmp (row->standard, "true") == 0;
  gsize length = strlen (row->key) - (g_str_has_suffix (row->key, "_ms") ? strlen ("_ms") : 0);
  char *name = g_strdup_printf ("%s%.*s", on ? "no-" : "", (int)length, row->key);
  return g_strdelimit (name, "_", '-');
}

static const char *
argument_name (const struct model_setting *row)
{
  static const char *const names[] = {
      [SETTING_TEXT] = "ID",      [SETTING_URL] = "URL",       [SETTING_PATH] = "FILE",
      [SETTING_VARIABLE] = "VAR", [SETTING_DIALECT] = "API",   [SETTING_BOOLEAN] = NULL,
      [SETTING_COUNT] = "NUMBER", [SETTING_DURATION] = "TIME", [SETTING_SIZE] = "SIZE",
      [SETTING_PRICE] = "PRICE",
  };
  return names[row->kind];
}

/* Without the marks of Markdown; of a switch that is on, what --no- does. */
static char *
option_text (const struct model_setting *row)
{
  g_auto (GStrv) parts = g_strsplit (row->text, "`", -1);
  g_autofree char *plain = g_strjoinv ("", parts);
  if (g_str_has_prefix (row->key, "stream"))
    return g_strdup ("Request whole answers instead of streams");
  return g_strndup (plain, strlen (plain) - 1); /* without the full stop */
}

static void
cli_model_add_entry (GArray *entries, GPtrArray *kept, struct add_options *options, gsize index)
{
  const struct model_setting *row = &model_setting_table[index];
  char *name = option_name (row), *text = option_text (row);
  g_ptr_array_add (kept, name);
  g_ptr_array_add (kept, text);
  gboolean is_switch = row->kind == SETTING_BOOLEAN;
  GOptionEntry entry = {
      name,
      0,
      0,
      is_switch ? G_OPTION_ARG_NONE : G_OPTION_ARG_FILENAME,
      is_switch ? (gpointer)&options->flags[index] : (gpointer)&options->values->pdata[index],
      text,
      argument_name (row),
  };
  g_array_append_val (entries, entry);
}

static gboolean
cli_model_add_parse (struct add_options *options, int *argc, char ***argv, GError **error)
{
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) entries = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));
  g_autofree char *known = presets_names ();
  g_autofree char *help = g_strdup_printf ("The provider, which sets the defaults: %s", known);
  const GOptionEntry own[] = {
      {"provider", 0, 0, G_OPTION_ARG_FILENAME, &options->provider, help, "NAME"},
      {"key-stdin", 0, 0, G_OPTION_ARG_NONE, &options->key_stdin,
       "Read the key from standard input, and store it in a file with mode 0600", NULL},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &options->replace, "Replace the model of that name", NULL},
      {"default", 0, 0, G_OPTION_ARG_NONE, &options->standard, "Make it the default model", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL},
  };
  g_array_append_vals (entries, own, G_N_ELEMENTS (own));
  for (gsize i = 0; model_setting_table[i].key; i++)
    cli_model_add_entry (entries, kept, options, i);
  return cli_parse ((const GOptionEntry *)(const void *)entries->data, 1, 1, argc, argv, error);
}

/* ---- what they say ---- */

/* An option's path is relative to this process; models.conf is read by others. */
static gboolean
set_path (struct model_settings *settings, const char *key, const char *value, GError **error)
{
  g_autofree char *path = g_canonicalize_filename (value, NULL);
  return model_settings_set (settings, key, path, error);
}

static gboolean
set_all (struct model_settings *settings, const struct add_options *options, GError **error)
{
  for (gsize i = 0; model_setting_table[i].key; i++) {
    const struct model_setting *row = &model_setting_table[i];
    const char *value = options->values->pdata[i];
    if (options->flags[i])
      value = strcmp (row->standard, "true") == 0 ? "false" : "true";
    if (value && !(row->kind == SETTING_PATH ? set_path (settings, row->key, value, error)
                                             : model_settings_set (settings, row->key, value, error)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
was_given (const struct add_options *options, const char *key)
{
  return options->values->pdata[model_setting_find (key) - model_setting_table] != NULL;
}

/* A key from the user replaces the provider's usual one. */
static gboolean
cli_model_add_fill (struct model_settings *settings, const struct add_options *options, GError **error)
{
  if (options->provider && !preset_apply (options->provider, settings, error))
    return FALSE;
  if (options->key_stdin && (was_given (options, "key_env") || was_given (options, "key_file"))) {
    g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_INVALID,
                         "a key comes from one place: --key-stdin, --key-env or --key-file");
    return FALSE;
  }
  if (options->key_stdin || was_given (options, "key_file"))
    g_clear_pointer (&settings->key_env, g_free);
  g_autofree char *own = options->key_stdin ? keys_own_file (settings->name) : NULL;
  return set_all (settings, options, error) &&
         (!own || model_settings_set (settings, "key_file", own, error)) &&
         model_settings_check (settings, error);
}

/* ---- a key from standard input ---- */

/* One line; the caller's, who overwrites it. A terminal prompts for it without echo. */
static char *
cli_model_add_read_key (GError **error)
{
  char line[KEY_BYTES_MAX + 2] = "";
  struct termios before, silent;
  gboolean terminal = isatty (STDIN_FILENO) && tcgetattr (STDIN_FILENO, &before) == 0;
  if (terminal) {
    silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    fputs ("Key: ", stderr);
    (void)tcsetattr (STDIN_FILENO, TCSAFLUSH, &silent);
  }
  if (!fgets (line, sizeof line, stdin))
    line[0] = '\0';
  if (terminal) {
    (void)tcsetattr (STDIN_FILENO, TCSAFLUSH, &before);
    fputc ('\n', stderr);
  }
  char *key = keys_clean (line, error);
  explicit_bzero (line, sizeof line);
  return key;
}

static gboolean
keep_key (const char *name, GError **error)
{
  char *key = cli_model_add_read_key (error);
  gboolean ok = key && keys_store (name, key, error);
  if (key)
    explicit_bzero (key, strlen (key));
  g_free (key);
  return ok;
}

/* ---- adding ---- */

struct addition {
  const struct model_settings *settings;
  const struct add_options *options;
  gboolean is_default; /* what it then is */
};

/* The file holds only values that differ from the defaults. */
static void
write_group (GKeyFile *keys, const struct model_settings *settings)
{
  for (const struct model_setting *row = model_setting_table; row->key; row++) {
    g_autofree char *text = model_settings_text (settings, row);
    g_autoptr (model_settings_auto) standard = model_settings_new (settings->name);
    g_autofree char *usual = model_settings_text (standard, row);
    if (text && g_strcmp0 (text, usual) != 0)
      g_key_file_set_string (keys, settings->name, row->key, text);
  }
}

static gboolean
change (GKeyFile *keys, gpointer data, GError **error)
{
  struct addition *addition = data;
  const struct model_settings *settings = addition->settings;
  if (g_key_file_has_group (keys, settings->name)) {
    if (!addition->options->replace) {
      g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID,
                   "there is a model %s already: --replace puts this one into its place", settings->name);
      return FALSE;
    }
    g_key_file_remove_group (keys, settings->name, NULL);
  }
  /* Inside, so that a failed addition leaves another model's key alone. */
  if (addition->options->key_stdin && !keep_key (settings->name, error))
    return FALSE;
  write_group (keys, settings);
  g_autofree char *before = g_key_file_get_string (keys, MODELS_GROUP, MODELS_DEFAULT, NULL);
  addition->is_default = !before || addition->options->standard || strcmp (before, settings->name) == 0;
  if (addition->is_default)
    g_key_file_set_string (keys, MODELS_GROUP, MODELS_DEFAULT, settings->name);
  return TRUE;
}

/* An unreadable key is reported now, not at the first question; a variable may be set later. */
static gboolean
cli_model_add_check_key (struct model_settings *settings, const struct add_options *options, GError **error)
{
  return options->key_stdin || !settings->key_file || keys_resolve (settings, error);
}

static void
cli_model_add_report (const struct model_settings *settings, const struct addition *addition)
{
  if (addition->options->json) {
    g_autoptr (json_t) value = model_settings_json (settings);
    json_object_set_new (value, "is_default", json_boolean (addition->is_default));
    cli_print_json (value);
    return;
  }
  g_autofree char *key = keys_describe (settings);
  fprintf (stderr, "adder: %s asks %s at %s; key: %s%s\n", settings->name, settings->model,
           settings->base_url, key, addition->is_default ? "; it is the default" : "");
}

static int
cli_model_add_add (const char *name, const struct add_options *options)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (model_settings_auto) settings = model_settings_new (name);
  struct addition addition = {settings, options, FALSE};
  if (!model_name_check (name, &problem) || !cli_model_add_fill (settings, options, &problem) ||
      !cli_model_add_check_key (settings, options, &problem) ||
      !models_file_change (change, &addition, &problem))
    return cli_fail (problem);
  cli_model_add_report (settings, &addition);
  return 0;
}

int
cli_model_add (int argc, char **argv)
{
  gsize rows = 0;
  while (model_setting_table[rows].key)
    rows++;
  struct add_options options = {.values = g_ptr_array_new_with_free_func (g_free)};
  g_ptr_array_set_size (options.values, (gint)rows);
  g_autofree gboolean *flags = g_new0 (gboolean, rows);
  options.flags = flags;
  g_autoptr (GError) problem = NULL;
  int code = cli_model_add_parse (&options, &argc, &argv, &problem) ? cli_model_add_add (argv[1], &options)
                                                                    : cli_fail_usage (problem);
  g_ptr_array_unref (options.values);
  g_free (options.provider);
  return code;
}
