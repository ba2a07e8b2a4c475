/* SPDX-License-Identifier: Apache-2.0 */
/* Servers of models that many people use: what need not be said for them. */
#pragma once

#include "models/settings.h"

/* The names of all, for help texts: "openai, anthropic, ...". The caller's. */
char *presets_names (void);

/* Fills what the server NAME is known for into SETTINGS. MODEL_ERROR_INVALID lists those that are known. */
gboolean preset_apply (const char *name, struct model_settings *settings, GError **error);
