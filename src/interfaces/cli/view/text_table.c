/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/text_table.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define CUT "..." /* at the end of a line that is longer than the terminal is wide */
#define GAP 2     /* between two columns */

/* What is shown of ids of version 7 where room is short: their times, or these and 12 random bits. */
static const gsize id_lengths[] = {13, 18};

struct cell {
  char *text;
  enum cli_colour colour;
  gboolean is_id;
};

static void
clear_cell (gpointer data)
{
  struct cell *cell = data;
  g_free (cell->text);
}

void
text_table_init (struct text_table *table, const char *const *heads, gsize columns)
{
  *table = (struct text_table){columns, g_array_new (FALSE, FALSE, sizeof (struct cell))};
  g_array_set_clear_func (table->cells, clear_cell);
  for (gsize i = 0; i < columns; i++)
    text_table_add (table, g_strdup (heads[i]));
}

void
text_table_add_coloured (struct text_table *table, char *text, enum cli_colour colour)
{
  const struct cell cell = {.text = text_one_line (text, -1), .colour = colour};
  g_free (text);
  g_array_append_val (table->cells, cell);
}

void
text_table_add_id (struct text_table *table, char *text)
{
  text_table_add (table, text);
  g_array_index (table->cells, struct cell, table->cells->len - 1).is_id = TRUE;
}

void
text_table_add (struct text_table *table, char *text)
{
  text_table_add_coloured (table, text, CLI_PLAIN);
}

static gsize
length_of (const char *text)
{
  return cli_text_columns (text);
}

static void
print_cell (const struct cell *cell, gsize shown)
{
  const char *end = cell->text + cli_text_fit (cell->text, (guint)shown);
  const char *on = cell->colour == CLI_PLAIN ? "" : cli_colour (stdout, cell->colour);
  printf ("%s%.*s%s", on, (int)(end - cell->text), cell->text, *on ? cli_colour (stdout, CLI_PLAIN) : "");
}

static void
text_table_print_row (const struct text_table *table, gsize row, const gsize *widths, gsize room)
{
  const struct cell *cells = &g_array_index (table->cells, struct cell, row * table->columns);
  gsize used = table->columns, length = 0, blanks = 0;
  /* No padding after the last non-empty cell. */
  while (used > 0 && cells[used - 1].text[0] == '\0')
    used--;
  for (gsize i = 0; i < used; i++)
    length += i + 1 < used ? widths[i] + GAP : length_of (cells[i].text);
  gboolean cut = length > room && room > strlen (CUT);
  gsize left = cut ? room - strlen (CUT) : G_MAXSIZE;
  for (gsize i = 0; i < used && left > 0; i++) {
    gsize characters = length_of (cells[i].text), before = MIN (blanks, left);
    printf ("%*s", (int)before, "");
    left -= before;
    print_cell (&cells[i], MIN (characters, left));
    left -= MIN (characters, left);
    blanks = widths[i] - characters + GAP;
  }
  printf ("%s\n", cut ? CUT : "");
}

static void
measure (const struct text_table *table, gsize *widths)
{
  memset (widths, 0, table->columns * sizeof *widths);
  for (guint i = 0; i < table->cells->len; i++) {
    gsize *widest = &widths[i % table->columns];
    *widest = MAX (*widest, length_of (g_array_index (table->cells, struct cell, i).text));
  }
}

static gboolean
fits (const struct text_table *table, const gsize *widths, gsize room)
{
  gsize length = 0;
  for (gsize i = 0; i < table->columns; i++)
    length += widths[i] + (i > 0 ? GAP : 0);
  return length <= room;
}

/* Whether LENGTH characters tell all ids apart. */
static gboolean
is_distinct (const struct text_table *table, gsize length)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < table->cells->len; i++) {
    const struct cell *cell = &g_array_index (table->cells, struct cell, i);
    if (cell->is_id && !g_hash_table_add (known, g_strndup (cell->text, length)))
      return FALSE;
  }
  return TRUE;
}

static void
shorten_ids (struct text_table *table)
{
  gsize at = 0;
  while (at < G_N_ELEMENTS (id_lengths) && !is_distinct (table, id_lengths[at]))
    at++;
  for (guint i = 0; at < G_N_ELEMENTS (id_lengths) && i < table->cells->len; i++) {
    struct cell *cell = &g_array_index (table->cells, struct cell, i);
    if (cell->is_id && strlen (cell->text) > id_lengths[at])
      cell->text[id_lengths[at]] = '\0';
  }
}

void
text_table_print (struct text_table *table)
{
  g_autofree gsize *widths = g_new0 (gsize, table->columns);
  guint width = cli_width (stdout);
  gsize room = width > 0 ? width : G_MAXSIZE;
  measure (table, widths);
  if (!fits (table, widths, room)) {
    shorten_ids (table);
    measure (table, widths);
  }
  for (gsize row = 0; row < table->cells->len / table->columns; row++)
    text_table_print_row (table, row, widths, room);
  g_array_unref (table->cells);
}
