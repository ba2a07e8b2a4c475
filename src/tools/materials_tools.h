/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that ask databases of materials. */
#pragma once

#include "tools/call.h"
#include "tools/table.h"

/* Rows that a reply has: as many as a model can read, or as many as a search can bring. */
#define MATERIALS_ROWS_MAX 1000000

extern const struct field search_materials_parameters[], list_materials_providers_parameters[],
    query_materials_project_parameters[];
extern const struct field *const search_materials_replies[], *const list_materials_providers_replies[],
                                                                 *const query_materials_project_replies[];

void search_materials_tool (struct call *call);
void list_materials_providers_tool (struct call *call);
void query_materials_project_tool (struct call *call);

/* clang-format off */
#define TOOL_SEARCH_MATERIALS(lowest) \
  { \
    .name = "search_materials", \
    .title = "Search databases of materials", \
    .description = \
        "Searches databases of crystal structures that speak OPTIMADE (Materials Project, OQMD, COD, NOMAD and " \
        "others), all at once, by elements, formula, size of the cell or a filter of your own, and returns one " \
        "row for each material, in which the same material of several databases is merged: formula, elements, " \
        "nsites, space_group, lattice (Angstrom, degrees), volume, density (g/cm^3), last_modified, sources " \
        "(provider:id), and what single databases say under their prefix, such as mp_band_gap. A database that " \
        "fails does not fail the search: providers has the result of each. rows holds the first of them " \
        "(the parameter rows), materials says how many there are. With explain nothing is asked: the reply is " \
        "the filter and the requests that would be made.", \
    .guidance = \
        "Say what you know: elements, formula or both. Name providers where the user does, else leave them out. " \
        "Read providers before you draw conclusions: what failed or is partial is missing from rows.", \
    .role = (lowest), \
    .hints = TOOL_READ_ONLY | TOOL_OPEN_WORLD, \
    .parameters = search_materials_parameters, \
    .replies = search_materials_replies, \
    .handle = search_materials_tool, \
  }
#define TOOL_LIST_MATERIALS_PROVIDERS(lowest) \
  { \
    .name = "list_materials_providers", \
    .title = "List the databases of materials", \
    .description = \
        "Lists the databases of materials that search_materials can ask, with the names to use in its parameter " \
        "providers: those of the configuration, those that Adder knows, and those of the federation's index.", \
    .role = (lowest), \
    .hints = TOOL_READ_ONLY | TOOL_OPEN_WORLD, \
    .parameters = list_materials_providers_parameters, \
    .replies = list_materials_providers_replies, \
    .handle = list_materials_providers_tool, \
  }
#define TOOL_QUERY_MATERIALS_PROJECT(lowest) \
  { \
    .name = "query_materials_project", \
    .title = "Ask the Materials Project", \
    .description = \
        "Asks the Materials Project's own API for summaries of materials, which can be chosen by what OPTIMADE " \
        "does not tell: band gap (eV) and energy above the hull (eV an atom), beside elements, formula and " \
        "chemical system (\"Ti-O\": these elements and no others). Returns its documents with the fields asked " \
        "for. It needs the user's own key for that API; without one the error says how it is set.", \
    .guidance = \
        "Use it for questions of band gaps and stability; for anything else search_materials asks more " \
        "databases.", \
    .role = (lowest), \
    .hints = TOOL_READ_ONLY | TOOL_OPEN_WORLD, \
    .parameters = query_materials_project_parameters, \
    .replies = query_materials_project_replies, \
    .handle = query_materials_project_tool, \
  }
/* clang-format on */
