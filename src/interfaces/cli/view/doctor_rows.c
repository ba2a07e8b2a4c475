/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/doctor_rows.h"

#include <stdio.h>

#include "common/json.h"
#include "interfaces/cli/view/cli_terminal.h"

#define MARK_WIDTH 4
#define NAME_WIDTH 16

void
doctor_print_mark (gboolean good)
{
  printf ("%s%-4s%s", cli_colour (stdout, good ? CLI_GREEN : CLI_RED), good ? "ok" : "--",
          cli_colour (stdout, CLI_PLAIN));
}

/* The cursor is behind the mark. */
static void
doctor_rows_text (const char *name, const char *text)
{
  printf ("%-*s ", NAME_WIDTH, name);
  cli_write_wrapped (stdout, MARK_WIDTH + NAME_WIDTH + 1, text);
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
    doctor_rows_text (json_member_text (row, "name"), json_member_text (row, "text"));
    if (!good && cost[0]) {
      printf ("%*s", MARK_WIDTH, "");
      doctor_rows_text ("", cost);
    }
    /* Not wrapped: commands in it are copied. */
    if (!good && remedy[0])
      printf ("%*s %s: %s\n", MARK_WIDTH + NAME_WIDTH, "", to, remedy);
  }
}
