/* SPDX-License-Identifier: Apache-2.0 */
/* The structure of a shell script: lists, pipelines, compound commands, redirections. */
#include "runner/script.h"

#include <stdlib.h>
#include <string.h>

#include "runner/script_private.h"

/* ---- reserved words ---- */

enum reserved {
  RESERVED_NONE,
  RESERVED_BANG,
  RESERVED_OPEN,
  RESERVED_CLOSE,
  RESERVED_CASE,
  RESERVED_DO,
  RESERVED_DONE,
  RESERVED_ELIF,
  RESERVED_ELSE,
  RESERVED_ESAC,
  RESERVED_FI,
  RESERVED_FOR,
  RESERVED_IF,
  RESERVED_IN,
  RESERVED_THEN,
  RESERVED_UNTIL,
  RESERVED_WHILE,
};

static const char *const reserved_words[] = {
    [RESERVED_BANG] = "!",      [RESERVED_OPEN] = "{",    [RESERVED_CLOSE] = "}",
    [RESERVED_CASE] = "case",   [RESERVED_DO] = "do",     [RESERVED_DONE] = "done",
    [RESERVED_ELIF] = "elif",   [RESERVED_ELSE] = "else", [RESERVED_ESAC] = "esac",
    [RESERVED_FI] = "fi",       [RESERVED_FOR] = "for",   [RESERVED_IF] = "if",
    [RESERVED_IN] = "in",       [RESERVED_THEN] = "then", [RESERVED_UNTIL] = "until",
    [RESERVED_WHILE] = "while",
};
#define RESERVED_COUNT (sizeof reserved_words / sizeof reserved_words[0])

/* The reserved word that stands next, and, with TAKE, reads it. Only one that is written plainly is. */
static enum reserved
reserved_at (struct script *script, bool take)
{
  struct script ahead = *script;
  char word[8];
  size_t length = 0;
  for (int c; !script_ends_word (c = script_peek (&ahead)); script_next_raw (&ahead)) {
    if (length == sizeof word - 1)
      return RESERVED_NONE;
    word[length++] = (char)c;
  }
  word[length] = '\0';
  for (enum reserved found = RESERVED_NONE + 1; found < RESERVED_COUNT; found++) {
    if (strcmp (word, reserved_words[found]) != 0)
      continue;
    if (take) {
      script->at = ahead.at;
      script->place = ahead.place;
    }
    return found;
  }
  return RESERVED_NONE;
}

/* ---- between commands ---- */

static void
script_skip_blanks (struct script *script)
{
  int c;
  while ((c = script_peek (script)) == ' ' || c == '\t')
    script_next_raw (script);
  if (c == '#')
    while (script_peek_raw (script) != '\n' && script_peek_raw (script) != SCRIPT_END)
      script_next_raw (script);
}

static void
take_newline (struct script *script)
{
  struct script_place place = script->place;
  script_next_raw (script);
  /* Whose bodies come first is not the same in all shells. */
  if (script->heredoc_floor > 0)
    script_fail (script, place, "a line ends within $(...) while a here-document waits for its text");
  script_read_heredocs (script);
}

static void
skip_newlines (struct script *script)
{
  for (script_skip_blanks (script); script_peek (script) == '\n'; script_skip_blanks (script))
    take_newline (script);
}

static void
expect (struct script *script, enum reserved wanted, const char *problem)
{
  struct script_place place = script->place;
  skip_newlines (script);
  if (reserved_at (script, true) != wanted)
    script_fail (script, place, problem);
}

/* ---- redirections ---- */

static void
add_heredoc (struct script *script, const struct script_word *delimiter, bool strip)
{
  if (!delimiter->literal || memchr (delimiter->raw, '\n', delimiter->raw_length))
    script_fail (script, delimiter->place, "the delimiter of a here-document is one plain word");
  if (script->heredoc_count == HEREDOCS_MAX)
    script_fail (script, delimiter->place, "there are too many here-documents in one line");
  if (script->failed)
    return;
  bool quoted = delimiter->length != delimiter->raw_length;
  script->heredocs[script->heredoc_count++] =
      (struct heredoc){.delimiter = *delimiter, .quoted = quoted, .strip = strip};
}

/* At < or >. */
static void
read_redirection (struct script *script)
{
  struct script_place place = script->place;
  struct script_word word;
  int first = script_next (script), second = script_peek (script);
  bool heredoc = first == '<' && second == '<', strip = false;
  if (second == '(') {
    script_fail (script, place, "<(...) and >(...) are not of a POSIX shell: use a file in /tmp");
    return;
  }
  if (second == '&' || second == '>' || heredoc || (first == '>' && second == '|'))
    script_next_raw (script);
  if (heredoc && script_peek (script) == '-') {
    strip = true;
    script_next_raw (script);
  } else if (heredoc && script_peek (script) == '<') {
    script_fail (script, place, "<<< is not of a POSIX shell: use echo ... |");
    return;
  }
  script_skip_blanks (script);
  if (!script_read_word (script, &word))
    script_fail (script, place, "there is nothing after this < or >");
  else if (heredoc)
    add_heredoc (script, &word, strip);
}

static bool
at_redirection (struct script *script)
{
  int c = script_peek (script);
  return c == '<' || c == '>';
}

/* Those after a compound command, if any. */
static void
read_redirections (struct script *script)
{
  for (;;) {
    script_skip_blanks (script);
    struct script ahead = *script;
    while (script_peek (&ahead) >= '0' && script_peek (&ahead) <= '9')
      script_next_raw (&ahead);
    if (!at_redirection (&ahead) || script->failed)
      return;
    script->at = ahead.at;
    script->place = ahead.place;
    read_redirection (script);
  }
}

/* ---- commands ---- */

static void walk_command (struct script *script);
static void walk_list (struct script *script);

struct words {
  struct script_word *list;
  size_t count, room;
};

static bool
add_word (struct script *script, struct words *words, const struct script_word *word)
{
  if (words->count == words->room) {
    size_t room = words->room ? 2 * words->room : 8;
    struct script_word *list = realloc (words->list, room * sizeof *list);
    if (!list) {
      script_fail (script, word->place, "there is not enough memory to look at this");
      return false;
    }
    words->list = list;
    words->room = room;
  }
  words->list[words->count++] = *word;
  return true;
}

/* Whether WORD, right before < or >, is the number of a descriptor. */
static bool
is_descriptor (struct script *script, const struct script_word *word)
{
  return at_redirection (script) && strspn (word->raw, "0123456789") >= word->raw_length;
}

static bool
script_is_name (const struct script_word *word)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  return word->literal && word->length == word->raw_length && word->length > 0 &&
         strspn (word->text, letters) == word->length && !(word->text[0] >= '0' && word->text[0] <= '9');
}

/* NAME was read and ( stands next. */
static void
walk_function (struct script *script, const struct script_word *name)
{
  script_next_raw (script);
  script_skip_blanks (script);
  if (script_next (script) != ')' || !script_is_name (name)) {
    script_fail (script, name->place, "this is no function: NAME() { ...; }");
    return;
  }
  script->visitor->function (script->visitor->data, name);
  skip_newlines (script);
  walk_command (script);
}

static void
walk_simple (struct script *script)
{
  struct words words = {NULL, 0, 0};
  struct script_place place = script->place;
  bool redirected = false, function = false;
  while (!script->failed && !function) {
    struct script_word word;
    script_skip_blanks (script);
    if (at_redirection (script)) {
      read_redirection (script);
      redirected = true;
    } else if (script_peek (script) == '(' && words.count == 1 && !redirected) {
      function = true;
    } else if (!script_read_word (script, &word) ||
               (!is_descriptor (script, &word) && !add_word (script, &words, &word))) {
      break;
    }
  }
  if (function)
    walk_function (script, &words.list[0]);
  else if (words.count == 0 && !redirected)
    script_fail (script, place, "here should be a command");
  else if (!script->failed && words.count > 0)
    script->visitor->command (script->visitor->data, words.list, words.count);
  free (words.list);
}

static void
walk_if (struct script *script)
{
  enum reserved word;
  walk_list (script);
  expect (script, RESERVED_THEN, "this if or elif has no then");
  walk_list (script);
  skip_newlines (script);
  struct script_place place = script->place;
  while ((word = reserved_at (script, true)) == RESERVED_ELIF && !script->failed) {
    walk_list (script);
    expect (script, RESERVED_THEN, "this if or elif has no then");
    walk_list (script);
    skip_newlines (script);
    place = script->place;
  }
  if (word == RESERVED_ELSE) {
    walk_list (script);
    expect (script, RESERVED_FI, "this if has no fi");
  } else if (word != RESERVED_FI) {
    script_fail (script, place, "this if has no fi");
  }
}

static void
walk_body (struct script *script)
{
  expect (script, RESERVED_DO, "this loop has no do");
  walk_list (script);
  expect (script, RESERVED_DONE, "this loop has no done");
}

static void
walk_for (struct script *script)
{
  struct script_word word;
  struct script_place place = script->place;
  script_skip_blanks (script);
  if (!script_read_word (script, &word) || !script_is_name (&word)) {
    script_fail (script, place, "for needs the name of a variable");
    return;
  }
  script->visitor->variable (script->visitor->data, &word);
  script_skip_blanks (script);
  if (script_peek (script) == ';') {
    script_next_raw (script);
    walk_body (script);
    return;
  }
  skip_newlines (script);
  if (reserved_at (script, false) == RESERVED_IN) {
    reserved_at (script, true);
    for (script_skip_blanks (script); script_read_word (script, &word); script_skip_blanks (script))
      ;
    int c = script_peek (script);
    if (c == '\n')
      take_newline (script);
    else if (c == ';')
      script_next_raw (script);
    else
      script_fail (script, script->place, "the words of for end with ; or a new line");
  }
  walk_body (script);
}

static void
walk_patterns (struct script *script)
{
  struct script_word word;
  if (script_peek (script) == '(')
    script_next_raw (script);
  for (;;) {
    script_skip_blanks (script);
    if (!script_read_word (script, &word)) {
      script_fail (script, script->place, "here should be a pattern of case");
      return;
    }
    script_skip_blanks (script);
    int c = script_next (script);
    if (c == ')')
      return;
    if (c != '|') {
      script_fail (script, word.place, "this pattern of case has no )");
      return;
    }
  }
}

static void
walk_case (struct script *script)
{
  struct script_word word;
  struct script_place place = script->place;
  script_skip_blanks (script);
  if (!script_read_word (script, &word))
    script_fail (script, place, "case needs a word");
  expect (script, RESERVED_IN, "this case has no in");
  for (skip_newlines (script); reserved_at (script, false) != RESERVED_ESAC; skip_newlines (script)) {
    if (script->failed || script_peek (script) == SCRIPT_END) {
      script_fail (script, place, "this case has no esac");
      return;
    }
    walk_patterns (script);
    walk_list (script);
    skip_newlines (script);
    if (script_peek (script) != ';')
      continue;
    script_next_raw (script);
    if (script_next (script) != ';' || script_peek (script) == '&')
      script_fail (script, script->place, "a part of case ends with ;;");
  }
  reserved_at (script, true);
}

/* At (. Two of them are arithmetic for some shells. */
static void
walk_subshell (struct script *script)
{
  struct script_place place = script->place;
  script_next_raw (script);
  if (script_peek (script) == '(') {
    script_fail (script, place, "(( is not of a POSIX shell: write ( ( for subshells, $((...)) for numbers");
    return;
  }
  walk_list (script);
  skip_newlines (script);
  if (script_next (script) != ')')
    script_fail (script, place, "this ( has no )");
}

static void
walk_compound (struct script *script)
{
  struct script_place place = script->place;
  if (script_peek (script) == '(') {
    walk_subshell (script);
    read_redirections (script);
    return;
  }
  enum reserved word = reserved_at (script, false);
  if (word == RESERVED_NONE || word == RESERVED_IN) {
    walk_simple (script);
    return;
  }
  reserved_at (script, true);
  switch (word) {
  case RESERVED_OPEN:
    walk_list (script);
    expect (script, RESERVED_CLOSE, "this { has no }");
    break;
  case RESERVED_IF:
    walk_if (script);
    break;
  case RESERVED_WHILE:
  case RESERVED_UNTIL:
    walk_list (script);
    walk_body (script);
    break;
  case RESERVED_FOR:
    walk_for (script);
    break;
  case RESERVED_CASE:
    walk_case (script);
    break;
  default:
    script_fail (script, place, "this word has no beginning that it belongs to");
    break;
  }
  read_redirections (script);
}

static void
walk_command (struct script *script)
{
  script_skip_blanks (script);
  if (++script->depth > SCRIPT_DEPTH_MAX)
    script_fail (script, script->place, "this is nested too deeply");
  else
    walk_compound (script);
  script->depth--;
}

static void
walk_pipeline (struct script *script)
{
  script_skip_blanks (script);
  while (reserved_at (script, false) == RESERVED_BANG && !script->failed) {
    reserved_at (script, true);
    script_skip_blanks (script);
  }
  walk_command (script);
  for (script_skip_blanks (script); script_peek (script) == '|' && script_peek_second (script) != '|';
       script_skip_blanks (script)) {
    script_next_raw (script);
    if (script_peek (script) == '&') {
      script_fail (script, script->place, "|& is not of a POSIX shell: write 2>&1 |");
      return;
    }
    skip_newlines (script);
    walk_command (script);
  }
}

/* Whether a list of commands is over. */
static bool
ends_list (struct script *script)
{
  int c = script_peek (script);
  if (c == SCRIPT_END || c == ')' || c == ';')
    return true;
  switch (reserved_at (script, false)) {
  case RESERVED_CLOSE:
  case RESERVED_DO:
  case RESERVED_DONE:
  case RESERVED_ELIF:
  case RESERVED_ELSE:
  case RESERVED_ESAC:
  case RESERVED_FI:
  case RESERVED_THEN:
    return true;
  default:
    return false;
  }
}

/* Pipelines with && and || between them. */
static void
walk_and_or (struct script *script)
{
  walk_pipeline (script);
  for (;;) {
    int c = script_peek (script);
    if ((c != '&' && c != '|') || script_peek_second (script) != c)
      return;
    script_next_raw (script);
    script_next (script);
    skip_newlines (script);
    walk_pipeline (script);
  }
}

static void
walk_list (struct script *script)
{
  for (skip_newlines (script); !ends_list (script); skip_newlines (script)) {
    struct script_place place = script->place;
    walk_and_or (script);
    script_skip_blanks (script);
    int c = script_peek (script), after = script_peek_second (script);
    if (c == '\n')
      continue; /* with the here-documents that wait for it */
    if (c == '&' && after == '>') {
      script_fail (script, script->place, "&> is not of a POSIX shell: write > FILE 2>&1");
    } else if (c == '&' || (c == ';' && after != ';')) {
      script_next_raw (script);
    } else if (!ends_list (script)) {
      script_fail (script, place, "after this command comes something that does not belong to it");
    } else {
      return;
    }
  }
}

/* ---- the whole ---- */

void
script_walk_substitution (struct script *script)
{
  struct script_place place = script->place;
  size_t floor = script->heredoc_floor;
  script->heredoc_floor = script->heredoc_count;
  walk_list (script);
  skip_newlines (script);
  if (script->heredoc_count > script->heredoc_floor)
    script_fail (script, place, "a here-document within $(...) has no text there");
  if (script_next (script) != ')')
    script_fail (script, place, "this $( has no )");
  script->heredoc_floor = floor;
}

/* Walks all that SCRIPT has. */
static void
walk_all (struct script *script)
{
  script->texts = malloc (script->length + 1);
  if (!script->texts) {
    script_fail (script, script->place, "there is not enough memory to look at this");
    return;
  }
  walk_list (script);
  skip_newlines (script);
  if (script_peek (script) != SCRIPT_END)
    script_fail (script, script->place, "here is something that nothing before it began");
  if (script->heredoc_count > 0)
    script_fail (script, script->place, "a here-document has no text");
  free (script->texts);
}

void
script_walk_text (struct script *around, const char *text, size_t length, struct script_place place)
{
  struct script inner = {
      .text = text,
      .length = length,
      .place = place,
      .placed = true,
      .depth = around->depth + 1,
      .visitor = around->visitor,
      .problem = around->problem,
  };
  if (inner.depth > SCRIPT_DEPTH_MAX)
    script_fail (&inner, place, "this is nested too deeply");
  else
    walk_all (&inner);
  around->failed = inner.failed;
}

bool
script_walk (const char *text, size_t length, const struct script_visitor *visitor,
             struct script_problem *ret_problem)
{
  struct script script = {
      .text = text,
      .length = length,
      .place = {1, 1},
      .visitor = visitor,
      .problem = ret_problem,
  };
  if (length > 0 && memchr (text, '\0', length))
    script_fail (&script, script.place, "there is a zero byte in it");
  else
    walk_all (&script);
  return !script.failed;
}
