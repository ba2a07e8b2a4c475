/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in the values of profiles: words between white space, commas or semicolons. */
#pragma once

#include <glib.h>

/* More than any list that a person writes. */
#define PROFILE_LIST_MAX        1000
#define PROFILE_LIST_WORD_BYTES 256

/* The words of VALUE, each once, in order; an empty value is an empty list. NULL with ERROR when there are
 * too many or one is too long. The caller's. */
GStrv profile_list_parse (const char *value, GError **error);
