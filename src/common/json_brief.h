/* SPDX-License-Identifier: Apache-2.0 */
/* Shortened JSON, for keeping or showing values that may be long. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* The bounds of a short form. */
struct json_bounds {
  gsize text_bytes; /* of one text, and of one key */
  gsize items;      /* of one array or object */
  guint depth;
  gsize bytes; /* of all texts and items together; counts down */
};

/* A copy of VALUE within BOUNDS: a longer text is its beginning and its length, an array or an object its
 * first items, and how many are missing. The caller's. */
json_t *json_brief (const json_t *value, struct json_bounds *bounds);

/* The same of a TEXT, made UTF-8 where it is not; NULL is null. */
json_t *json_brief_text (const char *text, struct json_bounds *bounds);
