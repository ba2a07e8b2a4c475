/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that were run. */
#include "engine/session/history.h"

#include "common/text.h"
#include "engine/request/inputs.h"

/* Memory of CELL, apart from the little for its digests. */
static gsize
history_bytes_of (const struct history_cell *cell)
{
  return sizeof *cell + cell->length + (cell->given ? cell->given->len * sizeof (struct input) : 0);
}

static void
forget_oldest (struct history *history)
{
  struct history_cell *cell = g_queue_pop_head_link (&history->cells)->data;
  history->bytes -= history_bytes_of (cell);
  g_free (cell->code);
  g_clear_pointer (&cell->given, g_array_unref);
  json_decref (cell->digests);
  g_free (cell);
}

void
history_init (struct history *history, gsize most)
{
  *history = (struct history){.cells = G_QUEUE_INIT, .most = most};
}

void
history_clear (struct history *history)
{
  while (history->cells.length > 0)
    forget_oldest (history);
}

void
history_add (struct history *history, const struct history_cell *cell)
{
  struct history_cell *copy = g_memdup2 (cell, sizeof *cell);
  copy->link = (GList){.data = copy};
  g_queue_push_tail_link (&history->cells, &copy->link);
  history->bytes += history_bytes_of (copy);
  history->edition++;
  for (; history->bytes > history->most; history->dropped++)
    forget_oldest (history);
}

void
history_truncate (struct history *history)
{
  history_clear (history);
  history->dropped = 0;
  history->edition++;
}

void
history_copy (const struct history *history, struct history *ret_copy)
{
  history_init (ret_copy, history->most);
  for (const GList *link = history->cells.head; link; link = link->next) {
    struct history_cell cell = *(const struct history_cell *)link->data;
    cell.code = g_memdup2 (cell.code, cell.length + 1);
    if (cell.given)
      g_array_ref (cell.given);
    json_incref (cell.digests);
    history_add (ret_copy, &cell);
  }
  ret_copy->dropped = history->dropped;
  ret_copy->edition = history->edition;
}

json_t *
history_to_json (const struct history *history)
{
  json_t *cells = json_array ();
  for (const GList *link = history->cells.head; link; link = link->next) {
    const struct history_cell *cell = link->data;
    g_autofree char *started = text_time (cell->started_us);
    json_array_append_new (cells, json_pack ("{s:I, s:o, s:s, s:s, s:f}", "cell", (json_int_t)cell->number,
                                             "code", json_stringn (cell->code, cell->length), "outcome",
                                             adder_outcome_name (cell->outcome), "started", started,
                                             "wall_ms", (double)cell->wall_us / 1000));
  }
  return json_pack ("{s:o, s:I}", "cells", cells, "dropped", (json_int_t)history->dropped);
}
