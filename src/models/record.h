/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that asks another one, and appends each exchange to a file that replay.h plays. */
#pragma once

#include "models/provider.h"

/* Takes INNER over, on success only. FILE is made with mode 0600, or gets longer. */
struct provider *record_new (struct provider *inner, const char *file, GError **error);
