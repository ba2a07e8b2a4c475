/* SPDX-License-Identifier: Apache-2.0 */
/* query_materials_project. */
#include <math.h>

#include "materials/materials_project.h"
#include "tools/materials_call.h"
#include "tools/materials_tools.h"
#include "tools/shapes.h"

#define DOCUMENTS_MAX    1000
#define CHEMSYS_MAX      200 /* bytes */
#define PROJECT_FIELDS   100 /* names of fields */
#define PROJECT_STANDARD 50

const struct field query_materials_project_parameters[] = {
    MATERIALS_ELEMENTS_FIELD,
    MATERIALS_FORMULA_FIELD,
    {.name = "chemsys",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .maximum = CHEMSYS_MAX,
     .text = "A chemical system, whose elements and no others a material has: \"Ti-O\"."},
    {.name = "band_gap_min", .types = FIELD_NUMBER, .optional = TRUE, .text = "The least band gap, in eV."},
    {.name = "band_gap_max",
     .types = FIELD_NUMBER,
     .optional = TRUE,
     .text = "The greatest band gap, in eV."},
    {.name = "energy_above_hull_max",
     .types = FIELD_NUMBER,
     .optional = TRUE,
     .text = "The most energy above the convex hull, in eV an atom; 0: what is stable."},
    {.name = "fields",
     .types = FIELD_LIST,
     .optional = TRUE,
     .items = FIELD_TEXT,
     .maximum = PROJECT_FIELDS,
     .text = "Names of fields of its summaries; left out: a short list."},
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = MATERIALS_STANDARD (PROJECT_STANDARD),
     .minimum = 1,
     .maximum = DOCUMENTS_MAX,
     .text = "The most documents."},
    {0},
};

static const struct field project_reply[] = {
    {.name = "documents", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "As the API has them."},
    WHOLE_0 ("available", "How many it says that it has; null: it does not say."),
    TEXT ("url", "What was asked."),
    {0},
};
const struct field *const query_materials_project_replies[] = {project_reply, NULL};

static double
number_or_any (const struct call *call, const char *name)
{
  const json_t *number = json_object_get (call->arguments, name);
  return json_is_number (number) ? json_number_value (number) : (double)NAN;
}

void
query_materials_project_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  g_autofree const char **elements = call_texts (call, "elements"), **fields = call_texts (call, "fields");
  struct materials_watch watch;
  const struct materials_project_query query = {
      .config = call->tools->config,
      .elements = elements,
      .formula = call_said (call, "formula"),
      .chemsys = call_said (call, "chemsys"),
      .band_gap_least = number_or_any (call, "band_gap_min"),
      .band_gap_most = number_or_any (call, "band_gap_max"),
      .energy_above_hull_most = number_or_any (call, "energy_above_hull_max"),
      .fields = fields,
      .limit = (guint)call_integer (call, "limit"),
  };
  materials_call_watch (call, &watch);
  json_t *answer = materials_project_search (&query, &watch, &problem);
  if (answer)
    call_reply (call, answer, NULL);
  else
    call_fail (call, problem);
}
