/* SPDX-License-Identifier: Apache-2.0 */
/* The key in what a server says. Whole, it becomes "***" in answers and errors; in errors, which quote keys
 * in part, so does each part of it that could be of use to somebody. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* A part of a key that is told. Keys that are shorter are no secrets ("none"), and may be words. */
#define MASK_MIN 12

/* TEXT without each part of KEY (may be NULL) of MASK_MIN letters and more, and without KEY as a whole. The
 * caller's. */
char *mask_parts (const char *key, const char *text);

/* VALUE with "***" for KEY (may be NULL) in every text and name. The caller's. */
json_t *mask_json (const char *key, json_t *value);

/* Text that comes in pieces, of which one may end within the key: that end is held until it is clear. */
struct mask {
  const char *key; /* or NULL */
  void (*saw) (gpointer data, const char *text, gsize length);
  gpointer saw_data;
  GString *held;
};
void mask_init (struct mask *mask, const char *key,
                void (*saw) (gpointer data, const char *text, gsize length), gpointer saw_data);
/* As the function saw: TEXT NULL begins anew. DATA is a struct mask. */
void mask_saw (gpointer data, const char *text, gsize length);
/* There is no more: what was held is told. */
void mask_end (struct mask *mask);
void mask_clear (struct mask *mask);
