/* SPDX-License-Identifier: Apache-2.0 */
/* Records on their way to a file or to standard output. */
#pragma once

#include <jansson.h>

#include "interfaces/socket/call_backend.h"

/* Calls record.export with PARAMS, and writes the output to PATH, which is then whole or unchanged, or to
 * standard output (NULL). Shows progress on standard error if that is a terminal and standard output is none.
 * The answer is the caller's. */
json_t *record_export (struct call_backend *backend, json_t *params, const char *path, GError **error);
