/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/help.h"

#include <string.h>

#include "interfaces/cli/view/cli_terminal.h"

#define NAME_WIDTH   10
#define OPTION_WIDTH 30 /* of "  -c, --code=CODE"; after a longer one the text begins on the next line */

/* EXAMPLES, a command on each line, or NULL. */
static void
help_examples (FILE *stream, const char *examples)
{
  g_auto (GStrv) lines = g_strsplit (examples ? examples : "", "\n", -1);
  if (lines[0])
    fprintf (stream, "\nExamples:\n");
  for (char **line = lines; *line; line++)
    fprintf (stream, "  %s\n", *line);
}

void
help_commands (FILE *stream, const char *prefix, const char *summary, const struct cli_command *table,
               const char *examples, gboolean all)
{
  gboolean is_program = strchr (prefix, ' ') == NULL;
  fprintf (stream, "Usage: %s COMMAND [OPTION...]\n\n", prefix);
  cli_write_wrapped (stream, 0, summary);
  if (!table->group)
    fprintf (stream, "\nCommands:\n");
  for (const struct cli_command *command = table; command->name; command++) {
    if (command->rare && !all)
      continue;
    if (command->group)
      fprintf (stream, "\n%s:\n", command->group);
    fprintf (stream, "  %-*s ", NAME_WIDTH, command->name);
    cli_write_wrapped (stream, 2 + NAME_WIDTH + 1, command->summary);
  }
  help_examples (stream, examples);
  fprintf (stream, "\n%s COMMAND --help shows the options of a command.\n", prefix);
  if (is_program)
    cli_write_wrapped (
        stream, 0, "adder help --all shows more commands, adder --version the version, man adder all of it.");
}

static void
help_option (FILE *stream, const GOptionEntry *entry)
{
  g_autoptr (GString) names = g_string_new ("  ");
  if (entry->flags & G_OPTION_FLAG_HIDDEN)
    return;
  if (entry->short_name)
    g_string_append_printf (names, "-%c, ", entry->short_name);
  g_string_append_printf (names, "--%s", entry->long_name);
  if (entry->arg_description)
    g_string_append_printf (names, entry->flags & G_OPTION_FLAG_OPTIONAL_ARG ? "[=%s]" : "=%s",
                            entry->arg_description);
  gboolean fits = names->len < OPTION_WIDTH;
  fprintf (stream, "%-*s%s%*s", fits ? OPTION_WIDTH : 0, names->str, fits ? "" : "\n",
           fits ? 0 : OPTION_WIDTH, "");
  cli_write_wrapped (stream, OPTION_WIDTH, entry->description);
}

void
help_options (FILE *stream, const char *name, const struct cli_command *command, const GOptionEntry *entries,
              const GOptionEntry *common)
{
  fprintf (stream, "Usage:\n  %s [OPTION...]%s%s\n\n%c%s.\n", name, *command->arguments ? " " : "",
           command->arguments, g_ascii_toupper (command->summary[0]), command->summary + 1);
  fprintf (stream, "\nOptions:\n");
  for (; entries->long_name; entries++)
    if (cli_is_heading (entries))
      fprintf (stream, "\n%s:\n", entries->description);
    else
      help_option (stream, entries);
  for (; common->long_name; common++)
    help_option (stream, common);
  help_examples (stream, command->examples);
}
