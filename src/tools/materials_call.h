/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tools that search databases of materials: parameters, and progress. */
#pragma once

#include "common/field_rows.h"
#include "materials/search.h"
#include "tools/call.h"

/* "100" for a number: a parameter's default. */
#define MATERIALS_TEXT_OF(number)  #number
#define MATERIALS_STANDARD(number) MATERIALS_TEXT_OF (number)

/* clang-format off */
#define MATERIALS_ELEMENTS_FIELD \
  {.name = "elements", .types = FIELD_LIST, .optional = TRUE, .items = FIELD_TEXT, \
   .maximum = QUERY_ELEMENTS_MAX, \
   .text = "Symbols of elements, all of which a material has: [\"Ti\", \"O\"]."}
#define MATERIALS_FORMULA_FIELD \
  {.name = "formula", .types = FIELD_TEXT, .optional = TRUE, .maximum = QUERY_FORMULA_MAX, \
   .text = "A formula, whose proportions a material has: \"TiO2\"."}

/* The parameters that materials_call_search reads. */
#define MATERIALS_QUERY_FIELDS \
  MATERIALS_ELEMENTS_FIELD, MATERIALS_FORMULA_FIELD, \
  {.name = "nsites_min", .types = FIELD_INTEGER, .optional = TRUE, .minimum = 1, .maximum = QUERY_NSITES_MAX, \
   .text = "The fewest atoms of a cell."}, \
  {.name = "nsites_max", .types = FIELD_INTEGER, .optional = TRUE, .minimum = 1, .maximum = QUERY_NSITES_MAX, \
   .text = "The most atoms of a cell."}, \
  {.name = "filter", .types = FIELD_TEXT, .optional = TRUE, .maximum = QUERY_FILTER_MAX, \
   .text = "A filter in OPTIMADE's own language, which has to hold as well: nelements=2 AND " \
           "chemical_formula_anonymous=\"A2B\"."}, \
  {.name = "providers", .types = FIELD_LIST, .optional = TRUE, .items = FIELD_TEXT, \
   .maximum = SEARCH_PROVIDERS_MAX, \
   .text = "Names of the databases to ask, such as [\"mp\", \"oqmd\"], or [\"all\"]; left out: the usual ones."}, \
  {.name = "limit", .types = FIELD_INTEGER, .optional = TRUE, .standard = MATERIALS_STANDARD (SEARCH_LIMIT), \
   .minimum = 1, .maximum = SEARCH_LIMIT_MAX, .text = "The most records of each database."}, \
  {.name = "timeout", .types = FIELD_INTEGER, .optional = TRUE, .standard = "60", .minimum = 1, \
   .maximum = SEARCH_WAIT_MAX_MS / 1000, .unit = "s", \
   .text = "How long to wait at most; what has come by then is the answer."}, \
  {.name = "raw", .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "false", \
   .text = "Whether each row also has all that the databases said of it."}

/* Members of replies, as search.h has them. */
#define MATERIALS_REPLY_FIELDS \
  TEXT ("filter", "What was asked, in OPTIMADE's language."), \
  WHOLE ("records", "How many came, before the same materials were merged."), \
  FLAG ("complete", "Whether every database gave all that it has within the limit."), \
  FLAG ("interrupted", "Whether the search was ended before it was done."), \
  LIST ("providers", materials_provider_fields, "The result of each database."), \
  TEXTS ("warnings", "What else is to be known.")
/* clang-format on */

extern const struct field materials_provider_fields[];

/* A search as the arguments have it. */
struct materials_call {
  struct materials_search search;
  const char **elements, **providers; /* texts are the call's */
};
void materials_call_read (const struct call *call, struct materials_call *ret_search);
/* An empty text or list counts as absent. */
const char *call_said (const struct call *call, const char *name);
void materials_call_clear (struct materials_call *search);

/* The texts of the list NAME, ending with NULL; NULL if there are none. The array is the caller's
 * (g_free). */
const char **call_texts (const struct call *call, const char *name);

/* Reports the search's progress to CALL's caller, and ends the search when they stop it. */
void materials_call_watch (struct call *call, struct materials_watch *ret_watch);
