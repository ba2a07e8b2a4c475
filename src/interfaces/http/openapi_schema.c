/* SPDX-License-Identifier: Apache-2.0 */
/* Transformations of schemas: constructs that trip generators are rewritten, limits of a body are stated, and
 * named schemas appear once. */
#include "interfaces/http/openapi_schema.h"

#include <string.h>

#include "common/json.h"
#include "tools/schema.h"

#define ANY_TYPES 7 /* listed by an anyOf that allows anything */
#define NO_ZERO   "^[^\\u0000]*$"
#define ANY_IN_WORDS                                                                                         \
  "Any JSON value. Whole numbers have at most 64 bits, and no text has the character U+0000."

json_t *
openapi_reference (const char *kind, const char *name)
{
  g_autofree char *path = g_strdup_printf ("#/components/%s/%s", kind, name);
  return json_pack ("{s:s}", "$ref", path);
}

/* ---- for every schema ---- */

static gboolean
schema_is_of (const json_t *schema, const char *type)
{
  gsize index;
  json_t *each, *types = json_object_get (schema, "type");
  json_array_foreach (types, index, each)
  {
    if (strcmp (json_string_value (each), type) == 0)
      return TRUE;
  }
  return g_strcmp0 (json_string_value (types), type) == 0;
}

/* Bounds of input: json_parse_object has no longer numbers and no zeros. */
static void
bound_asked (json_t *schema)
{
  if (schema_is_of (schema, "integer") && !json_object_get (schema, "maximum")) {
    json_object_set_new (schema, "minimum", json_integer (G_MININT64));
    json_object_set_new (schema, "maximum", json_integer (G_MAXINT64));
  }
  if (schema_is_of (schema, "string") && !json_object_get (schema, "pattern"))
    json_object_set_new (schema, "pattern", json_string (NO_ZERO));
}

/* From a list of all types generators would make a union. */
static void
shorten_any (json_t *schema, gboolean reply)
{
  if (json_array_size (json_object_get (schema, "anyOf")) != ANY_TYPES)
    return;
  json_object_del (schema, "anyOf");
  if (!reply && !json_object_get (schema, "description"))
    json_object_set_new (schema, "description", json_string (ANY_IN_WORDS));
}

/* Generators put defaults into code, and treat a member with a default as always present: it is only
 * described. */
static void
tell_default (json_t *schema)
{
  g_autoptr (json_t) standard = json_incref (json_object_get (schema, "default"));
  const char *description = json_string_value (json_object_get (schema, "description"));
  json_object_del (schema, "default");
  if (!description || !standard || json_is_object (standard) || json_is_array (standard))
    return;
  g_autofree char *value = json_plain (standard, ",");
  g_autofree char *text = g_strdup_printf ("%s By default %s.", description, *value ? value : "empty");
  json_object_set_new (schema, "description", json_string (text));
}

static void
schema_tidy (json_t *schema, gboolean reply)
{
  const char *name;
  gsize index;
  json_t *each;
  shorten_any (schema, reply);
  tell_default (schema);
  if (schema_is_of (schema, "array") && !json_object_get (schema, "items"))
    json_object_set_new (schema, "items", json_object ());
  if (!reply)
    bound_asked (schema);
  json_object_foreach (json_object_get (schema, "properties"), name, each) schema_tidy (each, reply);
  json_array_foreach (json_object_get (schema, "anyOf"), index, each) schema_tidy (each, reply);
  if ((each = json_object_get (schema, "items")))
    schema_tidy (each, reply);
  if (json_is_object (each = json_object_get (schema, "additionalProperties")))
    schema_tidy (each, reply);
}

/* ---- names ---- */

static void schema_lift (json_t *schema, const struct field *fields, const char *title, json_t *schemas);

/* The object of MEMBERS in VALUE: itself, one of its items, or one of its alternatives. */
static void
lift_value (json_t *value, const struct field *members, json_t *schemas)
{
  gsize index;
  json_t *each;
  if (json_object_get (value, "properties"))
    schema_lift (value, members, field_title (members), schemas);
  if ((each = json_object_get (value, "items")))
    lift_value (each, members, schemas);
  json_array_foreach (json_object_get (value, "anyOf"), index, each) lift_value (each, members, schemas);
}

/* Puts SCHEMA, the object of FIELDS, into SCHEMAS as TITLE, and a reference in its place. NULL: only its
 * members. */
static void
schema_lift (json_t *schema, const struct field *fields, const char *title, json_t *schemas)
{
  json_t *properties = json_object_get (schema, "properties");
  for (const struct field *field = fields; field->name; field++)
    if (field->members)
      lift_value (json_object_get (properties, field->name), field->members, schemas);
  if (!title)
    return;
  g_autoptr (json_t) description = json_incref (json_object_get (schema, "description"));
  json_object_del (schema, "description");
  json_object_set_new (schemas, title, json_copy (schema));
  json_object_clear (schema);
  g_autoptr (json_t) reference = openapi_reference ("schemas", title);
  json_object_update (schema, reference);
  if (description)
    json_object_set (schema, "description", description);
}

json_t *
openapi_schema (const struct field *fields, gboolean reply, const char *name, json_t *schemas)
{
  json_t *schema = schema_fields (fields, reply);
  const char *title = field_title (fields);
  schema_tidy (schema, reply);
  schema_lift (schema, fields, title ? title : name, schemas);
  return schema;
}

json_t *
openapi_parameter_schema (const struct field *field, json_t **ret_description)
{
  const struct field alone[] = {*field, {0}};
  g_autoptr (json_t) object = schema_fields (alone, FALSE);
  json_t *schema = json_object_get (json_object_get (object, "properties"), field->name);
  schema_tidy (schema, FALSE);
  *ret_description = json_incref (json_object_get (schema, "description"));
  json_object_del (schema, "description");
  /* A query omits null: there is no text for it. */
  json_t *choices = json_object_get (schema, "anyOf");
  for (gsize i = json_array_size (choices); i-- > 0;)
    if (schema_is_of (json_array_get (choices, i), "null"))
      json_array_remove (choices, i);
  if (json_array_size (choices) == 1) {
    g_autoptr (json_t) only = json_incref (json_array_get (choices, 0));
    json_object_del (schema, "anyOf");
    json_object_update_missing (schema, only);
  }
  return json_incref (schema);
}
