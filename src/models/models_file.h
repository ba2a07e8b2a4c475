/* SPDX-License-Identifier: Apache-2.0 */
/* models.conf: the models that a user asks, a group for each (settings.h has its keys), and [models] default.
 * It holds no key, but it says where keys go: so nobody else may write to it. */
#pragma once

#include "models/settings.h"

#define MODELS_MAX        256
#define MODELS_FILE_BYTES (1 << 20)
#define MODEL_NAME_MAX    64
#define MODELS_GROUP      "models"
#define MODELS_DEFAULT    "default"

/* A letter or digit, then those and "_-.:", and no name that means something else. */
gboolean model_name_check (const char *name, GError **error);

/* Where the file is. The caller's. */
char *models_file_path (void);

/* Its models (struct model_settings, the array's) in the file's order; none where there is no file.
 * *RET_DEFAULT, the caller's, is the name of the default one, or NULL. MODEL_ERROR_INVALID names file, group
 * and key. */
GPtrArray *models_file_read (char **ret_default, GError **error);

/* The model NAME of it. MODEL_ERROR_UNKNOWN says how one is added, and which was meant. */
struct model_settings *models_file_find (const char *name, GError **error);

/* Has CHANGE change KEYS, what stands in the file, and writes it, comments and all, while nobody else does.
 * Nothing is written where CHANGE fails or what it leaves cannot be read again. */
gboolean models_file_change (gboolean (*change) (GKeyFile *keys, gpointer data, GError **error),
                             gpointer data, GError **error);
