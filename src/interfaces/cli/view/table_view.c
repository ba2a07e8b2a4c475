/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/table_view.h"

#include <string.h>

#include "common/text.h"
#include "interfaces/cli/view/cli_terminal.h"

#define GAP       2 /* between two columns */
#define LEAST     8 /* columns are not cut below this width */
#define CUT       "\xe2\x80\xa6"
#define ROWS_MAX  1000 /* the sandbox sends 21 at the most */
#define CELLS_MAX 200

struct grid {
  GPtrArray *rows; /* of GPtrArray of char *, the heads first; all as long as those */
  guint *widths;
  gboolean *right; /* a column of numbers */
  guint shown;     /* columns, from the left */
};

/* ---- reading ---- */

/* The cells of LINE, "| a | b |"; NULL where it is no row of a table. */
static GPtrArray *
read_row (const char *line, gsize length)
{
  if (length < 2 || line[0] != '|' || line[length - 1] != '|')
    return NULL;
  GPtrArray *cells = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) cell = g_string_new (NULL);
  for (gsize i = 1; i < length && cells->len < CELLS_MAX; i++) {
    gboolean escaped = line[i] == '\\' && i + 1 < length && line[i + 1] == '|';
    if (line[i] == '|') {
      g_autofree char *plain = text_one_line (cell->str, -1);
      g_ptr_array_add (cells, g_strdup (g_strstrip (plain)));
      g_string_truncate (cell, 0);
    } else
      g_string_append_c (cell, line[i += escaped ? 1 : 0]);
  }
  return cells;
}

static gboolean
is_rule (const GPtrArray *cells)
{
  for (guint i = 0; i < cells->len; i++) {
    const char *text = g_ptr_array_index (cells, i);
    if (text[0] == '\0' || text[strspn (text, "-:")] != '\0')
      return FALSE;
  }
  return TRUE;
}

/* Fills GRID with the rows at *AT, which moves behind them. */
static gboolean
read_grid (struct grid *grid, const char **at)
{
  gboolean ruled = FALSE;
  while (grid->rows->len < ROWS_MAX) {
    gsize length = strcspn (*at, "\n");
    GPtrArray *cells = read_row (*at, length);
    if (!cells)
      break;
    const GPtrArray *heads = grid->rows->len > 0 ? g_ptr_array_index (grid->rows, 0) : cells;
    gboolean rule = grid->rows->len == 1 && !ruled && is_rule (cells);
    gboolean fits = cells->len == heads->len && (grid->rows->len != 1 || ruled || rule);
    if (fits && !rule)
      g_ptr_array_add (grid->rows, cells);
    else
      g_ptr_array_unref (cells);
    if (!fits)
      return FALSE;
    ruled = ruled || rule;
    *at += length + ((*at)[length] == '\n');
  }
  return ruled;
}

static const char *
cell_at (const struct grid *grid, guint row, guint column)
{
  return g_ptr_array_index ((const GPtrArray *)g_ptr_array_index (grid->rows, row), column);
}

/* ---- measuring ---- */

static gboolean
is_number (const char *text)
{
  return strcmp (text, "NaN") == 0 || strcmp (text, "...") == 0 ||
         (text[strcspn (text, "0123456789")] != '\0' && text[strspn (text, "0123456789+-.,e%")] == '\0');
}

static guint
total_width (const struct grid *grid)
{
  guint total = 0;
  for (guint i = 0; i < grid->shown; i++)
    total += grid->widths[i] + (i > 0 ? GAP : 0);
  return total;
}

static guint
widest_column (const struct grid *grid)
{
  guint widest = 0;
  for (guint i = 1; i < grid->shown; i++)
    if (grid->widths[i] > grid->widths[widest])
      widest = i;
  return widest;
}

static void
measure (struct grid *grid, guint count, guint columns)
{
  grid->shown = count;
  grid->widths = g_new0 (guint, count + 1);
  grid->right = g_new0 (gboolean, count + 1);
  for (guint column = 0; column < count; column++) {
    grid->right[column] = grid->rows->len > 1;
    for (guint row = 0; row < grid->rows->len; row++) {
      const char *text = cell_at (grid, row, column);
      grid->widths[column] = MAX (grid->widths[column], cli_text_columns (text));
      grid->right[column] = grid->right[column] && (row == 0 || is_number (text));
    }
  }
  while (columns > 0 && total_width (grid) > columns && grid->widths[widest_column (grid)] > LEAST)
    grid->widths[widest_column (grid)]--;
  while (columns > 0 && grid->shown > 1 && total_width (grid) + (grid->shown < count ? GAP + 1 : 0) > columns)
    grid->shown--;
}

/* ---- writing ---- */

static void
add_cell (GString *out, const char *text, guint width, gboolean right)
{
  guint needs = cli_text_columns (text);
  gboolean cut = needs > width;
  gsize bytes = cut ? cli_text_fit (text, width - 1) : strlen (text);
  g_autofree char *shown = g_strdup_printf ("%.*s%s", (int)bytes, text, cut ? CUT : "");
  guint blanks = width - MIN (cli_text_columns (shown), width);
  g_string_append_printf (out, "%*s%s%*s", right ? (int)blanks : 0, "", shown, right ? 0 : (int)blanks, "");
}

static void
add_row (GString *out, const struct grid *grid, guint row, guint count)
{
  for (guint column = 0; column < grid->shown; column++) {
    g_string_append_printf (out, "%*s", column > 0 ? GAP : 0, "");
    add_cell (out, cell_at (grid, row, column), grid->widths[column], grid->right[column]);
  }
  if (grid->shown < count)
    g_string_append_printf (out, "%*s%s", GAP, "", CUT);
  while (out->len > 0 && out->str[out->len - 1] == ' ')
    g_string_truncate (out, out->len - 1);
  g_string_append_c (out, '\n');
}

char *
table_view_align (const char *markdown, guint columns)
{
  struct grid grid = {.rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref)};
  GString *out = NULL;
  const char *rest = markdown;
  if (read_grid (&grid, &rest)) {
    guint count = ((const GPtrArray *)g_ptr_array_index (grid.rows, 0))->len;
    out = g_string_new (NULL);
    measure (&grid, count, columns);
    for (guint row = 0; row < grid.rows->len; row++)
      add_row (out, &grid, row, count);
    rest += strspn (rest, "\n");
    g_string_append (out, rest);
  }
  g_ptr_array_unref (grid.rows);
  g_free (grid.widths);
  g_free (grid.right);
  return out ? g_string_free (out, FALSE) : NULL;
}
