/* SPDX-License-Identifier: Apache-2.0 */
/* `adder model`: which language models there are to ask (models.conf). No key is ever printed. */
#include "interfaces/cli/cli_model.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"
#include "models/keys.h"
#include "models/model.h"
#include "models/models_file.h"
#include "models/replay.h"

/* As the commands print it. The caller's. */
static json_t *
shown_json (const struct model_settings *settings, const char *standard)
{
  json_t *value = model_settings_json (settings);
  g_autofree char *key = keys_describe (settings);
  json_object_set_new (value, "key_is", json_string (key));
  json_object_set_new (value, "is_default", json_boolean (g_strcmp0 (standard, settings->name) == 0));
  return value;
}

static void
print_table (const GPtrArray *models, const char *standard)
{
  static const char *const heads[] = {"NAME", "MODEL", "API", "AT", "KEY"};
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  for (guint i = 0; i < models->len; i++) {
    const struct model_settings *settings = models->pdata[i];
    gboolean is_default = g_strcmp0 (standard, settings->name) == 0;
    text_table_add (&table, g_strconcat (settings->name, is_default ? " *" : "", NULL));
    text_table_add (&table, g_strdup (settings->model));
    text_table_add (&table, g_strdup (model_dialect_names[settings->dialect]));
    text_table_add (&table, g_strdup (settings->unix_socket ? settings->unix_socket : settings->base_url));
    text_table_add (&table, keys_describe (settings));
  }
  text_table_print (&table);
}

static int
model_list (int argc, char **argv)
{
  gboolean json = FALSE, names_only = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON array", NULL},
      {"names", 0, 0, G_OPTION_ARG_NONE, &names_only, "Print the names only", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  g_autofree char *standard = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (GPtrArray) models = models_file_read (&standard, &problem);
  if (!models)
    return cli_fail (problem);
  if (json) {
    g_autoptr (json_t) all = json_array ();
    for (guint i = 0; i < models->len; i++)
      json_array_append_new (all, shown_json (models->pdata[i], standard));
    cli_print_json (all);
  } else if (names_only)
    for (guint i = 0; i < models->len; i++)
      printf ("%s\n", ((struct model_settings *)models->pdata[i])->name);
  else if (models->len > 0)
    print_table (models, standard);
  else
    fprintf (stderr, "adder: there are no models; adder model add NAME adds one\n");
  return 0;
}

static void
print_settings (const struct model_settings *settings, gboolean is_default)
{
  printf ("%-15s %s%s\n", "name", settings->name, is_default ? ", the default" : "");
  for (const struct model_setting *row = model_setting_table; row->key; row++) {
    g_autofree char *text = model_settings_text (settings, row);
    if (text)
      printf ("%-15s %s\n", row->key, text);
  }
  g_autofree char *key = keys_describe (settings);
  printf ("%-15s %s\n", "key", key);
}

static int
model_show (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  g_autofree char *standard = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (GPtrArray) models = models_file_read (&standard, &problem);
  g_autoptr (model_settings_auto) settings = models ? models_file_find (argv[1], &problem) : NULL;
  if (!settings)
    return cli_fail (problem);
  if (json) {
    g_autoptr (json_t) value = shown_json (settings, standard);
    cli_print_json (value);
  } else
    print_settings (settings, g_strcmp0 (standard, settings->name) == 0);
  return 0;
}

/* ---- changes ---- */

static gboolean
no_such_model (const char *name, GError **error)
{
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_UNKNOWN, "there is no model %s (see adder model list)", name);
  return FALSE;
}

/* DATA: the names, all of which must be there. */
static gboolean
drop (GKeyFile *keys, gpointer data, GError **error)
{
  for (char **name = data; *name; name++) {
    g_autofree char *standard = g_key_file_get_string (keys, MODELS_GROUP, MODELS_DEFAULT, NULL);
    if (strcmp (*name, MODELS_GROUP) == 0 || !g_key_file_remove_group (keys, *name, NULL))
      return no_such_model (*name, error);
    if (g_strcmp0 (standard, *name) == 0)
      g_key_file_remove_key (keys, MODELS_GROUP, MODELS_DEFAULT, NULL);
  }
  return TRUE;
}

static int
model_remove (int argc, char **argv)
{
  const GOptionEntry entries[] = {{NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, G_MAXINT, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (!models_file_change (drop, argv + 1, &problem))
    return cli_fail (problem);
  for (char **name = argv + 1; *name; name++)
    keys_forget (*name);
  return 0;
}

static gboolean
choose (GKeyFile *keys, gpointer data, GError **error)
{
  const char *name = data;
  if (!g_str_has_prefix (name, REPLAY_PREFIX) &&
      (strcmp (name, MODELS_GROUP) == 0 || !g_key_file_has_group (keys, name)))
    return no_such_model (name, error);
  g_key_file_set_string (keys, MODELS_GROUP, MODELS_DEFAULT, name);
  return TRUE;
}

static int
model_default_command (int argc, char **argv)
{
  const GOptionEntry entries[] = {{NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (argc > 1)
    return models_file_change (choose, argv[1], &problem) ? 0 : cli_fail (problem);
  g_autofree char *name = model_default (&problem);
  if (!name)
    return cli_fail (problem);
  printf ("%s\n", name);
  return 0;
}

static const struct cli_command commands[] = {
    {"add", "NAME", "add a language model to those that can be asked", cli_model_add},
    {"list", "", "list the models", model_list},
    {"show", "NAME", "show what is set for a model", model_show},
    {"check", "[NAME]", "ask a model a question and have it call a tool, and say what works",
     cli_model_check},
    {"remove", "NAME...", "remove models, with the keys that Adder keeps for them", model_remove},
    {"default", "[NAME]", "choose the model that is asked when none is named, or print it",
     model_default_command},
    {0},
};

int
cli_model (int argc, char **argv)
{
  return cli_dispatch ("adder model", "Says which language models there are to ask.", commands, argc, argv);
}
