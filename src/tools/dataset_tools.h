/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets for agents: kept tables with their descriptions, by name. */
#pragma once

#include "tools/call.h"
#include "tools/export_tool.h"

#define DATASET_HEAD_MAX 100

extern const struct field collect_dataset_parameters[], list_datasets_parameters[], show_dataset_parameters[],
    load_dataset_parameters[], import_dataset_parameters[], remove_dataset_parameters[],
    export_dataset_parameters[];
extern const struct field *const collect_dataset_replies[],
    *const list_datasets_replies[],
        *const show_dataset_replies[], *const load_dataset_replies[], *const import_dataset_replies[],
                                                                          *const put_dataset_replies[],
                                                                              *const remove_dataset_replies[];

void collect_dataset_tool (struct call *call);
void list_datasets_tool (struct call *call);
void show_dataset_tool (struct call *call);
void load_dataset_tool (struct call *call);
void import_dataset_tool (struct call *call);
void remove_dataset_tool (struct call *call);
void export_dataset_tool (struct call *call);

/* The data set NAME as a file in FORMAT ("csv", "json", "parquet"), called FILENAME unless that is NULL: the
 * reply of CALL. */
void dataset_export (struct call *call, const char *name, const char *format, const char *filename);

/* clang-format off */
#define TOOLS_DATASETS(lowest) \
  { \
    .name = "collect_dataset", \
    .title = "Collect materials as a data set", \
    .description = "Searches databases of materials, all at once, and keeps what they answer as a data set under a " \
                   "name: one row a material, with formula, elements, cell, density, the databases' own numbers and " \
                   "sources. What failed is told for each database, and the rest is kept.", \
    .guidance = "Collect once under a name that says what it is, then load the data set in code; do not search again.", \
    .role = (lowest), \
    .hints = TOOL_EXECUTES | TOOL_OPEN_WORLD, \
    .parameters = collect_dataset_parameters, \
    .replies = collect_dataset_replies, \
    .handle = collect_dataset_tool, \
  }, \
  { \
    .name = "list_datasets", \
    .title = "List data sets", \
    .description = "Lists your data sets by name: tables that were collected from databases of materials or " \
                   "imported, each with version, rows, bytes, complete and created. They stay until they are " \
                   "removed.", \
    .role = (lowest), \
    .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT, \
    .parameters = list_datasets_parameters, \
    .replies = list_datasets_replies, \
    .handle = list_datasets_tool, \
  }, \
  { \
    .name = "show_dataset", \
    .title = "Show what a data set holds", \
    .description = "Tells what is known of a data set (query, providers, counts, time, columns, digest) and " \
                   "gives its first rows. NAME:VERSION is an earlier version.", \
    .guidance = "Look at columns and first rows before you write code for a data set.", \
    .role = (lowest), \
    .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT, \
    .parameters = show_dataset_parameters, \
    .replies = show_dataset_replies, \
    .handle = show_dataset_tool, \
  }, \
  { \
    .name = "load_dataset", \
    .title = "Load a data set for code", \
    .description = "Puts a data set at /tmp/{name}.parquet of the runs that follow in this conversation (of the " \
                   "next run without one) and returns {local_path, filename, name, version, rows}. Read it with " \
                   "pd.read_parquet(local_path).", \
    .guidance = "Load a data set once, then pd.read_parquet(local_path) in the code.", \
    .role = (lowest), \
    .hints = TOOL_EXECUTES | TOOL_IDEMPOTENT, \
    .parameters = load_dataset_parameters, \
    .replies = load_dataset_replies, \
    .handle = load_dataset_tool, \
  }, \
  { \
    .name = "import_dataset", \
    .title = "Make a data set of a file", \
    .description = "Makes a data set of a stored file that is a table: CSV, Excel, JSON, JSON Lines, Parquet, " \
                   "Feather or SQLite, or a gzip or zstd file of a text, by its content.", \
    .role = (lowest), \
    .hints = TOOL_EXECUTES, \
    .parameters = import_dataset_parameters, \
    .replies = import_dataset_replies, \
    .handle = import_dataset_tool, \
  }, \
  { \
    .name = "export_dataset", \
    .title = "Have a data set as a file", \
    .description = "Gives a data set, whole, as a CSV, JSON or Parquet file with a URL.", \
    .guidance = "Use it when the user wants the data to take away; do not print the rows.", \
    .role = (lowest), \
    .hints = TOOL_EXECUTES, \
    .parameters = export_dataset_parameters, \
    .replies = export_csv_replies, \
    .handle = export_dataset_tool, \
  }, \
  { \
    .name = "remove_dataset", \
    .title = "Remove a data set", \
    .description = "Removes a data set with all of its versions; NAME:VERSION removes that version alone. It cannot " \
                   "be restored.", \
    .role = (lowest), \
    .hints = TOOL_EXECUTES | TOOL_DESTRUCTIVE, \
    .parameters = remove_dataset_parameters, \
    .replies = remove_dataset_replies, \
    .handle = remove_dataset_tool, \
  }
/* clang-format on */
