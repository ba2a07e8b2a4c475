/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/composition.h"

#include <math.h>
#include <string.h>

#include "common/json.h"
#include "materials/weights.h"

#define ATOMS_MAX 1000000

/* Sums of occupancies such as 0.333 and 0.667 are whole but for their last digit. */
#define WHOLE_WITHIN 1e-3

void
composition_add (json_t *counts, const char *symbol, double atoms)
{
  json_object_set_new (counts, symbol,
                       json_real (json_number_value (json_object_get (counts, symbol)) + atoms));
}

/* The symbol at *TEXT, which moves behind it; "" where there is none. */
static void
take_symbol (const char **text, char symbol[4])
{
  gsize length = g_ascii_isupper (**text) ? 1 : 0;
  while (length && length < 3 && g_ascii_islower ((*text)[length]))
    length++;
  memcpy (symbol, *text, length);
  symbol[length] = '\0';
  *text += length;
}

json_t *
composition_of_formula (const char *formula)
{
  if (!*formula || strlen (formula) > COMPOSITION_FORMULA_MAX)
    return NULL;
  g_autoptr (json_t) counts = json_object ();
  for (const char *at = formula; *at;) {
    char symbol[4];
    take_symbol (&at, symbol);
    guint64 atoms = 1;
    if (g_ascii_isdigit (*at))
      atoms = g_ascii_strtoull (at, (char **)&at, 10);
    if (materials_weight (symbol) <= 0 || json_object_get (counts, symbol) || atoms < 1 || atoms > ATOMS_MAX)
      return NULL;
    composition_add (counts, symbol, (double)atoms);
  }
  return g_steal_pointer (&counts);
}

static int
composition_by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* The symbols of COUNTS by name: COUNTS' own. */
static GPtrArray *
symbols_of (const json_t *counts)
{
  GPtrArray *symbols = g_ptr_array_new ();
  const char *symbol;
  json_t *atoms;
  json_object_foreach ((json_t *)counts, symbol, atoms)
  {
    g_ptr_array_add (symbols, (gpointer)symbol);
  }
  g_ptr_array_sort (symbols, composition_by_name);
  return symbols;
}

json_t *
composition_elements (const json_t *counts)
{
  g_autoptr (GPtrArray) symbols = symbols_of (counts);
  return json_of_names (symbols);
}

static guint64
common_divisor (guint64 a, guint64 b)
{
  return b ? common_divisor (b, a % b) : a;
}

/* The atoms of SYMBOL; 0 where their number is not whole. */
static guint64
whole (const json_t *counts, const char *symbol)
{
  double atoms = json_number_value (json_object_get (counts, symbol)), rounded = round (atoms);
  return rounded >= 1 && rounded <= ATOMS_MAX && fabs (atoms - rounded) < WHOLE_WITHIN ? (guint64)rounded : 0;
}

char *
composition_formula (const json_t *counts)
{
  g_autoptr (GPtrArray) symbols = symbols_of (counts);
  guint64 divisor = 0;
  for (guint i = 0; i < symbols->len; i++) {
    guint64 atoms = whole (counts, symbols->pdata[i]);
    if (!atoms)
      return NULL;
    divisor = common_divisor (divisor, atoms);
  }
  GString *formula = g_string_new (NULL);
  for (guint i = 0; i < symbols->len; i++) {
    guint64 atoms = whole (counts, symbols->pdata[i]) / divisor;
    g_string_append (formula, symbols->pdata[i]);
    if (atoms > 1)
      g_string_append_printf (formula, "%" G_GUINT64_FORMAT, atoms);
  }
  return g_string_free (formula, symbols->len == 0);
}
