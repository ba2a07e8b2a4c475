/* SPDX-License-Identifier: Apache-2.0 */
/* What --help prints: the commands of a table, or the options of one command. */
#pragma once

#include <glib.h>
#include <stdio.h>

#include "interfaces/cli/cli.h"

/* The commands of TABLE, in their groups. PREFIX is what a person types before them: "adder", "adder env".
 * EXAMPLES may be NULL. ALL: those that are rarely needed, too. */
void help_commands (FILE *stream, const char *prefix, const char *summary, const struct cli_command *table,
                    const char *examples, gboolean all);

/* The options of COMMAND, which is typed as NAME: ENTRIES, with their headings (CLI_HEADING), and COMMON,
 * that all commands have. */
void help_options (FILE *stream, const char *name, const struct cli_command *command,
                   const GOptionEntry *entries, const GOptionEntry *common);
