/* SPDX-License-Identifier: Apache-2.0 */
/* What is typed after a colon. */
#pragma once

#include "apps/repl/repl.h"

/* Carries out LINE: ":vars", or one of the words of Python for leaving. */
void repl_commands_carry_out (struct repl *repl, const char *line);

/* Whether LINE is one of these: exit, exit(), quit, quit(). */
gboolean repl_commands_leave (const char *line);

/* Their names with the colon, ended by NULL; the caller's. */
GStrv repl_commands_names (void);
