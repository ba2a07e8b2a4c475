/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/repeats.h"

#include <stdlib.h>

void
repeats_clear (struct repeats *repeats)
{
  g_clear_pointer (&repeats->last, g_free);
  repeats->times = 0;
}

/* The order of arguments means nothing. */
static char *
repeats_digest (const char *name, const json_t *arguments)
{
  char *text = arguments ? json_dumps (arguments, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
  char *whole = g_strdup_printf ("%s %s", name, text ? text : "");
  free (text);
  return whole;
}

enum repeats_verdict
repeats_see (struct repeats *repeats, const char *name, const json_t *arguments)
{
  g_autofree char *now = repeats_digest (name, arguments);
  if (g_strcmp0 (now, repeats->last) != 0) {
    repeats_clear (repeats);
    repeats->last = g_steal_pointer (&now);
  }
  repeats->times++;
  if (repeats->times >= REPEATS_END)
    return REPEATS_OVER;
  return repeats->times >= REPEATS_REFUSED ? REPEATS_REFUSE : REPEATS_RUN;
}
