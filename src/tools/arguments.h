/* SPDX-License-Identifier: Apache-2.0 */
/* The checking of arguments against a tool's parameters, and of other objects against fields. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/table.h"

/* Checks ARGUMENTS, a JSON object, and returns them with every parameter in its place, what was left out as
 * it is by default. ADDER_ERROR_INVALID says all that is wrong at once, each by parameter and bound. The
 * caller's. */
json_t *arguments_check (const struct tool *tool, const json_t *arguments, GError **error);

/* The same for an object of FIELDS that WHAT names in the error ("the body"). Members of objects, and of the
 * objects in lists, are checked and put in their places likewise. */
json_t *arguments_check_fields (const struct field *fields, const char *what, const json_t *arguments,
                                GError **error);
