/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of a shell's sandbox: which names a command line may use, and why others are refused. The
 * daemon builds the sandbox's tree from it, and the sandbox checks each command against it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum program_kind {
  PROGRAM_FILE,    /* a program of the host's, which is in the tree where the host has it */
  PROGRAM_BUILTIN, /* the shell's own */
  PROGRAM_REFUSED,
};

/* What a name's arguments are looked at for. */
enum program_arguments {
  ARGUMENTS_ANY,
  ARGUMENTS_COMMAND,   /* after options comes another command */
  ARGUMENTS_FIND,      /* find: commands after -exec and its kin */
  ARGUMENTS_VARIABLES, /* names of variables, or assignments */
  ARGUMENTS_CODE,      /* the first is commands: trap */
  ARGUMENTS_HOSTS,     /* the network is what it is for */
};

/* One row is about all of NAMES, words with a space between them. */
struct program_row {
  enum program_kind kind;
  enum program_arguments arguments;
  const char *names;
  const char *options;      /* of ARGUMENTS_COMMAND: the short ones that have an argument of their own */
  const char *long_options; /* and the long ones, words; with a space before and after each */
  int operands;             /* of ARGUMENTS_COMMAND: arguments before the command that are no options */
  bool assigns;             /* of ARGUMENTS_COMMAND: assignments may stand before the command */
  const char *hint;         /* of PROGRAM_REFUSED: why, and what to do */
};

extern const struct program_row program_rows[];
extern const size_t program_rows_count;

/* The row of the program called the LENGTH bytes at NAME; NULL: it is in none. */
const struct program_row *programs_find (const char *name, size_t length);

/* The next word of *LIST, which moves past it: its length in *RET_LENGTH; NULL after the last. */
const char *programs_next (const char **list, size_t *ret_length);
