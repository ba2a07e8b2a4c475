/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of models: read when a model is opened, from where its settings say, and written nowhere but into a
 * file of the user's own. No message here holds one. */
#pragma once

#include "models/settings.h"

#define KEY_BYTES_MAX 8192

/* Sets SETTINGS->key. MODEL_ERROR_KEY says which variable to set, or what to do with the file: it must be of
 * mode 0600 and the user's or root's. */
gboolean keys_resolve (struct model_settings *settings, GError **error);

/* "$OPENAI_API_KEY", "$OPENAI_API_KEY, which is not set", "in PATH", "none". The caller's. */
char *keys_describe (const struct model_settings *settings);

/* Whether TEXT, without blanks around it, can be one: it is sent in a header. The caller's, who overwrites
 * it; NULL with MODEL_ERROR_KEY. */
char *keys_clean (const char *text, GError **error);

/* The file that keeps the key of the model NAME, in the folder keys/ beside models.conf. The caller's. */
char *keys_own_file (const char *name);

/* Keeps KEY there, with mode 0600. */
gboolean keys_store (const char *name, const char *key, GError **error);

/* Removes it, where there is one. */
void keys_forget (const char *name);
