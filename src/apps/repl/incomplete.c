/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/repl/incomplete.h"

#include <string.h>

struct scan {
  const char *at;
  guint depth;     /* of brackets that are open */
  gboolean string; /* a string of three quotes is open */
  gboolean block;  /* a line wants indented ones */
  char last;       /* of the code in the line so far, without blanks and comments; '\0': nothing yet */
};

/* Walks over the string that begins at SCAN. One of a single quote ends with its line. */
static void
skip_string (struct scan *scan)
{
  char quote = *scan->at;
  gboolean tripled = scan->at[1] == quote && scan->at[2] == quote;
  scan->last = quote;
  for (scan->at += tripled ? 3 : 1; *scan->at != '\0'; scan->at++) {
    if (!tripled && *scan->at == '\n')
      return;
    if (*scan->at == quote && (!tripled || (scan->at[1] == quote && scan->at[2] == quote))) {
      scan->at += tripled ? 3 : 1;
      return;
    }
    if (*scan->at == '\\' && scan->at[1] != '\0')
      scan->at++;
  }
  scan->string = tripled;
}

static void
take_character (struct scan *scan)
{
  char c = *scan->at++;
  if (strchr ("([{", c))
    scan->depth++;
  else if (strchr (")]}", c) && scan->depth > 0)
    scan->depth--;
  scan->last = c;
}

/* Walks to the end of the line. */
static void
scan_line (struct scan *scan)
{
  scan->last = '\0';
  scan->block = scan->block || (scan->depth == 0 && *scan->at == '@');
  while (*scan->at != '\0' && *scan->at != '\n') {
    if (*scan->at == '"' || *scan->at == '\'')
      skip_string (scan);
    else if (*scan->at == '#')
      scan->at += strcspn (scan->at, "\n");
    else if (*scan->at == ' ' || *scan->at == '\t')
      scan->at++;
    else
      take_character (scan);
  }
  scan->block = scan->block || (scan->depth == 0 && scan->last == ':');
}

/* Whether the last of several lines is blank. */
static gboolean
ends_blank (const char *code)
{
  const char *line = strrchr (code, '\n');
  return line && line[1 + strspn (line + 1, " \t")] == '\0';
}

gboolean
incomplete_code (const char *code)
{
  if (g_str_has_prefix (code, "%%")) /* all of a cell is a magic's */
    return !ends_blank (code);
  struct scan scan = {.at = code};
  for (scan_line (&scan); *scan.at == '\n'; scan_line (&scan))
    scan.at++;
  if (scan.string || scan.depth > 0 || g_str_has_suffix (code, "\\"))
    return TRUE;
  return scan.block && !ends_blank (code);
}
