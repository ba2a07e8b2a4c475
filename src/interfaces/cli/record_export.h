/* SPDX-License-Identifier: Apache-2.0 */
/* Records on their way to a file or to standard output. */
#pragma once

#include <jansson.h>

#include "interfaces/socket/call_backend.h"

/* Does record.export with PARAMS, and writes what comes to PATH, which then is whole or as it was before, or
 * to standard output (NULL). How far it is stands on standard error where that is a terminal and
 * standard output is none. The answer is the caller's. */
json_t *record_export (struct call_backend *backend, json_t *params, const char *path, GError **error);
