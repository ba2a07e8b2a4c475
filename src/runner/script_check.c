/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/script_check.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/programs.h"

static const char rule_unknown[] = "not_listed", rule_refused[] = "refused", rule_dynamic[] = "not_literal",
                  rule_variable[] = "variable", rule_syntax[] = "syntax";

static const char hint_unknown[] =
    "Only programs that read are there: cat head tail cut paste sort uniq comm tr wc grep sed awk jq diff "
    "find xargs ls "
    "stat du file od base64 sha256sum zcat tar date seq printf test env timeout tee curl wget and the like.";
static const char hint_path[] =
    "Name the program alone, without a path: what is in /tmp and /work cannot be run.";
static const char hint_dynamic[] =
    "Write the name of the program out: what an expansion gives cannot be looked up.";
static const char hint_inner[] =
    "Write out what it runs, and the arguments before that: an expansion cannot be looked up.";
static const char hint_variable[] = "It decides which programs and libraries are found, and stays as it is.";
static const char hint_code[] = "Write the commands out: an expansion cannot be looked at.";

/* They steer the loader, the shell, or which programs run. IFS does not: it splits what expansions give, and
 * those name no program. */
static const char steering[] =
    " PATH ENV BASH_ENV SHELLOPTS BASHOPTS GCONV_PATH LOCPATH GLIBC_TUNABLES TAR_OPTIONS ";
static const char steering_prefix[] = "LD_";

/* More words before a command are no options of a program that runs others. */
#define NESTING_MAX 20

static void check_command (struct check *check, const struct script_word *words, size_t count);
static bool script_check_walk (struct check *check, const char *text, size_t length,
                               struct script_problem *ret_problem);

/* ---- violations ---- */

static void
script_check_add (struct check *check, const char *rule, const char *raw, size_t length,
                  struct script_place place, const char *hint)
{
  if (check->count == CHECK_VIOLATIONS_MAX)
    return;
  struct check_violation *violation = &check->violations[check->count++];
  *violation = (struct check_violation){.rule = rule, .place = place, .hint = hint};
  if (length >= CHECK_TEXT_BYTES)
    length = CHECK_TEXT_BYTES - 1;
  memcpy (violation->text, raw, length);
}

static void
script_check_refuse (struct check *check, const char *rule, const struct script_word *word, const char *hint)
{
  script_check_add (check, rule, word->raw, word->raw_length, word->place, hint);
}

/* ---- names ---- */

/* Whether LIST, words with a space before and after each, has the LENGTH bytes at NAME. */
static bool
script_check_has_word (const char *list, const char *name, size_t length)
{
  for (const char *at = list; at && (at = strchr (at, ' ')) && at[1] != '\0'; at++)
    if (strncmp (at + 1, name, length) == 0 && at[1 + length] == ' ')
      return true;
  return false;
}

static void
script_check_variable (struct check *check, const struct script_word *word, size_t length)
{
  if ((length > 0 && script_check_has_word (steering, word->text, length)) ||
      (length >= sizeof steering_prefix - 1 &&
       memcmp (word->text, steering_prefix, sizeof steering_prefix - 1) == 0))
    script_check_refuse (check, rule_variable, word, hint_variable);
}

/* NAME or NAME=VALUE, with a definite name. */
static void
check_variable_argument (struct check *check, const struct script_word *word)
{
  const char *end = memchr (word->text, '=', word->text_fixed);
  if (!word->literal && !end)
    script_check_refuse (check, rule_dynamic, word, "Write the name of the variable out.");
  else
    script_check_variable (check, word, end ? (size_t)(end - word->text) : word->length);
}

static void
script_check_variables (struct check *check, const struct script_word *words, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (words[i].length == 0 || words[i].text[0] != '-')
      check_variable_argument (check, &words[i]);
}

/* ---- programs that run others ---- */

static bool
is_option (const struct script_word *word)
{
  return word->length > 1 && word->text[0] == '-';
}

/* Whether the option WORD has its argument in the next one. */
static bool
takes_next (const struct program_row *row, const struct script_word *word)
{
  if (word->text[1] == '-')
    return row->long_options && script_check_has_word (row->long_options, word->text, word->length);
  /* Flags may stand together; the first that has an argument takes the rest, or the next word. */
  for (size_t i = 1; row->options && i < word->length; i++)
    if (strchr (row->options, word->text[i]))
      return i + 1 == word->length;
  return false;
}

/* Whether WORD, before the command that a program runs, is always one word. */
static bool
stays_one (struct check *check, const struct script_word *word)
{
  if (word->splits)
    script_check_refuse (check, rule_dynamic, word, hint_inner);
  return !word->splits;
}

/* Of env: -S, or any beginning of its long name. */
static bool
splits_string (const struct program_row *row, const struct script_word *word)
{
  size_t name = strcspn (word->text, "=");
  return row->assigns && (strncmp (word->text, "-S", 2) == 0 ||
                          (name > 2 && strncmp (word->text, "--split-string", name) == 0));
}

/* The words after a program that runs what they say. */
static void
check_inner (struct check *check, const struct program_row *row, const struct script_word *words,
             size_t count)
{
  int operands = row->operands;
  size_t i = 0;
  for (bool options = true; i < count; i++) {
    const struct script_word *word = &words[i];
    if (!stays_one (check, word))
      return;
    if (options && is_option (word)) {
      options = strcmp (word->text, "--") != 0;
      if (!word->literal || (options && splits_string (row, word))) {
        script_check_refuse (check, word->literal ? rule_refused : rule_dynamic, word, hint_code);
        return;
      }
      if (takes_next (row, word) && ++i < count && !stays_one (check, &words[i]))
        return;
    } else if (row->assigns && memchr (word->text, '=', word->text_fixed)) {
      check_variable_argument (check, word);
    } else if (operands > 0) {
      operands--;
    } else {
      break;
    }
  }
  if (i < count)
    check_command (check, words + i, count - i);
}

static void
check_find (struct check *check, const struct script_word *words, size_t count)
{
  static const char runs[] = " -exec -execdir -ok -okdir ";
  for (size_t i = 0; i < count; i++) {
    if (words[i].literal && strcmp (words[i].text, "-delete") == 0)
      script_check_refuse (check, rule_refused, &words[i],
                           "Nothing can be deleted here; -print shows what is found.");
    if (!words[i].literal || i + 1 == count || !script_check_has_word (runs, words[i].text, words[i].length))
      continue;
    size_t first = ++i;
    while (i < count && strcmp (words[i].text, ";") != 0 && strcmp (words[i].text, "+") != 0)
      i++;
    if (i > first)
      check_command (check, &words[first], i - first);
  }
}

/* The program that is to reach a host, unless the host cannot be told or is a file. */
static void
note_host (struct check *check, const struct script_word *words, size_t count)
{
  for (size_t i = 1; i < count && check->host[0] == '\0'; i++) {
    const struct script_word *word = &words[i];
    if (word->raw[0] == '-' || !memchr (word->text, '.', word->length) ||
        strncmp (word->text, "file:", 5) == 0)
      continue;
    size_t length = word->length, name = words[0].length;
    if (name + 1 + length >= CHECK_TEXT_BYTES)
      length = CHECK_TEXT_BYTES - 2 - name;
    memcpy (check->host, words[0].text, name);
    check->host[name] = ' ';
    memcpy (check->host + name + 1, word->text, length);
  }
}

static void
script_check_code (struct check *check, const struct script_word *words, size_t count)
{
  struct script_problem problem;
  if (count == 0)
    return;
  if (!words[0].literal)
    script_check_refuse (check, rule_dynamic, &words[0], hint_code);
  else if (strcmp (words[0].text, "-") != 0 &&
           !script_check_walk (check, words[0].text, words[0].length, &problem))
    script_check_refuse (check, rule_syntax, &words[0], problem.text);
}

/* ---- commands ---- */

static void
script_check_arguments (struct check *check, const struct program_row *row, const struct script_word *words,
                        size_t count)
{
  switch (row->arguments) {
  case ARGUMENTS_ANY:
    break;
  case ARGUMENTS_COMMAND:
    check_inner (check, row, words + 1, count - 1);
    break;
  case ARGUMENTS_FIND:
    check_find (check, words + 1, count - 1);
    break;
  case ARGUMENTS_VARIABLES:
    script_check_variables (check, words + 1, count - 1);
    break;
  case ARGUMENTS_CODE:
    script_check_code (check, words + 1, count - 1);
    break;
  case ARGUMENTS_HOSTS:
    note_host (check, words, count);
    break;
  }
}

/* The name of a program, without a directory where all of them are. */
static const char *
without_directory (const struct script_word *word)
{
  static const char *const directories[] = {"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"};
  for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
    if (strncmp (word->text, directories[i], strlen (directories[i])) == 0)
      return word->text + strlen (directories[i]);
  return word->text;
}

static void
check_program (struct check *check, const struct script_word *words, size_t count)
{
  const struct script_word *word = &words[0];
  if (!word->literal) {
    script_check_refuse (check, rule_dynamic, word, hint_dynamic);
    return;
  }
  const char *name = without_directory (word);
  size_t length = word->length - (size_t)(name - word->text);
  const struct program_row *row = programs_find (name, length);
  if (row && row->kind == PROGRAM_REFUSED)
    script_check_refuse (check, rule_refused, word, row->hint);
  else if (row)
    script_check_arguments (check, row, words, count);
  else if (memchr (name, '/', length))
    script_check_refuse (check, rule_unknown, word, hint_path);
  else if (length == 0 || !script_check_has_word (check->functions, name, length))
    script_check_refuse (check, rule_unknown, word, hint_unknown);
}

static void
check_command (struct check *check, const struct script_word *words, size_t count)
{
  if (++check->depth > NESTING_MAX)
    script_check_refuse (check, rule_dynamic, &words[0], "There are too many programs here that run others.");
  else
    check_program (check, words, count);
  check->depth--;
}

/* ---- what the walk tells ---- */

static void
visit_command (void *data, const struct script_word *words, size_t count)
{
  struct check *check = data;
  while (count > 0 && words[0].assigned > 0) {
    script_check_variable (check, &words[0], words[0].assigned);
    words++;
    count--;
  }
  if (count > 0)
    check_command (check, words, count);
}

static void
visit_variable (void *data, const struct script_word *name)
{
  script_check_variable (data, name, name->length);
}

static void
visit_function (void *data, const struct script_word *name)
{
  const struct program_row *row = programs_find (name->text, name->length);
  if (row)
    script_check_refuse (data, rule_refused, name,
                         "This is the name of a program: give the function another one.");
}

static bool
script_check_walk (struct check *check, const char *text, size_t length, struct script_problem *ret_problem)
{
  const struct script_visitor visitor = {check, visit_command, visit_function, visit_variable};
  return script_walk (text, length, &visitor, ret_problem);
}

/* ---- functions ---- */

static void
ignore_command (void *data, const struct script_word *words, size_t count)
{
  (void)data;
  (void)words;
  (void)count;
}

static void
ignore_variable (void *data, const struct script_word *name)
{
  (void)data;
  (void)name;
}

static void
collect_function (void *data, const struct script_word *name)
{
  struct check *check = data;
  char *names = realloc ((char *)(size_t)check->functions, check->functions_length + name->length + 3);
  if (!names)
    return;
  size_t at = check->functions_length;
  names[at] = ' ';
  memcpy (names + at + 1, name->text, name->length);
  memcpy (names + at + 1 + name->length, " ", 2);
  check->functions = names;
  /* The space after it is the one before the next. */
  check->functions_length = at + 1 + name->length;
}

/* ---- the whole ---- */

/* The rest of the line in which PLACE is. */
static void
script_check_add_problem (struct check *check, const char *text, size_t length,
                          const struct script_problem *problem)
{
  const char *end = text + length;
  for (uint32_t line = 1; line < problem->place.line && text < end; line++) {
    const char *newline = memchr (text, '\n', (size_t)(end - text));
    text = newline ? newline + 1 : end;
  }
  size_t column = problem->place.column - 1;
  text = column < (size_t)(end - text) ? text + column : end;
  const char *newline = memchr (text, '\n', (size_t)(end - text));
  script_check_add (check, rule_syntax, text, (size_t)((newline ? newline : end) - text), problem->place,
                    problem->text);
}

bool
check_script (struct check *check, const char *text, size_t length)
{
  struct script_problem problem;
  const struct script_visitor collecting = {check, ignore_command, collect_function, ignore_variable};
  *check = (struct check){.count = 0};
  /* Functions first, since they may be called above where they are defined. */
  (void)script_walk (text, length, &collecting, &problem);
  if (!script_check_walk (check, text, length, &problem))
    script_check_add_problem (check, text, length, &problem);
  free ((char *)(size_t)check->functions);
  check->functions = NULL;
  return check->count == 0;
}
