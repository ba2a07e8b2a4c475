/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/materials_view.h"

#include <string.h>

#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/text_table.h"

#define CELL_BYTES 40  /* of a text in a table */
#define LINE_BYTES 600 /* of what a database said */
#define SOURCES    3   /* that are shown */
#define GAP        "band_gap"

/* ---- materials ---- */

static char *
cell (const json_t *row, const char *name)
{
  const char *text = json_member_text (row, name);
  return text[0] != '\0' ? text_one_line (text, CELL_BYTES) : g_strdup ("-");
}

static char *
whole_cell (const json_t *row, const char *name)
{
  const json_t *value = json_object_get (row, name);
  return json_is_integer (value) ? g_strdup_printf ("%" JSON_INTEGER_FORMAT, json_integer_value (value))
                                 : g_strdup ("-");
}

static char *
real_cell (const json_t *value)
{
  return json_is_number (value) ? g_strdup_printf ("%.2f", json_number_value (value)) : g_strdup ("-");
}

/* The symbol with the number; either may be all that is known. */
static char *
space_group_cell (const json_t *row)
{
  g_autofree char *symbol = cell (row, "space_group_symbol");
  g_autofree char *number = whole_cell (row, "space_group");
  if (strcmp (number, "-") == 0)
    return g_steal_pointer (&symbol);
  return strcmp (symbol, "-") == 0 ? g_steal_pointer (&number) : g_strdup_printf ("%s (%s)", symbol, number);
}

/* The first that a database says; which one, its prefix tells in the whole row. */
static const json_t *
gap_of (const json_t *row)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)row, name, value)
  {
    if (g_str_has_suffix (name, "_" GAP) && json_is_number (value))
      return value;
  }
  return NULL;
}

static char *
sources_cell (const json_t *row)
{
  const json_t *sources = json_object_get (row, "sources");
  GString *text = g_string_new (NULL);
  gsize i;
  json_t *source;
  json_array_foreach (sources, i, source)
  {
    g_autofree char *shown =
        text_one_line (json_is_string (source) ? json_string_value (source) : "", CELL_BYTES);
    if (i == SOURCES)
      break;
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", shown);
  }
  if (json_array_size (sources) > SOURCES)
    g_string_append_printf (text, " and %zu more", json_array_size (sources) - SOURCES);
  return g_string_free (text, FALSE);
}

void
materials_view_rows (const json_t *rows, gsize most)
{
  static const char *const heads[] = {"FORMULA", "SPACE GROUP", "SITES",  "VOLUME",
                                      "DENSITY", "GAP (eV)",    "SOURCES"};
  gsize i;
  json_t *row;
  if (json_array_size (rows) == 0) {
    cli_say_none ("materials", NULL);
    return;
  }
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (rows, i, row)
  {
    if (i == most)
      break;
    text_table_add (&table, cell (row, "formula"));
    text_table_add (&table, space_group_cell (row));
    text_table_add (&table, whole_cell (row, "nsites"));
    text_table_add (&table, real_cell (json_object_get (row, "volume")));
    text_table_add (&table, real_cell (json_object_get (row, "density")));
    text_table_add (&table, real_cell (gap_of (row)));
    text_table_add_coloured (&table, sources_cell (row), CLI_DIM);
  }
  text_table_print (&table);
}

/* ---- what came of each database ---- */

static enum cli_colour
colour_of (const char *state)
{
  if (strcmp (state, "ok") == 0)
    return CLI_GREEN;
  return strcmp (state, "partial") == 0 ? CLI_YELLOW : CLI_RED;
}

static void
append_count (GString *line, json_int_t count, const char *what)
{
  g_string_append_printf (line, "%s%" JSON_INTEGER_FORMAT " %s%s", line->len > 0 ? ", " : "", count, what,
                          count == 1 ? "" : "s");
}

/* "100 records, 5 pages, 2812 available, 1.2 s" */
static char *
counts_of (const json_t *provider)
{
  GString *line = g_string_new (NULL);
  append_count (line, json_integer_value (json_object_get (provider, "records")), "record");
  append_count (line, json_integer_value (json_object_get (provider, "pages")), "page");
  const json_t *available = json_object_get (provider, "available");
  if (json_is_integer (available))
    g_string_append_printf (line, ", %" JSON_INTEGER_FORMAT " available", json_integer_value (available));
  json_int_t duplicates = json_integer_value (json_object_get (provider, "duplicates"));
  json_int_t skipped = json_integer_value (json_object_get (provider, "skipped"));
  if (duplicates > 0)
    append_count (line, duplicates, "duplicate");
  if (skipped > 0)
    g_string_append_printf (line, ", %" JSON_INTEGER_FORMAT " without a structure", skipped);
  g_autofree char *took =
      duration_format ((guint64)json_integer_value (json_object_get (provider, "wall_ms")));
  g_string_append_printf (line, ", %s", took);
  return g_string_free (line, FALSE);
}

static void
print_state (const json_t *provider)
{
  g_autofree char *state = text_one_line (json_member_text (provider, "state"), CELL_BYTES);
  g_autofree char *name = text_one_line (json_member_text (provider, "name"), CELL_BYTES);
  g_autofree char *counts = counts_of (provider);
  g_autofree char *failure = text_one_line (json_member_text (provider, "error"), LINE_BYTES);
  g_autofree char *hint = text_one_line (json_member_text (provider, "hint"), LINE_BYTES);
  fprintf (stderr, "%s: %s%s%s: %s%s%s%s%s%s\n", name, cli_colour (stderr, colour_of (state)), state,
           cli_colour (stderr, CLI_PLAIN), counts, failure[0] ? ": " : "", failure, hint[0] ? " (" : "", hint,
           hint[0] ? ")" : "");
}

void
materials_view_states (const json_t *providers)
{
  gsize i;
  json_t *provider;
  json_array_foreach (providers, i, provider) print_state (provider);
}

/* ---- who can be asked ---- */

void
materials_view_providers (const json_t *providers)
{
  static const char *const heads[] = {"NAME", "ASKED", "FROM", "KEY", "URL", "TITLE"};
  gsize i;
  json_t *provider;
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (providers, i, provider)
  {
    gboolean usual = json_is_true (json_object_get (provider, "is_default"));
    text_table_add (&table, cell (provider, "name"));
    text_table_add_coloured (&table, g_strdup (usual ? "always" : "by name"), usual ? CLI_GREEN : CLI_DIM);
    text_table_add (&table, cell (provider, "source"));
    text_table_add (&table, g_strdup (json_is_true (json_object_get (provider, "key")) ? "yes" : ""));
    text_table_add (&table, text_one_line (json_member_text (provider, "url"), LINE_BYTES));
    text_table_add_coloured (&table, text_one_line (json_member_text (provider, "title"), LINE_BYTES),
                             CLI_DIM);
  }
  text_table_print (&table);
}

void
materials_view_warnings (const json_t *warnings)
{
  gsize i;
  json_t *warning;
  json_array_foreach (warnings, i, warning)
  {
    g_autofree char *line =
        text_one_line (json_is_string (warning) ? json_string_value (warning) : "", LINE_BYTES);
    fprintf (stderr, "adder: warning: %s\n", line);
  }
}
