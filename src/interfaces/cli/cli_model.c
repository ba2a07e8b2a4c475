/* SPDX-License-Identifier: Apache-2.0 */
/* `adder model`: the language models in models.conf. No key is ever printed. */
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/size.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"
#include "models/keys.h"
#include "models/model.h"
#include "models/models_file.h"
#include "models/replay.h"

static void
cli_model_print_table (const json_t *models)
{
  static const char *const heads[] = {"NAME", "MODEL", "API", "AT", "KEY"};
  struct text_table table;
  gsize i;
  json_t *model;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (models, i, model)
  {
    gboolean is_default = json_is_true (json_object_get (model, "is_default"));
    const char *at = json_string_value (json_object_get (model, "unix_socket"));
    text_table_add (&table, g_strconcat (json_member_text (model, "name"), is_default ? " *" : "", NULL));
    text_table_add (&table, g_strdup (json_member_text (model, "model")));
    text_table_add (&table, g_strdup (json_member_text (model, "dialect")));
    text_table_add (&table, g_strdup (at ? at : json_member_text (model, "base_url")));
    text_table_add (&table, g_strdup (json_member_text (model, "key_is")));
  }
  text_table_print (&table);
}

/* A setting for people: "timeout", "5 min" of timeout_ms, and sizes in the same way. */
static void
print_setting (const char *key, const json_t *value)
{
  gboolean counts = json_is_integer (value);
  gboolean is_time = counts && g_str_has_suffix (key, "_ms"),
           is_size = counts && g_str_has_suffix (key, "_bytes");
  guint64 number = (guint64)MAX (json_integer_value (value), 0);
  g_autofree char *label =
      g_strndup (key, is_time || is_size ? (gsize)(strrchr (key, '_') - key) : strlen (key));
  g_autofree char *text = is_time   ? duration_format (number)
                          : is_size ? size_format (number)
                                    : json_plain (value, " ");
  cli_print_line ("%-15s %s", label, text);
}

static void
print_model (const json_t *model)
{
  gboolean is_default = json_is_true (json_object_get (model, "is_default"));
  cli_print_line ("%-15s %s%s", "name", json_member_text (model, "name"), is_default ? ", the default" : "");
  for (const struct model_setting *row = model_setting_table; row->key; row++) {
    const json_t *value = json_object_get (model, row->key);
    if (value && !json_is_null (value))
      print_setting (row->key, value);
  }
  cli_print_line ("%-15s %s", "key", json_member_text (model, "key_is"));
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
cli_model_drop (GKeyFile *keys, gpointer data, GError **error)
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
  if (!models_file_change (cli_model_drop, argv + 1, &problem))
    return cli_fail (problem);
  for (char **name = argv + 1; *name; name++)
    keys_forget (*name);
  return 0;
}

static gboolean
cli_model_choose (GKeyFile *keys, gpointer data, GError **error)
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
    return models_file_change (cli_model_choose, argv[1], &problem) ? 0 : cli_fail (problem);
  g_autofree char *name = model_default (&problem);
  if (!name)
    return cli_fail (problem);
  printf ("%s\n", name);
  return 0;
}

static const struct cli_command commands[] = {
    {"new", "NAME", "add a language model", cli_model_add, .stays = TRUE,
     .examples = "adder model new local --provider ollama --model qwen2.5-coder:7b"},
    {"list", "", "list the models",
     ASKS ("model.list", .list = "models", .view = cli_model_print_table, .things = "models",
           .makes = "adder model new NAME --provider PROVIDER --model MODEL"),
     .examples = "adder model list"},
    {"show", "NAME", "show the settings of a model", ASKS ("model.show", {"model"}, 1, print_model),
     .examples = "adder model show local"},
    {"check", "[NAME]", "ask a model a question, let it call a tool, and report what works", cli_model_check,
     .stays = TRUE, .examples = "adder model check local"},
    {"default", "[NAME]", "set the default model, or print it", model_default_command, .stays = TRUE,
     .examples = "adder model default local"},
    {"rm", "NAME...", "remove models, with the keys that Adder stores for them", model_remove, .stays = TRUE,
     .examples = "adder model rm local"},
    {0},
};

int
cli_model (int argc, char **argv)
{
  return cli_dispatch ("adder model", "Manages the language models that Adder can ask.", commands, argc,
                       argv);
}
