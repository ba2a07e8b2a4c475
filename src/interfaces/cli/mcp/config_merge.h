/* SPDX-License-Identifier: Apache-2.0 */
/* Putting one entry into another program's configuration file, keeping everything else byte for byte. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* TEXT, a JSON object (NULL or blank: an empty one), with VALUE as the member NAME of the object that is its
 * member KEY, replacing one of that name. JSON with comments is refused, since readers differ about it. The
 * caller's (g_free). */
char *config_merge_json (const char *text, const char *key, const char *name, const json_t *value,
                         GError **error);

/* TEXT likewise, with ITEM in the array that is its member KEY, unless an item with the same text as its
 * member ID exists. */
char *config_merge_json_item (const char *text, const char *key, const char *id, const json_t *item,
                              GError **error);

/* TEXT, a TOML file, with VALUE as the table [KEY.NAME], replacing one of that name with its subtables. VALUE
 * has texts, lists of texts, and objects of texts. KEY and NAME are bare keys: letters, digits, "_" and "-".
 * The caller's. */
char *config_merge_toml (const char *text, const char *key, const char *name, const json_t *value,
                         GError **error);
