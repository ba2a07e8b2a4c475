/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of earlier runs for agents: a tool shared by several toolsets. */
#pragma once

#include "tools/call.h"

/* clang-format off */
#define TOOL_EXPORT_RESULTS_CSV(lowest_role) \
  { \
      .name = "export_results_csv", \
      .title = "Have a table as a CSV file", \
      .description = "Gives a table that an earlier run showed, whole, as a CSV file with a URL: all of its rows, where the " \
                     "reply had the first and the last; or a data set. run_id is that of the run's reply; the tables that it showed, by " \
                     "display(df) or as the value of its last line, are counted from 1.", \
      .guidance = "Use it when the user wants a table to take away; do not print the rows.", \
      .role = (lowest_role), \
      .hints = TOOL_EXECUTES, \
      .parameters = export_csv_parameters, \
      .replies = export_csv_replies, \
      .handle = export_csv_tool, \
  }
/* clang-format on */

extern const struct field export_csv_parameters[];
extern const struct field *const export_csv_replies[];
void export_csv_tool (struct call *call);
