/* SPDX-License-Identifier: Apache-2.0 */
/* The checking of arguments against a tool's parameters. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/table.h"

/* Checks ARGUMENTS, a JSON object, and returns them with every parameter in its place, what was left out as
 * it is by default. ADDER_ERROR_INVALID says all that is wrong at once, each by parameter and bound. The
 * caller's. */
json_t *arguments_check (const struct tool *tool, const json_t *arguments, GError **error);
