/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and facts, as JSON and back: both are tables of fields. What is not known there is refused too: both
 * sides are of one version. */
#include "containers/order.h"

#include <string.h>

#include "adder_types.h"
#include "common/field.h"
#include "common/json.h"

#define MUST_TEXT(of, member)                                                                                \
  {                                                                                                          \
    .name = #member, .types = FIELD_TEXT, FIELD_AT (struct of, member)                                       \
  }
#define MAY_TEXT(of, member)                                                                                 \
  {                                                                                                          \
    .name = #member, .types = FIELD_TEXT, .optional = TRUE, FIELD_AT (struct of, member)                     \
  }
#define NUMBER(of, member, most)                                                                             \
  {                                                                                                          \
    .name = #member, .types = FIELD_INTEGER, .maximum = (most), FIELD_AT (struct of, member)                 \
  }
#define BYTES(of, member) NUMBER (of, member, G_MAXINT64)

static const struct field order_fields[] = {
    MAY_TEXT (container_order, engine),         MAY_TEXT (container_order, socket),
    MAY_TEXT (container_order, runtime),        MAY_TEXT (container_order, name),
    MUST_TEXT (container_order, image),         BYTES (container_order, image_age_ms),
    BYTES (container_order, start_ms),          MUST_TEXT (container_order, environment),
    BYTES (container_order, memory_bytes),      BYTES (container_order, pids),
    BYTES (container_order, cpu_percent),       NUMBER (container_order, uid, G_MAXUINT32),
    NUMBER (container_order, gid, G_MAXUINT32), BYTES (container_order, shm_bytes),
    BYTES (container_order, workspace_bytes),   BYTES (container_order, workspace_files),
    MUST_TEXT (container_order, home),          MAY_TEXT (container_order, bind),
    MAY_TEXT (container_order, directory),      {0},
};

static const struct field facts_fields[] = {
    MUST_TEXT (container_facts, engine),
    MUST_TEXT (container_facts, engine_version),
    MAY_TEXT (container_facts, runtime),
    MUST_TEXT (container_facts, container),
    MUST_TEXT (container_facts, image),
    MUST_TEXT (container_facts, digest),
    MAY_TEXT (container_facts, version),
    MAY_TEXT (container_facts, warning),
    {0},
};

static char *
write_fields (const struct field *fields, gconstpointer data)
{
  g_autoptr (json_t) object = field_write (fields, data);
  return json_to_text (object);
}

/* Into DATA, which is of zeros. */
static gboolean
read_fields (const struct field *fields, const char *text, gsize length, const char *what, gpointer data,
             GError **error)
{
  g_autoptr (json_t) object = json_parse_object (text, length, what, error);
  g_autoptr (json_t) checked = object ? field_check (fields, what, object, error) : NULL;
  if (checked)
    field_fill (fields, checked, data);
  return checked != NULL;
}

char *
container_order_write (const struct container_order *order)
{
  return write_fields (order_fields, order);
}

struct container_order *
container_order_read (const char *text, GError **error)
{
  struct container_order *order = g_new0 (struct container_order, 1);
  if (!read_fields (order_fields, text, strlen (text), "the order of a container", order, error))
    g_clear_pointer (&order, container_order_free);
  return order;
}

void
container_order_free (struct container_order *order)
{
  if (order)
    field_clear (order_fields, order);
  g_free (order);
}

char *
container_facts_write (const struct container_facts *facts)
{
  return write_fields (facts_fields, facts);
}

struct container_facts *
container_facts_read (const char *text, gsize length, GError **error)
{
  struct container_facts *facts = g_new0 (struct container_facts, 1);
  if (!read_fields (facts_fields, text, length, "the description of a container", facts, error))
    g_clear_pointer (&facts, container_facts_free);
  return facts;
}

void
container_facts_free (struct container_facts *facts)
{
  if (facts)
    field_clear (facts_fields, facts);
  g_free (facts);
}
