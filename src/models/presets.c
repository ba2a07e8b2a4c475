/* SPDX-License-Identifier: Apache-2.0 */
#include "models/presets.h"

#include <string.h>

#include "common/text.h"
#include "models/question.h"

#define SETTINGS_MAX 4

/* Local servers listen there unless they are told otherwise. */
static const struct preset {
  const char *name;
  const char *settings[SETTINGS_MAX][2];
} presets[] = {
    {"openai",
     {{"dialect", "responses"},
      {"base_url", "https://api.openai.com/v1"},
      {"key_env", "OPENAI_API_KEY"},
      {"sees", "true"}}},
    {"anthropic",
     {{"dialect", "messages"},
      {"base_url", "https://api.anthropic.com"},
      {"key_env", "ANTHROPIC_API_KEY"},
      {"sees", "true"}}},
    {"ollama", {{"dialect", "chat"}, {"base_url", "http://127.0.0.1:11434/v1"}}},
    {"llama.cpp", {{"dialect", "chat"}, {"base_url", "http://127.0.0.1:8080/v1"}}},
    {"vllm", {{"dialect", "chat"}, {"base_url", "http://127.0.0.1:8000/v1"}}},
};

char *
presets_names (void)
{
  GString *names = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (presets); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", presets[i].name);
  return g_string_free (names, FALSE);
}

static const struct preset *
presets_find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (presets); i++)
    if (strcmp (presets[i].name, name) == 0)
      return &presets[i];
  return NULL;
}

gboolean
preset_apply (const char *name, struct model_settings *settings, GError **error)
{
  const struct preset *preset = presets_find (name);
  if (!preset) {
    g_autofree char *known = presets_names (), *shown = text_one_line (name, 64);
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID,
                 "there is no provider %s: known are %s; any other is named by --dialect and --base-url",
                 shown, known);
    return FALSE;
  }
  for (gsize i = 0; i < SETTINGS_MAX && preset->settings[i][0]; i++)
    if (!model_settings_set (settings, preset->settings[i][0], preset->settings[i][1], error))
      return FALSE;
  return TRUE;
}
