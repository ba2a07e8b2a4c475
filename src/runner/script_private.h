/* SPDX-License-Identifier: Apache-2.0 */
/* What script.c (structure) and script_word.c (words and expansions) share. */
#pragma once

#include "runner/script.h"

#define SCRIPT_END (-1)

/* Lists, expansions and all that nests in each other. */
#define SCRIPT_DEPTH_MAX 60

struct heredoc {
  struct script_word delimiter;
  bool quoted, strip;
};

/* More before one newline are not needed by anybody. */
#define HEREDOCS_MAX 16

/* A text that is read. Once there is a problem it is at its end, so that everything comes back by itself. */
struct script {
  const char *text;
  size_t length, at;
  struct script_place place;
  bool placed; /* PLACE stays: the text is taken out of another */
  int depth;
  const struct script_visitor *visitor;
  struct script_problem *problem;
  bool failed;
  struct heredoc heredocs[HEREDOCS_MAX];
  size_t heredoc_count, heredoc_floor; /* those below the floor belong to what a substitution stands in */
  char *texts; /* of words: each where it begins in TEXT, since none is longer than what it is written as */
};

/* What of the text around an expansion has a meaning. */
enum script_quoting {
  QUOTING_NONE,
  QUOTING_DOUBLE, /* "..." */
  QUOTING_HEREDOC,
};

void script_fail (struct script *script, struct script_place place, const char *text);

/* The next byte, or SCRIPT_END; a backslash before a newline is nothing, but for the raw ones. */
int script_peek (struct script *script);
int script_next (struct script *script);
int script_peek_raw (struct script *script);
int script_next_raw (struct script *script);

/* The byte after the next one. */
int script_peek_second (struct script *script);

/* Whether C, outside of quotes, ends a word. */
bool script_ends_word (int c);

/* Reads a word. False where there is none. */
bool script_read_word (struct script *script, struct script_word *ret_word);

/* Reads the bodies of the here-documents that wait, after a newline. */
void script_read_heredocs (struct script *script);

/* Walks the commands of $( ), up to and with the ), and those of ` `, taken out of AROUND at PLACE. */
void script_walk_substitution (struct script *script);
void script_walk_text (struct script *around, const char *text, size_t length, struct script_place place);
