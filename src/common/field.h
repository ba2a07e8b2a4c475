/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of fields: the permitted members of a JSON object, as data, and the one validator of such objects.
 * Parameters of tools, bodies and queries of HTTP, requests on the local socket: each is a table. Schemas are
 * made from the same rows (tools/schema.h). */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stddef.h>

/* The types of a value: bits, since some may be null as well. */
enum field_type {
  FIELD_TEXT = 1 << 0,
  FIELD_INTEGER = 1 << 1,
  FIELD_NUMBER = 1 << 2, /* also an integer */
  FIELD_BOOLEAN = 1 << 3,
  FIELD_LIST = 1 << 4,
  FIELD_OBJECT = 1 << 5,
  FIELD_NULL = 1 << 6,
};

/* Any JSON value. */
#define FIELD_ANY                                                                                            \
  (FIELD_TEXT | FIELD_INTEGER | FIELD_NUMBER | FIELD_BOOLEAN | FIELD_LIST | FIELD_OBJECT | FIELD_NULL)

/* A member of an object. Lists of them end with a row without a name. */
struct field {
  const char *name;
  guint types;
  gboolean optional;           /* optional; a parameter may be null as well, which means the same */
  const char *standard;        /* the default of a parameter, as JSON: "60", "\"\""; NULL: null */
  gint64 minimum, maximum;     /* an integer; characters of a text; items of a list; names of an object that
                                * has no members of ours. Both 0: no bound */
  const char *unit;            /* of an integer, for people: "s" */
  const char *pattern;         /* of a text: a regular expression that JSON Schema and PCRE agree on */
  const char *pattern_words;   /* the pattern in words: "letters, digits, _ and -" */
  const char *const *words;    /* of a text: the permitted words, instead of a pattern; ends with NULL */
  guint items;                 /* of a list: what its items are; of an object without members: its values */
  const struct field *members; /* of an object, and of the objects in a list; NULL: any */
  const char *text;            /* what it is */
  /* Its place in a struct (FIELD_AT), for the functions below, and marks defined by that struct's file, as
   * bits. */
  gsize offset, size;
  guint marks;
};

#define FIELD_AT(type, member) .offset = offsetof (type, member), .size = sizeof (((type *)NULL)->member)

#define FIELD_WORDS(...)                                                                                     \
  (const char *const[])                                                                                      \
  {                                                                                                          \
    __VA_ARGS__, NULL                                                                                        \
  }

/* The last row of a table: the name of its objects, where schemas have names. */
#define FIELD_END(title)                                                                                     \
  {                                                                                                          \
    .name = NULL, .text = (title)                                                                            \
  }

/* The name in FIELD_END of FIELDS, or NULL. */
const char *field_title (const struct field *fields);

/* The row of FIELDS called NAME, or NULL. */
const struct field *field_find (const struct field *fields, const char *name);

/* Whether VALUE (NULL: absent) is one of TYPES. */
gboolean field_has_type (const json_t *value, guint types);

/* Checks OBJECT, a JSON object that WHAT (NULL: nothing) names in the error ("the body"), and returns it
 * complete, with defaults filled in. Members of objects, and of the objects in lists, are checked likewise.
 * ADDER_ERROR_INVALID reports all mistakes at once, each by field and bound, with suggestions for mistyped
 * names. The caller's. */
json_t *field_check (const struct field *fields, const char *what, const json_t *object, GError **error);

/* OBJECT, from field_check, without the members that have their default: field_check of it gives OBJECT, also
 * by another version, which need not know members that nobody uses. The caller's. */
json_t *field_shorten (const struct field *fields, const json_t *object);

/* Whether VALUE is an answer as FIELDS describe it: an object with each field that is not optional, all of
 * the right types. Other names are ignored: another version may have more. */
gboolean field_fits (const struct field *fields, const json_t *value);

/* The regular expression of FIELD's text, "^(csv|json)$" where it has words; NULL: any. The caller's. */
char *field_pattern (const struct field *field);

/* ---- fields as members of a struct ---- */

/* A text is a char *, an integer one of 4 or 8 bytes, a boolean a gboolean, a list of texts a GStrv, and all
 * else a json_t *. Pointers are the struct's, and NULL for null. A field without types is plain data, which
 * is copied and is no JSON; one without a place is skipped. */

/* Stores the values of OBJECT (field_check) in TARGET, replacing the old ones. */
void field_fill (const struct field *fields, const json_t *object, gpointer target);

/* TARGET as an object. The caller's. */
json_t *field_write (const struct field *fields, gconstpointer target);

/* Copies those with any of MARKS (0: all) from SOURCE to TARGET, replacing the old ones. */
void field_copy (const struct field *fields, guint marks, gconstpointer source, gpointer target);

/* Frees the members of TARGET, leaving NULL, 0 and FALSE. */
void field_clear (const struct field *fields, gpointer target);
