/* SPDX-License-Identifier: Apache-2.0 */
/* Putting one entry into a configuration file of another program, in which all else stays byte for byte. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* TEXT, a JSON object (NULL or blank: an empty one), with VALUE as the member NAME of the object that is its
 * member KEY, in place of one of that name. JSON with comments is refused, since not every reader of it takes
 * the same. The caller's (g_free). */
char *config_merge_json (const char *text, const char *key, const char *name, const json_t *value,
                         GError **error);

/* TEXT likewise, with ITEM in the array that is its member KEY, unless one with the same text as its member
 * ID is there. */
char *config_merge_json_item (const char *text, const char *key, const char *id, const json_t *item,
                              GError **error);

/* TEXT, a file in TOML, with the table [KEY.NAME] that VALUE says, in place of one of that name and what
 * belongs to it. VALUE has texts, lists of texts, and objects of texts. KEY and NAME are bare keys: letters,
 * digits, "_" and "-". The caller's. */
char *config_merge_toml (const char *text, const char *key, const char *name, const json_t *value,
                         GError **error);
