/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/text_table.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define CUT "..." /* at the end of a line that is longer than the terminal is wide */
#define GAP 2     /* between two columns */

struct cell {
  char *text;
  enum cli_colour colour;
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
  const struct cell cell = {text_one_line (text, -1), colour};
  g_free (text);
  g_array_append_val (table->cells, cell);
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
  /* Nothing stands behind the last cell that is not empty. */
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

void
text_table_print (struct text_table *table)
{
  g_autofree gsize *widths = g_new0 (gsize, table->columns);
  guint width = cli_width (stdout);
  gsize room = width > 0 ? width : G_MAXSIZE;
  for (guint i = 0; i < table->cells->len; i++) {
    gsize *widest = &widths[i % table->columns];
    *widest = MAX (*widest, length_of (g_array_index (table->cells, struct cell, i).text));
  }
  for (gsize row = 0; row < table->cells->len / table->columns; row++)
    text_table_print_row (table, row, widths, room);
  g_array_unref (table->cells);
}
