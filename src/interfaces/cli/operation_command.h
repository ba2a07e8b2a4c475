/* SPDX-License-Identifier: Apache-2.0 */
/* A command that asks for one operation and prints the answer. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct operation_command {
  const char *operation;               /* "session.show" */
  const char *parameters[3];           /* those that the arguments are, in their order; ends with NULL */
  int least;                           /* of the arguments; the others may be left out */
  void (*view) (const json_t *answer); /* prints it for people; NULL: it says nothing to them */
  const char *empty; /* the list in the answer that is empty where no daemon runs, or NULL */
  const char *list; /* the list in the answer that --json prints alone, VIEW gets, and of which --names prints
                     * names; NULL: it is about one thing */
  const char *things,
      *makes; /* of an empty one it is said that there are none, and what makes one; or NULL */
};

/* Carries it out: --json prints the answer as it is. The exit code; a session that is busy has one of its
 * own. */
int operation_command (const struct operation_command *command, int argc, char **argv);

/* The names of LIST, one on a line. */
void operation_command_print_names (const json_t *list);

/* The same for a command with options of its own: prints ANSWER, as JSON or with VIEW (may be NULL), or
 * PROBLEM where there is none. */
int operation_command_print (const json_t *answer, const GError *problem, gboolean json,
                             void (*view) (const json_t *answer));
