/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on models: the language models that the daemon's owner can ask. Keys are never shown. */
#include "models/model.h"
#include "common/field_rows.h"
#include "common/json.h"
#include "models/keys.h"
#include "models/models_file.h"
#include "operations/fields.h"
#include "operations/model_ask.h"
#include "operations/operation.h"

#define FIELDS_MAX 40

/* ---- the functions ---- */

/* An error of models as one of Adder's. Takes PROBLEM. */
static void
propagate_fault (GError **error, GError *problem)
{
  int code = g_error_matches (problem, MODEL_ERROR, MODEL_ERROR_UNKNOWN) ? ADDER_ERROR_NOT_FOUND
                                                                         : ADDER_ERROR_FAILED;
  g_set_error_literal (error, ADDER_ERROR, code, problem->message);
  g_error_free (problem);
}

static json_t *
model_to_json (const struct model_settings *settings, const char *standard)
{
  json_t *value = model_settings_json (settings);
  g_autofree char *key = keys_describe (settings);
  json_object_set_new (value, "key_is", json_string (key));
  json_object_set_new (value, "is_default", json_boolean (g_strcmp0 (standard, settings->name) == 0));
  return value;
}

static json_t *
models_list (G_GNUC_UNUSED const struct operation_call *call, GError **error)
{
  GError *problem = NULL;
  g_autofree char *standard = NULL;
  g_autoptr (GPtrArray) models = models_file_read (&standard, &problem);
  if (!models) {
    propagate_fault (error, problem);
    return NULL;
  }
  json_t *list = json_array ();
  for (guint i = 0; i < models->len; i++)
    json_array_append_new (list, model_to_json (models->pdata[i], standard));
  return json_pack ("{s:o}", "models", list);
}

static json_t *
models_show (const struct operation_call *call, GError **error)
{
  GError *problem = NULL;
  g_autofree char *standard = NULL;
  g_autoptr (GPtrArray) models = models_file_read (&standard, &problem);
  g_autoptr (model_settings_auto) settings =
      models ? models_file_find (operation_text (call, "model"), &problem) : NULL;
  if (settings)
    return model_to_json (settings, standard);
  propagate_fault (error, problem);
  return NULL;
}

/* ---- the fields ---- */

/* The table of settings, and three more rows. Made before main begins. */
static struct field model_fields[FIELDS_MAX] = {
    TEXT ("name", "As the user calls it."),
    TEXT ("key_is", "Where its key is stored: never the key."),
    FLAG ("is_default", "Whether it is the default model."),
};

static void __attribute__ ((constructor)) fill_model_fields (void)
{
  static const guint types[] = {
      [SETTING_BOOLEAN] = FIELD_BOOLEAN,           [SETTING_COUNT] = FIELD_INTEGER,
      [SETTING_DURATION] = FIELD_INTEGER,          [SETTING_SIZE] = FIELD_INTEGER,
      [SETTING_PRICE] = FIELD_NUMBER | FIELD_NULL,
  };
  gsize count = 0;
  while (model_fields[count].name)
    count++;
  for (const struct model_setting *row = model_setting_table; row->key && count < FIELDS_MAX - 1; row++) {
    guint known = row->kind < G_N_ELEMENTS (types) ? types[row->kind] : 0;
    model_fields[count++] =
        (struct field){.name = row->key, .types = known ? known : FIELD_TEXT | FIELD_NULL, .text = row->text};
  }
  model_fields[count] = (struct field)FIELD_END ("Model");
}

static const struct field list_fields[] = {
    LIST ("models", model_fields, "In the order of models.conf."),
    FIELD_END ("ModelList"),
};

static const struct field show_params[] = {
    {.name = "model", .types = FIELD_TEXT, .minimum = 1, .maximum = MODEL_NAME_MAX, .text = "Its name."},
    {0},
};
static const struct field *const list_replies[] = {list_fields, NULL};
static const struct field *const show_replies[] = {model_fields, NULL};

/* ---- the table ---- */

#define MODELS "/v1/models"

const struct operation model_operations[] = {
    {
        .name = "model.list",
        .title = "List the models",
        .text = "The language models that `adder ask` and the analyst's tools can ask, and what is set for "
                "each.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_OWN_FILES,
        .params = no_params,
        .replies = list_replies,
        .run = models_list,
        .http = {"GET", MODELS, "listModels", 200},
    },
    {
        .name = "model.show",
        .title = "Show a model",
        .text = "What is set for it.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_OWN_FILES,
        .params = show_params,
        .replies = show_replies,
        .run = models_show,
        .http = {"GET", MODELS "/{model}", "showModel", 200},
    },
    {
        .name = "model.ask",
        .title = "Ask the model",
        .text =
            "One answer of the model that `[models] for_tools` of adder.conf names: text, and calls of the "
            "given tools, which are not carried out. Nothing of it is recorded. It is cancelled when the "
            "client disconnects. Questions count with those of the analyst's tools (`[models] rate`, "
            "`concurrent`).",
        .role = ROLE_USER,
        .params = model_ask_params,
        .replies = model_ask_replies,
        .run = model_ask_run,
        .http = {"POST", MODELS "/{model}/ask", "askModel", 200},
    },
    {0},
};
