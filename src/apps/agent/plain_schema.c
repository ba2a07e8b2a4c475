/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/plain_schema.h"

#include <glib.h>
#include <string.h>

#include "common/json.h"

#define DEPTH_MAX 20

/* Words that some servers refuse in a strict schema. */
static const char *const bounds[] = {
    "pattern",          "format",      "minimum",       "maximum",       "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf",  "minLength",     "maxLength",     "minItems",
    "maxItems",         "uniqueItems", "minProperties", "maxProperties", "default",
};
/* And those that a model need not be told. */
static const char *const silent[] = {"$schema", "$id", "$comment", "examples"};

static void
take_bounds (json_t *schema)
{
  g_autoptr (GString) told = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (bounds); i++) {
    const json_t *value = json_object_get (schema, bounds[i]);
    if (!value)
      continue;
    g_autofree char *text = json_to_text (value);
    g_string_append_printf (told, "%s%s: %s", told->len > 0 ? ", " : "", bounds[i], text);
    json_object_del (schema, bounds[i]);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (silent); i++)
    json_object_del (schema, silent[i]);
  if (told->len == 0)
    return;
  const char *before = json_member_text (schema, "description");
  g_autofree char *description = g_strdup_printf ("%s%s(%s)", before, before[0] ? " " : "", told->str);
  json_object_set_new (schema, "description", json_string (description));
}

static void make_plain (json_t *schema, guint depth);

static void
make_members_plain (json_t *schema, const char *word, guint depth)
{
  json_t *members = json_object_get (schema, word), *member;
  const char *name;
  gsize index;
  json_object_foreach (members, name, member) make_plain (member, depth);
  json_array_foreach (members, index, member) make_plain (member, depth);
}

static void
make_plain (json_t *schema, guint depth)
{
  static const char *const inner[] = {"properties", "$defs", "anyOf", "oneOf", "allOf"};
  if (!json_is_object (schema) || depth == 0)
    return;
  take_bounds (schema);
  for (gsize i = 0; i < G_N_ELEMENTS (inner); i++)
    make_members_plain (schema, inner[i], depth - 1);
  make_plain (json_object_get (schema, "items"), depth - 1);
  make_plain (json_object_get (schema, "additionalProperties"), depth - 1);
}

json_t *
plain_schema (const json_t *schema)
{
  json_t *copy = json_deep_copy (schema);
  make_plain (copy, DEPTH_MAX);
  return copy;
}
