/* SPDX-License-Identifier: Apache-2.0 */
#include "models/model.h"

#include <string.h>

#include "models/api.h"
#include "models/keys.h"
#include "models/models_file.h"
#include "models/record.h"
#include "models/replay.h"
#include "models/written.h"

struct model {
  struct provider *provider;
};

/* ---- opening ---- */

/* The provider that SETTINGS, which are taken, are for. */
static struct provider *
open_settings (struct model_settings *taken, GError **error)
{
  g_autoptr (model_settings_auto) settings = taken;
  if (!settings || !keys_resolve (settings, error))
    return NULL;
  return api_new (g_steal_pointer (&settings), error);
}

static struct provider *
open_provider (const char *name, GError **error)
{
  if (g_str_has_prefix (name, REPLAY_PREFIX))
    return replay_new (name + strlen (REPLAY_PREFIX), error);
  return open_settings (models_file_find (name, error), error);
}

char *
model_default (GError **error)
{
  const char *chosen = g_getenv ("ADDER_MODEL");
  if (chosen && chosen[0] != '\0')
    return g_strdup (chosen);
  char *name = NULL;
  g_autoptr (GPtrArray) models = models_file_read (&name, error);
  if (models && !name)
    g_set_error_literal (
        error, MODEL_ERROR, MODEL_ERROR_UNKNOWN,
        "there is no default model; add one: adder model new local --provider ollama --model qwen3:8b "
        "--default; or choose one that is there: adder model default NAME, or --model NAME");
  return name;
}

struct model *
model_open (const char *name, GError **error)
{
  g_autofree char *chosen = name ? g_strdup (name) : model_default (error);
  struct provider *provider = chosen ? open_provider (chosen, error) : NULL;
  if (!provider)
    return NULL;
  struct model *model = g_new0 (struct model, 1);
  model->provider = provider;
  return model;
}

gboolean
model_record (struct model *model, const char *file, GError **error)
{
  struct provider *record = record_new (model->provider, file, error);
  if (record)
    model->provider = record;
  return record != NULL;
}

void
model_free (struct model *model)
{
  if (!model)
    return;
  model->provider->class->free (model->provider);
  g_free (model);
}

const struct model_facts *
model_facts (const struct model *model)
{
  return &model->provider->facts;
}

/* ---- asking ---- */

/* What the model wrote as text in place of a call is one from here on, whoever asked. */
static void
take_written (const struct model_question *question, struct model_answer *answer)
{
  json_t *message = answer->stop == MODEL_STOP_REFUSAL ? NULL : written_message (question, answer->message);
  if (!message)
    return;
  json_decref (answer->message);
  answer->message = message;
  answer->stop = MODEL_STOP_CALLS;
}

gboolean
model_ask (struct model *model, const struct model_question *question, struct model_answer *ret_answer,
           GError **error)
{
  const json_t *last = json_array_get (question->messages, json_array_size (question->messages) - 1);
  const char *role = json_string_value (json_object_get (last, "role"));
  if (g_strcmp0 (role, "user") != 0 && g_strcmp0 (role, "tool") != 0) {
    g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_INVALID,
                         "the last message of the conversation is neither a user's nor a tool's");
    return FALSE;
  }
  if (!model->provider->class->ask (model->provider, question, ret_answer, error))
    return FALSE;
  take_written (question, ret_answer);
  return TRUE;
}
