/* SPDX-License-Identifier: Apache-2.0 */
/* Shell scripts, as dash reads them: a walk of their structure that reports every command, wherever it
 * stands: in lists, loops, functions, command substitutions, here-documents.
 *
 * It is stricter than any shell. What shells read differently, and what would take more to follow than it is
 * worth, is refused with its place, so that what is walked is what is run. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct script_place {
  uint32_t line, column; /* from 1; in bytes. Within ` `: of its beginning */
};

struct script_word {
  const char *text; /* without quotes, as far as it is known before it runs; a zero byte follows */
  size_t length;
  const char *raw; /* as it is written */
  size_t raw_length;
  struct script_place place;
  bool literal;      /* TEXT is all that it will be: no expansion, no pattern, no ~ */
  bool splits;       /* it may become none or several words */
  size_t assigned;   /* length of NAME where it is NAME=..., else 0 */
  size_t text_fixed; /* so many first bytes of TEXT are certain */
};

/* Callbacks during the walk, in the order of the text. Words are valid until the call returns. */
struct script_visitor {
  void *data;
  /* A simple command, with the assignments before it. There may be no word after them. */
  void (*command) (void *data, const struct script_word *words, size_t count);
  /* NAME() { ... }; and the variable of for. */
  void (*function) (void *data, const struct script_word *name);
  void (*variable) (void *data, const struct script_word *name);
};

struct script_problem {
  struct script_place place;
  const char *text; /* static */
};

/* Walks the LENGTH bytes of TEXT. Returns false with *RET_PROBLEM where it cannot be read; commands that
 * stand before were told. */
bool script_walk (const char *text, size_t length, const struct script_visitor *visitor,
                  struct script_problem *ret_problem);
