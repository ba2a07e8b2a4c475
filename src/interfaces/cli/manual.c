/* SPDX-License-Identifier: Apache-2.0 */
/* `adder manual`: a description of all commands from the program's tables. scripts/testing/manual.py compares
 * docs/adder.1 with the synopsis and the options; tests read the other parts. */
#include <stdio.h>
#include <string.h>

#include "interfaces/cli/cli.h"
#include "interfaces/cli/old_names.h"

#define DEPTH_MAX 3 /* words of a command */

/* One command of the program. */
struct command_facts {
  const struct cli_command *sub; /* its own commands; NULL: it has none */
  GArray *options;               /* of GOptionEntry, of which names and flags are good */
};

static void
facts_take_commands (gpointer data, const struct cli_command *table)
{
  struct command_facts *facts = data;
  facts->sub = table;
}

static void
facts_take_options (gpointer data, const GOptionEntry *entries)
{
  const struct command_facts *facts = data;
  for (; entries->long_name; entries++) {
    GOptionEntry entry = *entries;
    entry.long_name = g_intern_string (entry.long_name); /* the command's may not outlive it */
    if (!(entry.flags & G_OPTION_FLAG_HIDDEN) && strcmp (entry.long_name, "help") != 0 &&
        strcmp (entry.long_name, "url") != 0)
      g_array_append_val (facts->options, entry);
  }
}

/* Prints part of ROW, which is typed as NAME, DEPTH words. */
typedef void (*command_printer) (const struct cli_command *table, const struct cli_command *row,
                                 const struct command_facts *facts, const char *name, int depth);

/* Walks the commands of SUB, which are typed after COUNT of WORDS. */
static void
manual_walk (const struct cli_command *table, const struct cli_command *sub, char **words, int count,
             command_printer print)
{
  for (const struct cli_command *row = sub; row && row->name && count <= DEPTH_MAX; row++) {
    struct command_facts facts = {.options = g_array_new (TRUE, TRUE, sizeof (GOptionEntry))};
    const struct cli_observer observer = {
        .commands = facts_take_commands, .options = facts_take_options, .data = &facts};
    words[count] = (char *)(guintptr)row->name;
    words[count + 1] = NULL;
    cli_observe (&observer, table, count + 1, words);
    g_autofree char *name = g_strjoinv (" ", words + 1);
    print (table, row, &facts, name, count);
    manual_walk (table, facts.sub, words, count + 1, print);
    g_array_unref (facts.options);
  }
}

/* ---- options, for the manual and for a test of letters ---- */

static void
manual_print_options (G_GNUC_UNUSED const struct cli_command *table,
                      G_GNUC_UNUSED const struct cli_command *row, const struct command_facts *facts,
                      const char *name, G_GNUC_UNUSED int depth)
{
  for (guint i = 0; i < facts->options->len; i++) {
    const GOptionEntry *entry = &g_array_index (facts->options, GOptionEntry, i);
    printf ("%.*s --%s\n", (int)strcspn (name, " "), name, entry->long_name);
  }
}

static void
manual_print_letters (G_GNUC_UNUSED const struct cli_command *table,
                      G_GNUC_UNUSED const struct cli_command *row, const struct command_facts *facts,
                      const char *name, G_GNUC_UNUSED int depth)
{
  for (guint i = 0; i < facts->options->len; i++) {
    const GOptionEntry *entry = &g_array_index (facts->options, GOptionEntry, i);
    if (entry->short_name)
      printf ("%s\t%c\t%s\n", name, entry->short_name, entry->long_name);
  }
}

/* ---- the synopsis ---- */

static void
manual_print_commands (const struct cli_command *table)
{
  printf (".Cm");
  for (const struct cli_command *row = table; row->name; row++)
    printf ("%s %s", row == table ? "" : " |", row->name);
  printf ("\n.Op Ar ...\n");
}

static void
print_arguments (const char *arguments)
{
  g_auto (GStrv) parts = g_strsplit (arguments, "\"", -1);
  g_autofree char *quoted = g_strjoinv ("\\(dq", parts);
  printf (".Op Ar OPTION ...\n");
  if (*arguments)
    printf (".Ar \"%s\"\n", quoted);
}

/* A line or two for each command of the program. */
static void
manual_print_synopsis (G_GNUC_UNUSED const struct cli_command *table, const struct cli_command *row,
                       const struct command_facts *facts, const char *name, int depth)
{
  if (depth > 1)
    return;
  printf (".Nm\n.Cm %s\n", name);
  if (facts->sub && strcmp (row->arguments, "COMMAND") == 0)
    manual_print_commands (facts->sub);
  else
    print_arguments (row->arguments);
}

/* ---- examples ---- */

static void
example_take_verdict (gpointer data, const GError *error)
{
  char **verdict = data;
  g_free (*verdict);
  *verdict = g_strdup (error ? error->message : "");
}

static void
example_pass_commands (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED const struct cli_command *table)
{
}

static void
example_pass_options (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED const GOptionEntry *entries)
{
}

/* What is wrong with LINE, a shell line with "adder ..."; "" if its options and arguments are valid. The
 * caller's. */
static char *
example_check (const struct cli_command *table, const char *line)
{
  char *verdict = NULL;
  const struct cli_observer observer = {example_pass_commands, example_pass_options, example_take_verdict,
                                        &verdict};
  g_auto (GStrv) words = NULL;
  if (!g_shell_parse_argv (line, NULL, &words, NULL))
    return g_strdup ("it is no line of a shell");
  int first = 0, end;
  while (words[first] && strcmp (words[first], "adder") != 0)
    first++;
  for (end = first; words[end] && strcmp (words[end], ">") != 0; end++)
    ;
  if (!words[first])
    return g_strdup ("it has no word \"adder\"");
  /* Parsing removes options from the line; they stay in our copy. */
  g_autofree char **parsed = g_memdup2 (words + first, (gsize)(end - first + 1) * sizeof *words);
  parsed[end - first] = NULL;
  cli_observe (&observer, table, end - first, parsed);
  return verdict ? verdict : g_strdup ("it is no command");
}

/* One of a command's examples on a line, with the command before it and the verdict behind it. */
static void
manual_print_examples (const struct cli_command *table, const struct cli_command *row,
                       G_GNUC_UNUSED const struct command_facts *facts, const char *name,
                       G_GNUC_UNUSED int depth)
{
  g_auto (GStrv) lines = g_strsplit (row->examples ? row->examples : "", "\n", -1);
  if (!lines[0])
    printf ("%s\t\tit has no example\n", name);
  for (char **line = lines; *line; line++) {
    g_autofree char *verdict = example_check (table, *line);
    printf ("%s\t%s\t%s\n", name, *line, verdict);
  }
}

/* ---- the command ---- */

static const struct manual_part {
  const char *name;
  command_printer print;
} manual_parts[] = {
    {"synopsis", manual_print_synopsis},
    {"options", manual_print_options},
    {"letters", manual_print_letters},
    {"examples", manual_print_examples},
};

int
cli_manual (const struct cli_command *table, int argc, char **argv)
{
  char *words[DEPTH_MAX + 2] = {(char *)"adder"};
  const char *part = argc == 2 ? argv[1] : "";
  for (gsize i = 0; i < G_N_ELEMENTS (manual_parts); i++)
    if (strcmp (manual_parts[i].name, part) == 0) {
      manual_walk (table, table, words, 1, manual_parts[i].print);
      return 0;
    }
  if (strcmp (part, "old-names") == 0) {
    old_names_print ();
    return 0;
  }
  fprintf (stderr,
           "adder: adder manual prints one part: synopsis, options, letters, examples or old-names\n");
  return CLI_FAILED;
}
