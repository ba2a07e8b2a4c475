/* SPDX-License-Identifier: Apache-2.0 */
/* A model behind an HTTP API: asked until it answers, within its time. */
#pragma once

#include "models/provider.h"
#include "models/settings.h"

/* Of SETTINGS that have passed model_settings_check, and are taken, also where it fails. MODEL_ERROR_INVALID:
 * they do not go together, such as a key that would go over a network unencrypted. Nothing is asked yet. */
struct provider *api_new (struct model_settings *settings, GError **error);
