/* SPDX-License-Identifier: Apache-2.0 */
/* `adder manual`: parts of docs/adder.1 as the program's tables have them, which scripts/checks.sh compares:
 * the synopsis, and the options of each command. */
#include <stdio.h>
#include <string.h>

#include "interfaces/cli/cli.h"

/* One command of the program. */
struct command_facts {
  const struct cli_command *sub; /* its own commands; NULL: it has none */
  const char *name;              /* whose options are printed; NULL: none are */
};

static void
facts_take_commands (gpointer data, const struct cli_command *table)
{
  struct command_facts *facts = data;
  facts->sub = table;
}

static void
facts_take_options (gpointer data, const GOptionEntry *entries)
{
  const struct command_facts *facts = data;
  for (; facts->name && entries->long_name; entries++)
    if (!(entries->flags & G_OPTION_FLAG_HIDDEN) && strcmp (entries->long_name, "help") != 0 &&
        strcmp (entries->long_name, "url") != 0)
      printf ("%s --%s\n", facts->name, entries->long_name);
}

static struct command_facts
command_observe (const struct cli_command *table, const char *name, const char *sub, gboolean prints)
{
  struct command_facts facts = {.name = prints ? name : NULL};
  const struct cli_observer observer = {facts_take_commands, facts_take_options, &facts};
  char *argv[] = {(char *)"adder", (char *)name, (char *)sub, NULL};
  cli_observe (&observer, table, sub ? 3 : 2, argv);
  return facts;
}

static int
manual_print_options (const struct cli_command *table)
{
  for (const struct cli_command *row = table; row->name; row++) {
    const struct command_facts facts = command_observe (table, row->name, NULL, TRUE);
    for (const struct cli_command *sub = facts.sub; sub && sub->name; sub++)
      command_observe (table, row->name, sub->name, TRUE);
  }
  return 0;
}

static void
manual_print_commands (const struct cli_command *table)
{
  printf (".Cm");
  for (const struct cli_command *row = table; row->name; row++)
    printf ("%s %s", row == table ? "" : " |", row->name);
  printf ("\n.Op Ar ...\n");
}

static void
print_arguments (const char *arguments)
{
  g_auto (GStrv) parts = g_strsplit (arguments, "\"", -1);
  g_autofree char *quoted = g_strjoinv ("\\(dq", parts);
  printf (".Op Ar OPTION ...\n");
  if (*arguments)
    printf (".Ar \"%s\"\n", quoted);
}

/* A line or two for each command. One that has commands of its own and does something itself has both. */
static int
print_synopsis (const struct cli_command *table)
{
  for (const struct cli_command *row = table; row->name; row++) {
    const struct command_facts facts = command_observe (table, row->name, NULL, FALSE);
    printf (".Nm\n.Cm %s\n", row->name);
    if (facts.sub && strcmp (row->arguments, "COMMAND") == 0)
      manual_print_commands (facts.sub);
    else
      print_arguments (row->arguments);
  }
  return 0;
}

int
cli_manual (const struct cli_command *table, int argc, char **argv)
{
  const char *part = argc == 2 ? argv[1] : "";
  if (strcmp (part, "synopsis") == 0)
    return print_synopsis (table);
  if (strcmp (part, "options") == 0)
    return manual_print_options (table);
  fprintf (stderr, "adder: adder manual prints a part of the manual: synopsis or options\n");
  return CLI_FAILED;
}
