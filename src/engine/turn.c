/* SPDX-License-Identifier: Apache-2.0 */
/* Turns. */
#include "engine/turn.h"

gboolean
turn_try (struct turn *turn)
{
  /* Who waits is served when the turn is given up, so it is free only when nobody waits. */
  if (turn->held)
    return FALSE;
  turn->held = TRUE;
  return TRUE;
}

void
turn_enter (struct turn *turn, struct turn_place *place, struct interrupt *interrupt)
{
  *place = (struct turn_place){.interrupt = interrupt, .link = {.data = place}};
  g_queue_push_tail_link (&turn->waiting, &place->link);
}

void
turn_leave (struct turn *turn, struct turn_place *place)
{
  g_queue_unlink (&turn->waiting, &place->link);
}

void
turn_pass (struct turn *turn)
{
  GList *link = g_queue_pop_head_link (&turn->waiting);
  turn->held = link != NULL;
  if (!link)
    return;
  struct turn_place *place = link->data;
  place->served = TRUE;
  interrupt_wake (place->interrupt);
}

void
turn_wake_all (struct turn *turn)
{
  for (GList *link = turn->waiting.head; link; link = link->next)
    interrupt_wake (((struct turn_place *)link->data)->interrupt);
}
