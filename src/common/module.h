/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that are loaded only when configured, because their libraries would cost every start of Adder
 * milliseconds. They are beside the runner's programs. */
#pragma once

#include <glib.h>

/* The object SYMBOL of the module NAME ("adder-postgres"), which stays loaded. NULL with
 * ADDER_ERROR_UNSUPPORTED, which says what is not installed. */
const void *module_load (const char *name, const char *symbol, GError **error);
