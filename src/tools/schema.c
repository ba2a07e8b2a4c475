/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema from rows of fields. */
#include "tools/schema.h"

#include "common/json.h"

#define FAILURE_SHAPE "failure" /* no member of a reply has that name */

const struct field run_id_reply[] = {
    {.name = "run_id",
     .types = FIELD_TEXT | FIELD_NULL,
     .text = "The run, for the record; null where there was none."},
    {0},
};

const struct field error_reply[] = {
    {.name = "error", .types = FIELD_TEXT, .text = "Why it was not done, in one sentence."},
    {.name = "approval_id",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .text = "If a person must approve first: the id of the approval."},
    {0},
};

/* The basic forms are short: they omit fields for the whole toolset only (FIELD_IN_FULL), and describe a
 * reply by types alone. */
enum form { FORM_INPUT, FORM_BASIC_INPUT, FORM_STRICT, FORM_OUTPUT, FORM_BASIC_OUTPUT };

static gboolean
schema_is_basic (enum form form)
{
  return form == FORM_BASIC_INPUT || form == FORM_BASIC_OUTPUT;
}

static gboolean
schema_is_output (enum form form)
{
  return form == FORM_OUTPUT || form == FORM_BASIC_OUTPUT;
}

static const struct {
  enum field_type type;
  const char *name;
} type_names[] = {
    {FIELD_TEXT, "string"}, {FIELD_INTEGER, "integer"}, {FIELD_NUMBER, "number"}, {FIELD_BOOLEAN, "boolean"},
    {FIELD_LIST, "array"},  {FIELD_OBJECT, "object"},   {FIELD_NULL, "null"},
};

/* "string"; in the strict form also ["string", "null"]. */
static json_t *
schema_type_of (guint types)
{
  json_t *names = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (type_names); i++)
    if (types & type_names[i].type)
      json_array_append_new (names, json_string (type_names[i].name));
  if (json_array_size (names) != 1)
    return names;
  json_t *only = json_incref (json_array_get (names, 0));
  json_decref (names);
  return only;
}

static json_t *object_schema (const struct field *fields, enum form form);

static void
add_bounds (json_t *schema, const struct field *field, const char *least, const char *most)
{
  if (field->minimum == 0 && field->maximum == 0)
    return;
  if (field->minimum != 0 || (field->types & FIELD_INTEGER))
    json_object_set_new (schema, least, json_integer (field->minimum));
  json_object_set_new (schema, most, json_integer (field->maximum));
}

static void
add_members (json_t *schema, const struct field *field, enum form form)
{
  if (field->members) {
    g_autoptr (json_t) members = object_schema (field->members, form);
    json_object_update_missing (schema, members);
  }
}

static json_t *value_schema (const struct field *field, guint types, enum form form, gboolean inner);

/* Of an object with names chosen by the caller. */
static void
schema_add_values (json_t *schema, const struct field *field, enum form form)
{
  add_bounds (schema, field, "minProperties", "maxProperties");
  if (field->items != 0)
    json_object_set_new (schema, "additionalProperties", value_schema (field, field->items, form, TRUE));
}

/* A value of TYPES, with its bounds: FIELD's own, or (INNER) an item of the list or map FIELD, which has no
 * bounds but its members. */
static json_t *
plain_schema (const struct field *field, guint types, enum form form, gboolean inner)
{
  json_t *schema = json_pack ("{s:o}", "type", schema_type_of (types));
  if ((types & FIELD_OBJECT) && (inner || !(field->types & FIELD_LIST)) && field->members)
    add_members (schema, field, form);
  if (inner)
    return schema;
  if (types & (FIELD_INTEGER | FIELD_NUMBER))
    add_bounds (schema, field, "minimum", "maximum");
  if ((types & FIELD_TEXT) && form != FORM_STRICT)
    add_bounds (schema, field, "minLength", "maxLength");
  g_autofree char *pattern = types & FIELD_TEXT ? field_pattern (field) : NULL;
  if (pattern)
    json_object_set_new (schema, "pattern", json_string (pattern));
  if (types & FIELD_LIST) {
    add_bounds (schema, field, "minItems", "maxItems");
    json_object_set_new (schema, "items", value_schema (field, field->items, form, TRUE));
  } else if ((types & FIELD_OBJECT) && !field->members)
    schema_add_values (schema, field, form);
  return schema;
}

/* A "type" with several names is legal, but few translators of schemas for models understand it: each type
 * gets its own schema. The strict form is for those that do. */
static json_t *
value_schema (const struct field *field, guint types, enum form form, gboolean inner)
{
  if (types == 0)
    return json_object (); /* anything */
  if (form == FORM_STRICT || (types & (types - 1)) == 0)
    return plain_schema (field, types, form, inner);
  json_t *choices = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (type_names); i++)
    if (types & type_names[i].type)
      json_array_append_new (choices, plain_schema (field, type_names[i].type, form, inner));
  return json_pack ("{s:o}", "anyOf", choices);
}

/* FIELD for people: what it is, its unit, and in the strict form the constraints that the schema cannot
 * express. The caller's. */
static char *
schema_describe (const struct field *field, enum form form)
{
  GString *text = g_string_new (field->text);
  if (field->unit)
    g_string_append_printf (text, " In %s.", field->unit);
  if (form == FORM_STRICT && field->standard)
    g_string_append_printf (text, " Null: %s.", field->standard);
  return g_string_free (text, FALSE);
}

static json_t *
field_schema (const struct field *field, enum form form)
{
  gboolean nullable = !schema_is_output (form) && field->optional;
  json_t *schema = value_schema (field, field->types | (nullable ? FIELD_NULL : 0), form, FALSE);
  if (form == FORM_BASIC_OUTPUT)
    return schema;
  if (form != FORM_STRICT && !schema_is_output (form) && field->standard)
    json_object_set_new (schema, "default", json_loads (field->standard, JSON_DECODE_ANY, NULL));
  g_autofree char *description = schema_describe (field, form);
  json_object_set_new (schema, "description", json_string (description));
  return schema;
}

/* {"type": "object", ...} with FIELDS and nothing else; for a basic reply, with all its possible members. */
static json_t *
object_schema (const struct field *fields, enum form form)
{
  json_t *properties = json_object (), *required = json_array ();
  for (const struct field *field = fields; field && field->name; field++) {
    if (schema_is_basic (form) && (field->marks & FIELD_IN_FULL))
      continue;
    json_object_set_new (properties, field->name, field_schema (field, form));
    if (!field->optional || form == FORM_STRICT)
      json_array_append_new (required, json_string (field->name));
  }
  json_t *schema = json_pack ("{s:s, s:o}", "type", "object", "properties", properties);
  if (form == FORM_BASIC_OUTPUT) {
    json_decref (required);
    return schema;
  }
  json_object_set_new (schema, "required", required);
  json_object_set_new (schema, "additionalProperties", json_false ());
  return schema;
}

json_t *
schema_input (const struct tool *tool)
{
  json_t *schema = json_pack ("{s:s}", "$schema", SCHEMA_DIALECT);
  g_autoptr (json_t) object = object_schema (tool->parameters, FORM_INPUT);
  json_object_update (schema, object);
  return schema;
}

json_t *
schema_input_strict (const struct tool *tool)
{
  return object_schema (tool->parameters, FORM_STRICT);
}

json_t *
schema_basic_input (const struct tool *tool)
{
  return object_schema (tool->parameters, FORM_BASIC_INPUT);
}

/* ---- replies ---- */

/* FIELDS and the run's id, which a basic reply may omit. */
static json_t *
schema_reply_schema (const struct field *fields, enum form form)
{
  json_t *schema = object_schema (fields, form);
  if (form == FORM_BASIC_OUTPUT)
    return schema;
  json_object_set_new (json_object_get (schema, "properties"), run_id_reply->name,
                       field_schema (run_id_reply, form));
  json_array_append_new (json_object_get (schema, "required"), json_string (run_id_reply->name));
  return schema;
}

/* Moves the shapes in SCHEMA, at or below "properties", to DEFS under the names of their members, leaving
 * references. Each name has one shape: a different shape of that name stays in place. */
static void
schema_share (json_t *schema, json_t *defs)
{
  const char *name;
  json_t *value;
  void *next;
  json_object_foreach_safe (json_object_get (schema, "properties"), next, name, value)
  {
    json_t *items = json_object_get (value, "items"), *choices = json_object_get (value, "anyOf");
    json_t *holder = items ? value : choices ? choices : json_object_get (schema, "properties");
    json_t *shape = items ? items : choices ? json_array_get (choices, 0) : value;
    if (!json_object_get (shape, "properties"))
      continue;
    schema_share (shape, defs);
    json_t *known = json_object_get (defs, name);
    if (known && !json_equal (known, shape))
      continue;
    json_object_set (defs, name, shape);
    g_autofree char *place = g_strconcat ("#/$defs/", name, NULL);
    json_t *reference = json_pack ("{s:s}", "$ref", place);
    json_t *text = json_object_get (shape, "description");
    if (text && shape == value) { /* of this member, not of the shape */
      json_object_set (reference, "description", text);
      json_object_del (shape, "description");
    }
    if (choices && !items)
      json_array_set_new (holder, 0, reference);
    else
      json_object_set_new (holder, items ? "items" : name, reference);
  }
}

static json_t *
schema_replies (const struct tool *tool, enum form form)
{
  json_t *shapes = json_array (), *defs = json_object ();
  for (gsize i = 0; tool->replies[i]; i++) {
    json_t *shape = schema_reply_schema (tool->replies[i], form);
    schema_share (shape, defs);
    json_array_append_new (shapes, shape);
  }
  json_object_set_new (defs, FAILURE_SHAPE, schema_reply_schema (error_reply, form));
  json_array_append_new (shapes, json_pack ("{s:s}", "$ref", "#/$defs/" FAILURE_SHAPE));
  return json_pack ("{s:s, s:o, s:o}", "type", "object", "anyOf", shapes, "$defs", defs);
}

json_t *
schema_output (const struct tool *tool)
{
  json_t *schema = json_pack ("{s:s}", "$schema", SCHEMA_DIALECT);
  g_autoptr (json_t) replies = schema_replies (tool, FORM_OUTPUT);
  json_object_update (schema, replies);
  return schema;
}

json_t *
schema_basic_output (const struct tool *tool)
{
  return schema_replies (tool, FORM_BASIC_OUTPUT);
}

json_t *
schema_fields (const struct field *fields, gboolean reply)
{
  return object_schema (fields, reply ? FORM_OUTPUT : FORM_INPUT);
}
