/* SPDX-License-Identifier: Apache-2.0 */
/* What may be searched for, and the filter that says it. */
#include <string.h>

#include "adder.h"
#include "materials/query.h"
#include "suite.h"

#define ELEMENTS(...)                                                                                        \
  (const char *const[])                                                                                      \
  {                                                                                                          \
    __VA_ARGS__, NULL                                                                                        \
  }

static void
test_filters (void)
{
  const struct {
    struct materials_query query;
    const char *filter;
  } cases[] = {
      {{.elements = ELEMENTS ("Ti", "O")}, "elements HAS ALL \"O\",\"Ti\""},
      {{.elements = ELEMENTS ("Ti", "O", "Ti")}, "elements HAS ALL \"O\",\"Ti\""},
      {{.formula = "TiO2"}, "chemical_formula_reduced=\"O2Ti\""},
      {{.formula = "Ti2O4"}, "chemical_formula_reduced=\"O2Ti\""},
      {{.nsites_least = 1, .nsites_most = 20}, "nsites>=1 AND nsites<=20"},
      {{.nsites_most = 20}, "nsites<=20"},
      {{.filter = "nelements=2 OR nelements=3"}, "nelements=2 OR nelements=3"},
      /* What is given as it is cannot take the other parts away. */
      {{.formula = "SiC", .filter = "nelements=2 OR nelements=3"},
       "chemical_formula_reduced=\"CSi\" AND (nelements=2 OR nelements=3)"},
      {{.filter = "chemical_formula_descriptive CONTAINS \")\\\"(\""},
       "chemical_formula_descriptive CONTAINS \")\\\"(\""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) problem = NULL;
    g_autofree char *filter = materials_query_filter (&cases[i].query, &problem);
    g_assert_no_error (problem);
    g_assert_cmpstr (filter, ==, cases[i].filter);
  }
}

static void
test_refused (void)
{
  g_autofree char *long_filter = g_strnfill (QUERY_FILTER_MAX + 1, 'a');
  const char *many[QUERY_ELEMENTS_MAX + 2];
  for (guint i = 0; i <= QUERY_ELEMENTS_MAX; i++)
    many[i] = "O";
  many[QUERY_ELEMENTS_MAX + 1] = NULL;
  const struct {
    struct materials_query query;
    const char *word; /* of the sentence */
  } cases[] = {
      {{0}, "the query is empty"},
      {{.elements = ELEMENTS ("Xx")}, "Xx"},
      {{.elements = ELEMENTS ("ti")}, "ti"},
      {{.elements = ELEMENTS ("O\" OR elements HAS \"Ti")}, "no such element"},
      {{.elements = many}, "at most 20 elements"},
      {{.formula = ""}, "formula"},
      {{.formula = "Ti O"}, "Ti O"},
      {{.formula = "TiO2\" OR nsites>0"}, "formula"},
      {{.formula = "tio2"}, "tio2"},
      {{.nsites_least = 20, .nsites_most = 1}, "the fewest before the most"},
      {{.nsites_most = QUERY_NSITES_MAX + 1}, "sites"},
      {{.filter = "  "}, "empty"},
      {{.filter = "nelements=2) OR (nelements=3"}, "parenthesis"},
      {{.filter = "id=\"open"}, "quote"},
      {{.filter = "id=\"open\\\""}, "quote"},
      {{.filter = long_filter}, "at most 4000 bytes"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) problem = NULL;
    g_assert_null (materials_query_filter (&cases[i].query, &problem));
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
    if (!strstr (problem->message, cases[i].word))
      g_error ("%zu: \"%s\" lacks \"%s\"", i, problem->message, cases[i].word);
  }
}

static void
test_elements (void)
{
  g_assert_true (materials_is_element ("H"));
  g_assert_true (materials_is_element ("Og"));
  g_assert_false (materials_is_element (""));
  g_assert_false (materials_is_element ("h"));
  g_assert_false (materials_is_element ("HE"));
}

UNIT_SUITE (materials_query)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/materials/query/filters", test_filters);
  g_test_add_func ("/materials/query/refused", test_refused);
  g_test_add_func ("/materials/query/elements", test_elements);
  return g_test_run ();
}
