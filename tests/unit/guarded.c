/* SPDX-License-Identifier: Apache-2.0 */
/* What clang refuses of locks (common/guarded.h): compiled with each BREACH by meson.build, and only the one
 * that breaks nothing may pass. */
#include "common/guarded.h"

LOCK_CLASS (table);

struct table {
  MUTEX (table) lock;
  GCond changed;
  GUARDED_BY (table) guint count;
};

REQUIRES (table)
static void
add (struct table *table)
{
  table->count++;
}

void use (struct table *table);

void
use (struct table *table)
{
#define NOTHING
#define A_FIELD_WITHOUT_ITS_LOCK    table->count = 0
#define A_CALL_WITHOUT_THE_LOCK     add (table)
#define A_WAIT_WITHOUT_THE_LOCK     g_cond_wait (&table->changed, &table->lock)
#define A_LOCK_THAT_IS_NOT_RELEASED g_mutex_lock (&table->lock)
#define A_RELEASE_OF_NO_LOCK        g_mutex_unlock (&table->lock)
  g_mutex_lock (&table->lock);
  add (table);
  while (table->count == 0)
    g_cond_wait (&table->changed, &table->lock);
  g_mutex_unlock (&table->lock);
  BREACH;
}
