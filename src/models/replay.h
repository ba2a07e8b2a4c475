/* SPDX-License-Identifier: Apache-2.0 */
/* A model that answers from a file, in the file's order, and asks nobody. */
#pragma once

#include "models/provider.h"

#define REPLAY_PREFIX "replay:"

/* Plays the file PATH from its beginning. */
struct provider *replay_new (const char *path, GError **error);
