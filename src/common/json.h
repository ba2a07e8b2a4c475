/* SPDX-License-Identifier: Apache-2.0 */
/* JSON by jansson, with scope release and errors as GError. */
#pragma once

#include <glib.h>
#include <jansson.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (json_t, json_decref)

/* Parses LENGTH bytes that must be one JSON object and nothing else; a key that stands twice is refused. WHAT
 * names the text in the error ("the request"). The caller owns the object. */
json_t *json_parse_object (const char *text, gsize length, const char *what, GError **error);

/* VALUE as one line of text, keys in the order in which they were set. The caller's (g_free). Never NULL:
 * what cannot be text, such as a number that is not finite, was refused when it was put in. */
char *json_to_text (const json_t *value);

/* The text that the member NAME of OBJECT is, or "" where it is none. OBJECT's. */
const char *json_member_text (const json_t *object, const char *name);

/* Whether VALUE is nested no deeper than LEVELS: other readers than jansson have a stack of their own. */
gboolean json_is_flat (const json_t *value, int levels);

/* The strings of the array LIST with SEPARATOR between them; "" for what is no array. The caller's. */
char *json_join (const json_t *list, const char *separator);

/* VALUE as people and queries have it: a string as it is, of an array json_join, a real number in up to
 * ten digits, anything else as JSON. The caller's. */
char *json_plain (const json_t *value, const char *separator);

/* An array of the strings in NAMES. The caller's. */
json_t *json_of_names (const GPtrArray *names);

/* TEXT as a JSON string, or null when TEXT is NULL; bytes that are not UTF-8 are replaced. The caller's. */
json_t *json_text_or_null (const char *text);
