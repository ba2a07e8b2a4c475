/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, compared. */
#include "engine/shape.h"

struct shape
shape_default (void)
{
  return (struct shape){.limits = limits_default (), .directory_fd = -1};
}

/* Where the sandbox itself holds limits, they cannot be set from outside. */
static gboolean
limits_same (const struct limits *a, const struct limits *b, enum isolation isolation)
{
  gboolean inside = isolation != ISOLATION_NAMESPACES;
  for (int i = 0; i < LIMIT_COUNT; i++)
    if ((limit_table[i].shape || (inside && limit_table[i].inside)) && a->value[i] != b->value[i])
      return FALSE;
  return TRUE;
}

gboolean
shape_same (const struct shape *a, const struct shape *b, enum isolation isolation)
{
  return a->session == b->session && a->lent == b->lent && limits_same (&a->limits, &b->limits, isolation);
}

gboolean
shape_is_kept (const struct shape *shape, enum isolation isolation)
{
  struct shape kept = shape_default ();
  kept.session = shape->session;
  return shape_same (shape, &kept, isolation);
}
