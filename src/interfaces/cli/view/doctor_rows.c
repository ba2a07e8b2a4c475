/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/doctor_rows.h"

#include <stdio.h>

#include "common/json.h"
#include "interfaces/cli/view/cli_terminal.h"

void
doctor_print_mark (gboolean good)
{
  printf ("%s%-4s%s", cli_colour (stdout, good ? CLI_GREEN : CLI_RED), good ? "ok" : "--",
          cli_colour (stdout, CLI_PLAIN));
}

void
doctor_print_rows (const json_t *rows, const char *to)
{
  gsize i;
  json_t *row;
  json_array_foreach (rows, i, row)
  {
    gboolean good = json_is_true (json_object_get (row, "good"));
    const char *cost = json_member_text (row, "cost"), *remedy = json_member_text (row, "remedy");
    doctor_print_mark (good);
    printf ("%-16s %s\n", json_member_text (row, "name"), json_member_text (row, "text"));
    if (!good && cost[0])
      printf ("    %-16s %s\n", "", cost);
    if (!good && remedy[0])
      printf ("    %-16s %s: %s\n", "", to, remedy);
  }
}
