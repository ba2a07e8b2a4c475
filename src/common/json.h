/* SPDX-License-Identifier: Apache-2.0 */
/* JSON by jansson, with scope release and errors as GError. */
#pragma once

#include <glib.h>
#include <jansson.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (json_t, json_decref)

/* Parses LENGTH bytes that must be one JSON object and nothing else; duplicate keys are refused. WHAT names
 * the text in the error ("the request"). The caller owns the object. */
json_t *json_parse_object (const char *text, gsize length, const char *what, GError **error);

/* VALUE as one line of text, keys in insertion order. The caller's (g_free). Never NULL: values without a
 * text form, such as infinite numbers, are refused earlier. */
char *json_to_text (const json_t *value);

/* The text in the member NAME of OBJECT, or "" if it is none. OBJECT's. */
const char *json_member_text (const json_t *object, const char *name);

/* Whether VALUE is nested no deeper than LEVELS: other readers than jansson have a stack of their own. */
gboolean json_is_flat (const json_t *value, int levels);

/* The strings of the array LIST joined by SEPARATOR; "" if it is no array. The caller's. */
char *json_join (const json_t *list, const char *separator);

/* VALUE for people and queries: a string as it is, an array by json_join, a real number in up to ten digits,
 * anything else as JSON. The caller's. */
char *json_plain (const json_t *value, const char *separator);

/* An array of the strings in NAMES; in TEXTS, which end with NULL. As json_text_or_null has them. The
 * caller's. */
json_t *json_of_names (const GPtrArray *names);
json_t *json_of_texts (const char *const *texts);

/* A list of texts, which ends with NULL, as JSON and back; NULL is null. What is no string is "". Both the
 * caller's. */
json_t *json_of_texts_or_null (char *const *texts);
char **json_to_texts (const json_t *value);

/* TEXT as a JSON string, or null when TEXT is NULL; bytes that are not UTF-8 are replaced. The caller's. */
json_t *json_text_or_null (const char *text);
