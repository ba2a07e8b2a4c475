/* SPDX-License-Identifier: Apache-2.0 */
/* `adder complete`: what a shell offers while a command line is typed. The commands and options are the
 * program's own; two tables here list the possible values of options and arguments. A line is a word, or with
 * a colon before it a kind that the shell itself completes: ":files", ":directories". */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/mcp/mcp_clients.h"
#include "interfaces/remote/remote.h"
#include "policy/profile.h"
#include "sandbox/isolation.h"
#include "tools/table.h"

#define PATIENCE_S 3 /* nobody waits longer for a tab; later answers of a daemon are dropped */

/* ---- possible values ---- */

static void
complete_print_limits (void)
{
  for (int i = 0; i < LIMIT_COUNT; i++)
    printf ("%s=\n", limit_table[i].name);
}

static void
print_isolation (void)
{
  for (const char *const *name = isolation_names; *name; name++)
    printf ("%s\n", *name);
}

static void
print_outcomes (void)
{
  for (int i = 0; i <= ADDER_OUTCOME_FAILED; i++)
    printf ("%s\n", adder_outcome_name ((AdderOutcome)i));
}

static void
print_roles (void)
{
  for (int role = ROLE_GUEST; role <= ROLE_ADMIN; role++)
    printf ("%s\n", role_name ((enum role)role));
}

static void
complete_print_tools (void)
{
  for (gsize i = 0; toolsets[i]; i++)
    for (gsize k = 0; k < toolsets[i]->count; k++)
      printf ("%s.%s\n", toolsets[i]->name, toolsets[i]->tools[k].name);
}

static void
print_toolsets (void)
{
  for (gsize i = 0; toolsets[i]; i++)
    printf ("%s\n", toolsets[i]->name);
}

static void
print_clients (void)
{
  for (const struct mcp_client *client = mcp_clients; client->name; client++)
    printf ("%s\n", client->name);
}

#define FILES       ":files"
#define DIRECTORIES ":directories"
#define NOTHING     ""

/* A value: one of WORDS, or of what PRINT prints, or of what the command LISTED prints. */
struct value {
  const char *command; /* "session" is "session rm" too; NULL: any */
  const char *option;  /* its long name; NULL: an argument */
  const char *words;
  void (*print) (void);
  const char *listed;
};

/* The first matching row counts; an option without a row can be anything. */
static const struct value option_values[] = {
    {"agent", "out", DIRECTORIES},
    {"agent", "record", FILES},
    {"agent", "tool", FILES},
    {"ask", "code", FILES},
    {"ask", "out", DIRECTORIES},
    {"ask", "record", FILES},
    {"chat", "out", DIRECTORIES},
    {"chat", "record", FILES},
    {"chat", "tool", FILES},
    {"file", "limit", NOTHING},
    {"file", "session", NOTHING},
    {"data", "limit", NOTHING},
    {"history export", "format", "jsonl csv"},
    {"history", "limit", NOTHING},
    {"history", "session", NOTHING},
    {"model new", "model", NOTHING},
    {"run", "out", DIRECTORIES},
    {"search", "limit", NOTHING},
    {"serve logs", "limit", NOTHING},
    {"tool", "format", "list mcp openai anthropic markdown operations"},
    {NULL, "again", DIRECTORIES},
    {NULL, "analysis", FILES},
    {NULL, "ca-file", FILES},
    {NULL, "client", NULL, print_clients},
    {NULL, "dialect", "chat responses messages"},
    {NULL, "env", NULL, NULL, "env list --names"},
    {NULL, "expect", FILES},
    {NULL, "file", FILES},
    {NULL, "format", "csv parquet json"},
    {NULL, "isolation", NULL, print_isolation},
    {NULL, "key-file", FILES},
    {NULL, "limit", NULL, complete_print_limits},
    {NULL, "model", NULL, NULL, "model list --names"},
    {NULL, "out", FILES},
    {NULL, "outcome", NULL, print_outcomes},
    {NULL, "output", FILES},
    {NULL, "profile", NULL, NULL, "profile list --names"},
    {NULL, "provider", "openai anthropic ollama llama.cpp vllm"},
    {NULL, "providers", NULL, NULL, "search providers --names --no-daemon"},
    {NULL, "python", FILES},
    {NULL, "requirements", FILES},
    {NULL, "role", NULL, print_roles},
    {NULL, "scope", "user project"},
    {NULL, "session", NULL, NULL, "session list --names"},
    {NULL, "socket", FILES},
    {NULL, "stdin", FILES},
    {NULL, "steps", "typed native"},
    {NULL, "stream", "stdout stderr"},
    {NULL, "tables", "csv parquet json none"},
    {NULL, "tests", "none given proposed"},
    {NULL, "toolset", NULL, print_toolsets},
    {NULL, "transcript", FILES},
    {NULL, "unix-socket", FILES},
    {NULL, "workdir", DIRECTORIES},
    {NULL},
};

static const struct value argument_values[] = {
    {"ask", NULL, FILES},
    {"data import", NULL, FILES},
    {"env image build", NULL, NOTHING},
    {"env image", NULL, NULL, NULL, "env image list --names"},
    {"env new", NULL, NOTHING},
    {"env", NULL, NULL, NULL, "env list --names"},
    {"file put", NULL, FILES},
    {"model new", NULL, NOTHING},
    {"model", NULL, NULL, NULL, "model list --names"},
    {"profile check", NULL, FILES},
    {"profile", NULL, NULL, NULL, "profile list --names"},
    {"run", NULL, FILES},
    {"session new", NULL, NOTHING},
    {"session", NULL, NULL, NULL, "session list --names"},
    {"token new", NULL, NOTHING},
    {"token", NULL, NULL, NULL, "token list --names"},
    {"tool", NULL, NULL, complete_print_tools},
    {NULL},
};

/* ---- a command's definition ---- */

/* The command line typed so far. */
struct line {
  const struct cli_command *table; /* the program's */
  char *command;                   /* "session new"; ours */
  const struct cli_command *sub;   /* possible commands next; NULL: there are none */
  gboolean is_full;                /* the command takes no argument */
  GArray *options;                 /* of GOptionEntry, whose names, kinds and flags are valid */
};

static void
line_take_commands (gpointer data, const struct cli_command *table)
{
  struct line *line = data;
  line->sub = table;
}

static void
line_take_options (gpointer data, const GOptionEntry *entries)
{
  struct line *line = data;
  for (; entries->long_name; entries++) {
    GOptionEntry entry = *entries;
    entry.long_name = g_intern_string (entry.long_name); /* the command's may not outlive it */
    g_array_append_val (line->options, entry);
  }
}

/* Asks the command at the beginning of COUNT WORDS for its definition. A word after a command is a
 * subcommand, or an argument of a command that has options as well. */
static void
line_observe (struct line *line, int count, char *const *words)
{
  const struct cli_observer observer = {
      .commands = line_take_commands, .options = line_take_options, .data = line};
  g_autofree char **argv = g_new0 (char *, (gsize)count + 2);
  argv[0] = (char *)"adder";
  for (int depth = 1; depth <= count; depth++) {
    const struct cli_command *row = line->sub;
    argv[depth] = words[depth - 1];
    while (row && row->name && strcmp (row->name, argv[depth]) != 0)
      row++;
    if (row) {
      line->sub = NULL;
      line->is_full = !row->name || row->arguments[0] == '\0';
    }
    if (depth > 1 && (!row || !row->name))
      return;
    g_array_set_size (line->options, 0);
    cli_observe (&observer, line->table, depth + 1, argv);
    g_autofree char *before = line->command;
    line->command = g_strjoin (before ? " " : "", before ? before : "", argv[depth], NULL);
  }
}

/* WORD as an option: "-e", "--env" or the beginning of "--env=x". NULL: it is none. */
static const GOptionEntry *
line_find_option (const struct line *line, const char *word)
{
  gsize length = strcspn (word, "=");
  for (guint i = 0; i < line->options->len; i++) {
    const GOptionEntry *entry = &g_array_index (line->options, GOptionEntry, i);
    gboolean is_long = g_str_has_prefix (word, "--") && strlen (entry->long_name) + 2 == length &&
                       strncmp (word + 2, entry->long_name, length - 2) == 0;
    if (is_long || (entry->short_name && length == 2 && word[0] == '-' && word[1] == entry->short_name))
      return entry;
  }
  return NULL;
}

static gboolean
takes_value (const GOptionEntry *entry)
{
  return entry && entry->arg != G_OPTION_ARG_NONE && !(entry->flags & G_OPTION_FLAG_OPTIONAL_ARG);
}

/* ---- what is offered ---- */

/* Like "session rm", or "session" alone. */
static gboolean
is_command (const char *row, const char *command)
{
  gsize length = strlen (row);
  return strncmp (row, command, length) == 0 && (command[length] == ' ' || command[length] == '\0');
}

static void
complete_print_words (const char *words)
{
  g_auto (GStrv) each = g_strsplit (words, " ", -1);
  for (gsize i = 0; each[i]; i++)
    if (*each[i])
      printf ("%s\n", each[i]);
}

static void
line_print_listed (const struct line *line, const char *command)
{
  g_autofree char *whole = g_strconcat ("adder ", command, NULL);
  g_auto (GStrv) argv = g_strsplit (whole, " ", -1);
  int argc = (int)g_strv_length (argv);
  /* Parsing removes options from the line; they stay in our copy. */
  g_autofree char **parsed = g_memdup2 (argv, ((gsize)argc + 1) * sizeof *argv);
  (void)cli_dispatch ("adder", "", line->table, argc, parsed);
}

/* The values of OPTION (NULL: of an argument), from ROWS. */
static void
line_print_values (const struct line *line, const struct value *rows, const char *option)
{
  for (; rows->words || rows->print || rows->listed; rows++) {
    if (g_strcmp0 (rows->option, option) != 0 ||
        (rows->command && !is_command (rows->command, line->command)))
      continue;
    if (rows->words)
      complete_print_words (rows->words);
    else if (rows->print)
      rows->print ();
    else
      line_print_listed (line, rows->listed);
    return;
  }
}

static void
line_print_options (const struct line *line)
{
  for (guint i = 0; i < line->options->len; i++)
    if (!(g_array_index (line->options, GOptionEntry, i).flags & G_OPTION_FLAG_HIDDEN))
      printf ("--%s\n", g_array_index (line->options, GOptionEntry, i).long_name);
}

static void
complete_print_commands (const struct cli_command *table)
{
  for (; table->name; table++)
    printf ("%s\n", table->name);
}

/* LAST is being typed, after PREVIOUS. */
static void
line_print (const struct line *line, const char *previous, const char *last)
{
  const GOptionEntry *behind = line_find_option (line, previous);
  const GOptionEntry *joined = strchr (last, '=') ? line_find_option (line, last) : NULL;
  if (takes_value (behind) && !strchr (previous, '='))
    line_print_values (line, option_values, behind->long_name);
  else if (takes_value (joined))
    line_print_values (line, option_values, joined->long_name);
  else if (*last == '-')
    line_print_options (line);
  else if (line->sub)
    complete_print_commands (line->sub);
  else if (!line->is_full)
    line_print_values (line, argument_values, NULL);
}

/* WORD without the surrounding quotes, which bash leaves there. The caller's. */
static char *
unquote (const char *word)
{
  gsize length = strlen (word);
  gboolean is_quoted = length >= 2 && (*word == '"' || *word == '\'') && word[length - 1] == *word;
  return is_quoted ? g_strndup (word + 1, length - 2) : g_strdup (word);
}

/* WORDS without --url, wherever it is, which is applied; *RET_CODE: they continue behind --, which is not
 * ours. The caller's, and so are the words. */
static GPtrArray *
complete_take_words (int count, char *const *words, gboolean *ret_code)
{
  GPtrArray *taken = g_ptr_array_new_with_free_func (g_free);
  for (int i = 0; i < count; i++) {
    g_autofree char *word = unquote (words[i]);
    gboolean is_last = i == count - 1;
    *ret_code = *ret_code || (!is_last && strcmp (word, "--") == 0);
    if (!is_last && g_str_has_prefix (word, "--url="))
      remote_set_url (word + strlen ("--url="));
    else if (i < count - 2 && strcmp (word, "--url") == 0) {
      g_autofree char *url = unquote (words[++i]);
      remote_set_url (url);
    } else
      g_ptr_array_add (taken, g_steal_pointer (&word));
  }
  return taken;
}

int
cli_complete (const struct cli_command *table, int count, char *const *words)
{
  gboolean is_code = FALSE;
  alarm (PATIENCE_S);
  g_autoptr (GPtrArray) taken = complete_take_words (count, words, &is_code);
  char *const *typed = (char *const *)taken->pdata;
  if (taken->len <= 1) {
    complete_print_commands (table);
    complete_print_words ("--help --version --url");
    return 0;
  }
  if (is_code) {
    complete_print_words (FILES);
    return 0;
  }
  guint last = taken->len - 1;
  int named = 1; /* words that may be commands */
  while (named < (int)last && *typed[named] && *typed[named] != '-')
    named++;
  struct line line = {.table = table, .options = g_array_new (FALSE, FALSE, sizeof (GOptionEntry))};
  line_observe (&line, named, typed);
  line_print (&line, typed[last - 1], typed[last]);
  g_free (line.command);
  g_array_unref (line.options);
  return 0;
}
