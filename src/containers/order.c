/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and facts, as JSON and back: both are tables of fields. */
#include "containers/order.h"

#include <stddef.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"

enum field_type {
  FIELD_MUST,  /* text that is there */
  FIELD_TEXT,  /* or null */
  FIELD_BYTES, /* guint64 */
  FIELD_ID,    /* guint */
};

struct field {
  const char *name;
  enum field_type type;
  gsize offset;
};

#define IN_ORDER(member, type)                                                                               \
  {                                                                                                          \
#member, type, offsetof(struct container_order, member)                                                  \
  }
#define IN_FACTS(member, type)                                                                               \
  {                                                                                                          \
#member, type, offsetof(struct container_facts, member)                                                  \
  }

static const struct field order_fields[] = {
    IN_ORDER (engine, FIELD_TEXT),
    IN_ORDER (socket, FIELD_TEXT),
    IN_ORDER (runtime, FIELD_TEXT),
    IN_ORDER (name, FIELD_TEXT),
    IN_ORDER (image, FIELD_MUST),
    IN_ORDER (image_age_ms, FIELD_BYTES),
    IN_ORDER (start_ms, FIELD_BYTES),
    IN_ORDER (environment, FIELD_MUST),
    IN_ORDER (memory_bytes, FIELD_BYTES),
    IN_ORDER (pids, FIELD_BYTES),
    IN_ORDER (cpu_percent, FIELD_BYTES),
    IN_ORDER (uid, FIELD_ID),
    IN_ORDER (gid, FIELD_ID),
    IN_ORDER (shm_bytes, FIELD_BYTES),
    IN_ORDER (workspace_bytes, FIELD_BYTES),
    IN_ORDER (workspace_files, FIELD_BYTES),
    IN_ORDER (home, FIELD_MUST),
    IN_ORDER (lend, FIELD_TEXT),
    IN_ORDER (directory, FIELD_TEXT),
};

static const struct field facts_fields[] = {
    IN_FACTS (engine, FIELD_MUST),    IN_FACTS (engine_version, FIELD_MUST), IN_FACTS (runtime, FIELD_TEXT),
    IN_FACTS (container, FIELD_MUST), IN_FACTS (image, FIELD_MUST),          IN_FACTS (digest, FIELD_MUST),
    IN_FACTS (version, FIELD_TEXT),   IN_FACTS (warning, FIELD_TEXT),
};

#define AT(data, field, type) ((type *)(void *)((char *)(guintptr)(data) + (field)->offset))

static char *
write_fields (const struct field *fields, gsize count, const void *data)
{
  g_autoptr (json_t) object = json_object ();
  for (const struct field *field = fields; field < fields + count; field++) {
    json_t *value = NULL;
    switch (field->type) {
    case FIELD_MUST:
    case FIELD_TEXT:
      value = json_text_or_null (*AT (data, field, char *));
      break;
    case FIELD_BYTES:
      value = json_integer ((json_int_t)*AT (data, field, guint64));
      break;
    case FIELD_ID:
      value = json_integer (*AT (data, field, guint));
      break;
    }
    json_object_set_new (object, field->name, value);
  }
  return json_to_text (object);
}

static gboolean
read_field (const struct field *field, const json_t *value, void *data)
{
  json_int_t number = json_integer_value (value);
  switch (field->type) {
  case FIELD_TEXT:
    if (json_is_null (value))
      return TRUE;
    G_GNUC_FALLTHROUGH;
  case FIELD_MUST:
    *AT (data, field, char *) = g_strdup (json_string_value (value));
    return json_is_string (value);
  case FIELD_BYTES:
    *AT (data, field, guint64) = (guint64)number;
    return json_is_integer (value) && number >= 0;
  case FIELD_ID:
    *AT (data, field, guint) = (guint)number;
    return json_is_integer (value) && number >= 0 && number <= G_MAXUINT;
  }
  return FALSE;
}

/* What is not known there is refused too: both sides are of one version. */
static gboolean
read_fields (const struct field *fields, gsize count, const char *text, gsize length, const char *what,
             void *data, GError **error)
{
  g_autoptr (json_t) object = json_parse_object (text, length, what, error);
  if (!object)
    return FALSE;
  for (const struct field *field = fields; field < fields + count; field++)
    if (!read_field (field, json_object_get (object, field->name), data)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: %s is missing or wrong", what, field->name);
      return FALSE;
    }
  if (json_object_size (object) == count)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s has fields that are not known", what);
  return FALSE;
}

static void
free_fields (const struct field *fields, gsize count, void *data)
{
  for (const struct field *field = fields; data && field < fields + count; field++)
    if (field->type == FIELD_MUST || field->type == FIELD_TEXT)
      g_free (*AT (data, field, char *));
  g_free (data);
}

char *
container_order_write (const struct container_order *order)
{
  return write_fields (order_fields, G_N_ELEMENTS (order_fields), order);
}

struct container_order *
container_order_read (const char *text, GError **error)
{
  struct container_order *order = g_new0 (struct container_order, 1);
  if (!read_fields (order_fields, G_N_ELEMENTS (order_fields), text, strlen (text),
                    "the order of a container", order, error))
    g_clear_pointer (&order, container_order_free);
  return order;
}

void
container_order_free (struct container_order *order)
{
  free_fields (order_fields, G_N_ELEMENTS (order_fields), order);
}

char *
container_facts_write (const struct container_facts *facts)
{
  return write_fields (facts_fields, G_N_ELEMENTS (facts_fields), facts);
}

struct container_facts *
container_facts_read (const char *text, gsize length, GError **error)
{
  struct container_facts *facts = g_new0 (struct container_facts, 1);
  if (!read_fields (facts_fields, G_N_ELEMENTS (facts_fields), text, length, "what is told of a container",
                    facts, error))
    g_clear_pointer (&facts, container_facts_free);
  return facts;
}

void
container_facts_free (struct container_facts *facts)
{
  free_fields (facts_fields, G_N_ELEMENTS (facts_fields), facts);
}
