/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a shell script: quotes, expansions, here-documents. */
#include <stdlib.h>
#include <string.h>

#include "runner/script_private.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define DIGITS  "0123456789"

static bool
is_one_of (int c, const char *set)
{
  return c > 0 && strchr (set, c);
}

/* ---- reading ---- */

void
script_fail (struct script *script, struct script_place place, const char *text)
{
  if (!script->failed)
    *script->problem = (struct script_problem){.place = place, .text = text};
  script->failed = true;
}

static int
byte_at (const struct script *script, size_t at)
{
  return script->failed || at >= script->length ? SCRIPT_END : (unsigned char)script->text[at];
}

int
script_peek_raw (struct script *script)
{
  return byte_at (script, script->at);
}

int
script_next_raw (struct script *script)
{
  int c = script_peek_raw (script);
  if (c == SCRIPT_END)
    return c;
  script->at++;
  if (script->placed)
    return c;
  script->place.column++;
  if (c == '\n') {
    script->place.line++;
    script->place.column = 1;
  }
  return c;
}

int
script_peek (struct script *script)
{
  while (script_peek_raw (script) == '\\' && byte_at (script, script->at + 1) == '\n') {
    script_next_raw (script);
    script_next_raw (script);
  }
  return script_peek_raw (script);
}

int
script_next (struct script *script)
{
  script_peek (script);
  return script_next_raw (script);
}

int
script_peek_second (struct script *script)
{
  script_peek (script);
  size_t at = script->at + 1;
  while (byte_at (script, at) == '\\' && byte_at (script, at + 1) == '\n')
    at += 2;
  return byte_at (script, at);
}

bool
script_ends_word (int c)
{
  return c == SCRIPT_END || is_one_of (c, " \t\n;&|()<>");
}

/* ---- a word while it is read ---- */

/* Of expansions whose text nobody keeps, there is none. */
struct writing {
  struct script_word *word;
  char *text; /* where the next byte goes */
};

static void
script_word_put (struct writing *writing, int c)
{
  if (!writing || c == SCRIPT_END)
    return;
  *writing->text++ = (char)c;
  writing->word->length++;
  if (writing->word->literal)
    writing->word->text_fixed++;
}

static void
note_expansion (struct writing *writing, enum script_quoting quoting)
{
  if (!writing)
    return;
  writing->word->literal = false;
  writing->word->splits = writing->word->splits || quoting == QUOTING_NONE;
}

/* ---- expansions ---- */

static void read_expansion (struct script *script, struct writing *writing, enum script_quoting quoting);

static bool
script_word_enter (struct script *script)
{
  if (++script->depth > SCRIPT_DEPTH_MAX)
    script_fail (script, script->place, "this is nested too deeply");
  return !script->failed;
}

static void
read_single_quotes (struct script *script, struct writing *writing)
{
  struct script_place place = script->place;
  script_next_raw (script);
  int c;
  while ((c = script_next_raw (script)) != '\'') {
    if (c == SCRIPT_END) {
      script_fail (script, place, "this ' has no end");
      return;
    }
    script_word_put (writing, c);
  }
}

/* Of `...`: its text, with one level of backslashes taken away, is a script. */
static void
read_backquotes (struct script *script, struct writing *writing, enum script_quoting quoting)
{
  struct script_place place = script->place;
  script_next_raw (script);
  size_t most = script->length - script->at, length = 0;
  char *text = malloc (most + 1);
  if (!text) {
    script_fail (script, place, "there is not enough memory to look at this");
    return;
  }
  for (int c; (c = script_next_raw (script)) != '`';) {
    if (c == SCRIPT_END) {
      script_fail (script, place, "this ` has no end");
      break;
    }
    if (c == '\\') {
      int next = script_next_raw (script);
      if (next == '\n')
        continue;
      if (next == '"' && quoting != QUOTING_NONE)
        script_fail (script, place, "write $(...) for `...` with quotes in it");
      if (!is_one_of (next, "$`\\"))
        text[length++] = '\\';
      c = next;
      if (c == SCRIPT_END)
        continue;
    }
    text[length++] = (char)c;
  }
  note_expansion (writing, quoting);
  if (!script->failed)
    script_walk_text (script, text, length, place);
  free (text);
}

static void
read_double_quotes (struct script *script, struct writing *writing)
{
  struct script_place place = script->place;
  script_next_raw (script);
  for (int c; (c = script_peek (script)) != '"';) {
    if (c == SCRIPT_END) {
      script_fail (script, place, "this \" has no end");
      return;
    }
    if (c == '$') {
      read_expansion (script, writing, QUOTING_DOUBLE);
    } else if (c == '`') {
      read_backquotes (script, writing, QUOTING_DOUBLE);
    } else if (c == '\\') {
      script_next_raw (script);
      if (!is_one_of (script_peek_raw (script), "$`\"\\"))
        script_word_put (writing, '\\');
      script_word_put (writing, script_next_raw (script));
    } else {
      script_word_put (writing, script_next_raw (script));
    }
  }
  script_next_raw (script);
}

/* Within ${...}, after the operator. */
static void
read_braced_word (struct script *script, enum script_quoting quoting, struct script_place place)
{
  for (int c; (c = script_peek (script)) != '}';) {
    if (c == SCRIPT_END) {
      script_fail (script, place, "this ${ has no }");
      return;
    }
    /* Shells disagree about quotes here. */
    if ((c == '\'' || c == '"') && quoting != QUOTING_NONE) {
      script_fail (script, script->place,
                   "quotes within ${...} within quotes are not followed: use a variable");
      return;
    }
    if (c == '\'') {
      read_single_quotes (script, NULL);
    } else if (c == '"') {
      read_double_quotes (script, NULL);
    } else if (c == '$') {
      read_expansion (script, NULL, quoting);
    } else if (c == '`') {
      read_backquotes (script, NULL, quoting);
    } else {
      script_next_raw (script);
      if (c == '\\')
        script_next_raw (script);
    }
  }
  script_next_raw (script);
}

/* A variable's name, or the one byte of a special parameter. Its length, 0 where there is none. */
static size_t
read_name (struct script *script, struct script_word *ret_name)
{
  *ret_name =
      (struct script_word){.text = script->texts + script->at, .place = script->place, .literal = true};
  struct writing writing = {ret_name, script->texts + script->at};
  int c = script_peek (script);
  ret_name->raw = script->text + script->at;
  if (is_one_of (c, "@*#?-$!")) {
    script_word_put (&writing, script_next_raw (script));
  } else if (is_one_of (c, DIGITS)) {
    while (is_one_of (script_peek (script), DIGITS))
      script_word_put (&writing, script_next_raw (script));
  } else {
    while (is_one_of (script_peek (script), LETTERS) ||
           (ret_name->length > 0 && is_one_of (script_peek (script), DIGITS)))
      script_word_put (&writing, script_next_raw (script));
  }
  ret_name->raw_length = (size_t)(script->text + script->at - ret_name->raw);
  return ret_name->length;
}

/* After ${. */
static void
read_braces (struct script *script, enum script_quoting quoting, struct script_place place)
{
  static const char problem[] = "this ${...} is not of a POSIX shell";
  struct script_word name;
  bool counts = script_peek (script) == '#' && script_peek_second (script) != '}';
  if (counts)
    script_next (script);
  if (read_name (script, &name) == 0) {
    script_fail (script, place, problem);
    return;
  }
  int c = script_peek (script);
  if (c == '}') {
    script_next_raw (script);
    return;
  }
  bool colon = c == ':';
  if (colon) {
    script_next_raw (script);
    c = script_peek (script);
  }
  if (counts || !is_one_of (c, colon ? "-=?+" : "-=?+%#")) {
    script_fail (script, place, problem);
    return;
  }
  if (c == '=')
    script->visitor->variable (script->visitor->data, &name);
  script_next_raw (script);
  if (is_one_of (c, "%#") && script_peek (script) == c)
    script_next_raw (script);
  read_braced_word (script, quoting, place);
}

/* After $((. */
static void
read_arithmetic (struct script *script, struct script_place place)
{
  int open = 0;
  for (;;) {
    int c = script_peek (script);
    if (c == SCRIPT_END || is_one_of (c, "'\"\\")) {
      script_fail (script, place,
                   c == SCRIPT_END ? "this $(( has no ))" : "quotes within $((...)) are not followed");
      return;
    }
    if (c == '$') {
      read_expansion (script, NULL, QUOTING_DOUBLE);
      continue;
    }
    if (c == '`') {
      read_backquotes (script, NULL, QUOTING_DOUBLE);
      continue;
    }
    if (c == ')' && open == 0) {
      script_next_raw (script);
      if (script_next (script) != ')')
        script_fail (script, place, "this $(( has no )): write $( (...) ) for a subshell in a substitution");
      return;
    }
    open += (c == '(') - (c == ')');
    script_next_raw (script);
  }
}

static void
read_expansion_of (struct script *script, struct writing *writing, enum script_quoting quoting)
{
  struct script_place place = script->place;
  struct script_word name;
  script_next_raw (script);
  int c = script_peek (script);
  if (c == '(') {
    note_expansion (writing, quoting);
    script_next_raw (script);
    if (script_peek (script) == '(') {
      script_next_raw (script);
      read_arithmetic (script, place);
    } else {
      script_walk_substitution (script);
    }
  } else if (c == '{') {
    note_expansion (writing, script_peek_second (script) == '@' ? QUOTING_NONE : quoting);
    script_next_raw (script);
    read_braces (script, quoting, place);
  } else if ((c == '\'' || c == '"') && quoting == QUOTING_NONE) {
    script_fail (script, place, "$'...' and $\"...\" are not of a POSIX shell: use printf");
  } else if (is_one_of (c, DIGITS) || is_one_of (c, "@*#?-$!")) {
    note_expansion (writing, c == '@' ? QUOTING_NONE : quoting);
    script_next_raw (script); /* one digit, without braces */
  } else if (read_name (script, &name) > 0) {
    note_expansion (writing, quoting);
  } else {
    script_word_put (writing, '$');
  }
}

static void
read_expansion (struct script *script, struct writing *writing, enum script_quoting quoting)
{
  if (script_word_enter (script))
    read_expansion_of (script, writing, quoting);
  script->depth--;
}

/* ---- words ---- */

static void
read_unquoted (struct script *script, struct writing *writing, int c)
{
  struct script_word *word = writing->word;
  bool pattern = is_one_of (c, "*?[") || (c == '~' && word->length == 0);
  /* The name of a program, or of what bash has beside it. */
  if (c == '[' && word->length < 2 && is_one_of (script_peek_second (script), "[ \t\n"))
    pattern = false;
  if (pattern) {
    word->literal = false;
    word->splits = true;
  }
  /* NAME=, all of it as it stands there. */
  size_t raw = (size_t)(script->text + script->at - word->raw);
  if (c == '=' && word->assigned == 0 && word->literal && word->length > 0 && raw == word->length &&
      !is_one_of ((unsigned char)word->raw[0], DIGITS) && strspn (word->raw, LETTERS DIGITS) == raw)
    word->assigned = raw;
  script_word_put (writing, script_next_raw (script));
}

bool
script_read_word (struct script *script, struct script_word *ret_word)
{
  int c = script_peek (script);
  if (script_ends_word (c))
    return false;
  *ret_word = (struct script_word){.text = script->texts + script->at,
                                   .raw = script->text + script->at,
                                   .place = script->place,
                                   .literal = true};
  struct writing writing = {ret_word, script->texts + script->at};
  while (!script_ends_word (c = script_peek (script))) {
    if (c == '\'') {
      read_single_quotes (script, &writing);
    } else if (c == '"') {
      read_double_quotes (script, &writing);
    } else if (c == '$') {
      read_expansion (script, &writing, QUOTING_NONE);
    } else if (c == '`') {
      read_backquotes (script, &writing, QUOTING_NONE);
    } else if (c == '\\') {
      script_next_raw (script);
      script_word_put (&writing, script_peek_raw (script) == SCRIPT_END ? '\\' : script_next_raw (script));
    } else {
      read_unquoted (script, &writing, c);
    }
  }
  *writing.text = '\0';
  ret_word->raw_length = (size_t)(script->text + script->at - ret_word->raw);
  return !script->failed;
}

/* ---- here-documents ---- */

/* Whether the line that begins here is the end of DOCUMENT, which is then behind. */
static bool
take_delimiter (struct script *script, const struct heredoc *document)
{
  size_t at = script->at, length = document->delimiter.length;
  while (document->strip && byte_at (script, at) == '\t')
    at++;
  if (script->length - at < length || memcmp (script->text + at, document->delimiter.text, length) != 0)
    return false;
  at += length;
  if (at < script->length && script->text[at] != '\n')
    return false;
  while (script->at < at)
    script_next_raw (script);
  script_next_raw (script);
  return true;
}

static void
script_word_read_line (struct script *script, const struct heredoc *document)
{
  for (int c; (c = script_peek_raw (script)) != SCRIPT_END;) {
    if (!document->quoted && c == '$') {
      read_expansion (script, NULL, QUOTING_HEREDOC);
      continue;
    }
    if (!document->quoted && c == '`') {
      read_backquotes (script, NULL, QUOTING_HEREDOC);
      continue;
    }
    script_next_raw (script);
    if (c == '\n')
      return;
    if (document->quoted || c != '\\')
      continue;
    if (script_next_raw (script) == '\n')
      script_fail (script, script->place,
                   "a line of a here-document ends in \\: quote its delimiter, or join the lines");
  }
}

void
script_read_heredocs (struct script *script)
{
  for (size_t i = script->heredoc_floor; i < script->heredoc_count && !script->failed; i++)
    while (script_peek_raw (script) != SCRIPT_END && !take_delimiter (script, &script->heredocs[i]))
      script_word_read_line (script, &script->heredocs[i]);
  script->heredoc_count = script->heredoc_floor;
}
