/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that were run. */
#include "engine/session/history.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "engine/request/inputs.h"
#include "engine/request/message.h"

/* Of a value in memory, however short it is in JSON. */
#define VALUE_BYTES 64

/* Memory of CELL, apart from the little for its digests. */
static gsize
history_bytes_of (const struct history_cell *cell)
{
  return sizeof *cell + cell->length + (cell->given ? cell->given->len * sizeof (struct input) : 0);
}

static void
history_drop_result (struct history *history, struct history_cell *cell)
{
  if (cell->result)
    history->result_bytes -= cell->result_size;
  g_clear_pointer (&cell->result, g_bytes_unref);
}

static void
forget_oldest (struct history *history)
{
  struct history_cell *cell = g_queue_pop_head_link (&history->cells)->data;
  history->bytes -= history_bytes_of (cell);
  history_drop_result (history, cell);
  g_free (cell->code);
  g_clear_pointer (&cell->given, g_array_unref);
  json_decref (cell->digests);
  g_free (cell);
}

void
history_init (struct history *history, gsize most, gsize most_results)
{
  *history = (struct history){.cells = G_QUEUE_INIT, .most = most, .most_results = most_results};
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
  history->result_bytes += copy->result ? copy->result_size : 0;
  history->edition++;
  for (; history->bytes > history->most; history->dropped++)
    forget_oldest (history);
}

/* The newest: it is looked for when it has just ended. */
static struct history_cell *
history_find (const struct history *history, guint64 number, gint64 started_us)
{
  for (const GList *link = history->cells.tail; link; link = link->prev) {
    struct history_cell *cell = link->data;
    if (cell->number == number && cell->started_us == started_us)
      return cell;
  }
  return NULL;
}

static gsize
history_result_size (const char *text, gsize length)
{
  return MAX (length, message_count_values (text, length) * VALUE_BYTES);
}

void
history_keep_result (struct history *history, guint64 number, gint64 started_us, const char *text)
{
  struct history_cell *cell = history_find (history, number, started_us);
  gsize length = strlen (text);
  if (!cell || length > history->most_results)
    return;
  gsize size = history_result_size (text, length);
  if (size > history->most_results)
    return;
  history_drop_result (history, cell);
  cell->result = g_bytes_new (text, length);
  cell->result_size = size;
  history->result_bytes += size;
  history_limit_results (history, history->most_results);
}

void
history_limit_results (struct history *history, gsize most)
{
  for (GList *link = history->cells.head; link && history->result_bytes > most; link = link->next)
    history_drop_result (history, link->data);
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
  history_init (ret_copy, history->most, history->most_results);
  for (const GList *link = history->cells.head; link; link = link->next) {
    struct history_cell cell = *(const struct history_cell *)link->data;
    cell.code = g_memdup2 (cell.code, cell.length + 1);
    if (cell.given)
      g_array_ref (cell.given);
    json_incref (cell.digests);
    if (cell.result)
      g_bytes_ref (cell.result);
    history_add (ret_copy, &cell);
  }
  ret_copy->dropped = history->dropped;
  ret_copy->edition = history->edition;
}

static json_t *
history_read_result (const struct history_cell *cell)
{
  gsize length = 0;
  const char *text = cell->result ? g_bytes_get_data (cell->result, &length) : NULL;
  json_t *result = text ? json_parse_object (text, length, "a result", NULL) : NULL;
  return result ? result : json_null ();
}

json_t *
history_to_json (const struct history *history, gboolean with_results)
{
  json_t *cells = json_array ();
  for (const GList *link = history->cells.head; link; link = link->next) {
    const struct history_cell *cell = link->data;
    g_autofree char *started = text_time (cell->started_us);
    json_t *shown =
        json_pack ("{s:I, s:o, s:s, s:s, s:f}", "cell", (json_int_t)cell->number, "code",
                   json_stringn (cell->code, cell->length), "outcome", adder_outcome_name (cell->outcome),
                   "started", started, "wall_ms", (double)cell->wall_us / 1000);
    if (with_results)
      json_object_set_new (shown, "result", history_read_result (cell));
    json_array_append_new (cells, shown);
  }
  return json_pack ("{s:o, s:I}", "cells", cells, "dropped", (json_int_t)history->dropped);
}
