/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/query.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "materials/composition.h"
#include "materials/weights.h"

#define SHOWN_BYTES 40

gboolean
materials_is_element (const char *symbol)
{
  return materials_weight (symbol) > 0;
}

static gboolean
query_wrong (GError **error, const char *what, const char *text)
{
  g_autofree char *shown = text_one_line (text, SHOWN_BYTES);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: \"%s\"", what, shown);
  return FALSE;
}

char *
materials_formula_reduce (const char *formula, GError **error)
{
  g_autoptr (json_t) counts = strlen (formula) <= QUERY_FORMULA_MAX ? composition_of_formula (formula) : NULL;
  char *reduced = counts ? composition_formula (counts) : NULL;
  if (!reduced)
    query_wrong (error, "a formula is symbols of elements with whole numbers, each once, such as TiO2",
                 formula);
  return reduced;
}

/* ---- a filter that is given as it is ---- */

/* Whether it can stand in parentheses: what it opens it closes, and no text in it is left open. */
static gboolean
filter_is_whole (const char *filter)
{
  int depth = 0;
  gboolean quoted = FALSE;
  for (const char *at = filter; *at; at++) {
    if (quoted && at[0] == '\\' && at[1] != '\0')
      at++;
    else if (*at == '"')
      quoted = !quoted;
    else if (!quoted && *at == '(')
      depth++;
    else if (!quoted && *at == ')' && --depth < 0)
      return FALSE;
  }
  return !quoted && depth == 0;
}

static gboolean
check_filter (const char *filter, GError **error)
{
  if (strlen (filter) > QUERY_FILTER_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a filter has at most %d bytes", QUERY_FILTER_MAX);
    return FALSE;
  }
  if (filter[strspn (filter, " \t\r\n")] == '\0')
    return query_wrong (error, "the filter is empty", filter);
  return filter_is_whole (filter) ||
         query_wrong (error, "the filter has a parenthesis or a quote too few or too many", filter);
}

/* ---- all of it ---- */

static gboolean
check_elements (const char *const *elements, GError **error)
{
  guint count = elements ? g_strv_length ((char **)(guintptr)elements) : 0;
  if (count > QUERY_ELEMENTS_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "at most %d elements can be requested",
                 QUERY_ELEMENTS_MAX);
    return FALSE;
  }
  for (guint i = 0; i < count; i++)
    if (!materials_is_element (elements[i]))
      return query_wrong (error, "there is no such element (symbols are written as Ti, O)", elements[i]);
  return TRUE;
}

gboolean
materials_query_check (const struct materials_query *query, GError **error)
{
  guint least = query->nsites_least, most = query->nsites_most;
  gboolean has_elements = query->elements && query->elements[0];
  if (!has_elements && !query->formula && least == 0 && most == 0 && !query->filter) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the query is empty: name elements, a formula, a number of sites or a filter");
    return FALSE;
  }
  if (least > QUERY_NSITES_MAX || most > QUERY_NSITES_MAX || (most > 0 && least > most)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "sites are 1 to %d, the fewest before the most",
                 QUERY_NSITES_MAX);
    return FALSE;
  }
  g_autofree char *reduced = query->formula ? materials_formula_reduce (query->formula, error) : NULL;
  return (!query->formula || reduced) && check_elements (query->elements, error) &&
         (!query->filter || check_filter (query->filter, error));
}

static int
query_compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Each once, by name. */
static void
add_elements (GPtrArray *parts, const char *const *elements)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  g_autoptr (GString) text = g_string_new ("elements HAS ALL ");
  for (const char *const *element = elements; *element; element++)
    g_ptr_array_add (sorted, (gpointer)(guintptr)*element);
  g_ptr_array_sort (sorted, query_compare);
  for (guint i = 0; i < sorted->len; i++)
    if (i == 0 || strcmp (sorted->pdata[i], sorted->pdata[i - 1]) != 0)
      g_string_append_printf (text, "%s\"%s\"", i > 0 ? "," : "", (const char *)sorted->pdata[i]);
  g_ptr_array_add (parts, g_strdup (text->str));
}

char *
materials_query_filter (const struct materials_query *query, GError **error)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);
  if (!materials_query_check (query, error))
    return NULL;
  if (query->elements && query->elements[0])
    add_elements (parts, query->elements);
  /* Both were checked: there is nothing in them to escape. */
  g_autofree char *reduced = query->formula ? materials_formula_reduce (query->formula, NULL) : NULL;
  if (reduced)
    g_ptr_array_add (parts, g_strdup_printf ("chemical_formula_reduced=\"%s\"", reduced));
  if (query->nsites_least > 0)
    g_ptr_array_add (parts, g_strdup_printf ("nsites>=%u", query->nsites_least));
  if (query->nsites_most > 0)
    g_ptr_array_add (parts, g_strdup_printf ("nsites<=%u", query->nsites_most));
  if (query->filter)
    g_ptr_array_add (parts,
                     parts->len > 0 ? g_strdup_printf ("(%s)", query->filter) : g_strdup (query->filter));
  g_ptr_array_add (parts, NULL);
  return g_strjoinv (" AND ", (char **)parts->pdata);
}
