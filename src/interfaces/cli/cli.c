/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: dispatch, help, and what all commands share. */
#include "interfaces/cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/help.h"
#include "interfaces/cli/view/terminal_text.h"
#include "interfaces/remote/remote.h"

/* The current command, whose arguments and summary --help shows. */
static const struct cli_command *current;
static gboolean travels;                    /* the program's top-level command that it belongs to */
static const struct cli_observer *observer; /* NULL: commands are carried out */

/* Of the program itself. */
#define CLI_EXAMPLES                                                                                         \
  "adder run -c 'print(6 * 7)'\n"                                                                            \
  "adder session new --name lab\n"                                                                           \
  "adder run -s lab -c 'x = 1'\n"                                                                            \
  "adder history list --limit 5"

/* What commands of other programs are called here, after PREFIX. */
static const struct {
  const char *prefix, *typed, *meant;
} synonyms[] = {
    {"adder", "ps", "adder session list"},
    {"adder", "ls", "adder session list"},
    {"adder", "list", "adder session list"},
    {"adder", "logs", "adder serve logs"},
    {"adder", "log", "adder serve logs"},
    {"adder", "records", "adder history list"},
    {"adder", "reviews", "adder approval list"},
    {"adder", "output", "adder history output"},
    {"adder", "export", "adder history export"},
    {"adder", "cp", "adder file put"},
    {"adder", "info", "adder doctor"},
    {"adder", "init", "adder doctor"},
    {"adder", "setup", "adder doctor"},
    {"adder", "exec", "adder run --session"},
    {"adder", "rm", "adder session rm"},
    {"adder", "kill", "adder session rm"},
    {"adder", "start", "adder serve start"},
    {"adder", "up", "adder serve start"},
    {"adder", "daemon", "adder serve start"},
    {"adder", "down", "adder serve stop"},
    {"adder", "restart", "adder serve reload"},
    {"adder", "python", "adder run"},
    {"adder", "check", "adder run --check"},
    {"adder", "lint", "adder run --check"},
    {"adder", "shell", "adder repl"},
    {"adder", "sh", "adder repl"},
    {"adder", "bash", "adder repl"},
    {"adder", "-c", "adder run -c"},
    {"adder", "-", "adder run -"},
    {"adder", "version", "adder --version"},
    {"adder", "-v", "adder --version"},
    {"adder", "-V", "adder --version"},
    {"adder", "pip", "adder run --with"},
    {"adder", "install", "adder run --with"},
    {"adder", "image", "adder env image list"},
    {"adder", "images", "adder env image list"},
    {"adder", "build", "adder env image build"},
    {"adder session", "create", "adder session new"},
    {"adder session", "add", "adder session new"},
    {"adder session", "start", "adder session new"},
    {"adder session", "make", "adder session new"},
    {"adder session", "remove", "adder session rm"},
    {"adder session", "delete", "adder session rm"},
    {"adder session", "kill", "adder session rm"},
    {"adder session", "ls", "adder session list"},
    {"adder history", "ls", "adder history list"},
    {"adder history", "log", "adder history list"},
    {"adder file", "ls", "adder file list"},
    {"adder file", "add", "adder file put"},
    {"adder file", "remove", "adder file rm"},
    {"adder file", "delete", "adder file rm"},
    {"adder approval", "ls", "adder approval list"},
    {"adder approval", "yes", "adder approval approve"},
    {"adder approval", "no", "adder approval deny"},
    {"adder approval", "reject", "adder approval deny"},
    {"adder tool", "ls", "adder tool list"},
    {"adder tool", "run", "adder tool call"},
    {"adder env", "ls", "adder env list"},
    {"adder env", "add", "adder env new"},
    {"adder env", "make", "adder env new"},
    {"adder env", "delete", "adder env rm"},
    {"adder token", "ls", "adder token list"},
    {"adder token", "add", "adder token new"},
    {"adder token", "remove", "adder token rm"},
    {"adder token", "delete", "adder token rm"},
    {"adder model", "ls", "adder model list"},
    {"adder model", "create", "adder model new"},
    {"adder model", "delete", "adder model rm"},
    {"adder profile", "ls", "adder profile list"},
    {"adder data", "delete", "adder data rm"},
};

/* The command that NAME after PREFIX resembles, the caller's; or NULL. */
static char *
nearest_command (const char *prefix, const struct cli_command *table, const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (synonyms); i++)
    if (strcmp (synonyms[i].prefix, prefix) == 0 && strcmp (synonyms[i].typed, name) == 0)
      return g_strdup (synonyms[i].meant);
  /* Code, as of python3 -c. */
  if (strcmp (prefix, "adder") == 0 && strpbrk (name, "(= \n"))
    return g_strdup ("adder run -c");
  struct text_guess guess = TEXT_GUESS_NONE;
  for (; table->name; table++)
    text_consider (&guess, name, table->name);
  return guess.best ? g_strdup_printf ("%s %s", prefix, guess.best) : NULL;
}

/* What options of other programs, and letters of the previous version, mean in COMMAND. */
static const struct {
  const char *command, *typed, *advice;
} foreign_options[] = {
    {"adder run", "-v", "a directory is lent by --workdir DIR, and a file copied in by --file [NAME=]PATH"},
    {"adder run", "--volume",
     "a directory is lent by --workdir DIR, and a file copied in by --file [NAME=]PATH"},
    {"adder run", "--mount",
     "a directory is lent by --workdir DIR, and a file copied in by --file [NAME=]PATH"},
    {"adder run", "--net", "a profile allows the network: --profile NAME"},
    {"adder run", "--network", "a profile allows the network: --profile NAME"},
    {"adder run", "--rm", "nothing of a run stays"},
    {"adder run", "--cpus", "processor time is bounded by --limit cpu_ms=TIME"},
    {"adder run", "--name", "only sessions have names: adder session new --name NAME"},
    {"adder run", "-m", "the memory limit is --memory SIZE; a module runs with -c 'import runpy; ...'"},
    {"adder run", "-i", "a prompt is adder repl"},
    {"adder run", "-it", "a prompt is adder repl"},
    {"adder run", "-d", "what stays between runs is a session: adder session new"},
    {"adder run", "--detach", "what stays between runs is a session: adder session new"},
    {"adder run", "-r", "packages are added with --with PACKAGE"},
    {"adder run", "--install", "packages are added with --with PACKAGE"},
    {"adder serve", "-p", "the address is --http=ADDRESS, as in --http=127.0.0.1:8000"},
    {"adder serve", "--port", "the address is --http=ADDRESS, as in --http=127.0.0.1:8000"},
    {"adder serve", "--host", "the address is --http=ADDRESS, as in --http=127.0.0.1:8000"},
    {"adder session new", "-m", "the memory limit is --memory SIZE"},
    {"adder session new", "-n", "the name is --name NAME"},
    {"adder env image build", "-n", "the name is --name NAME"},
    {"adder history table", "-t", "the number of the table is --table N"},
    {"adder search", "-e", "elements are given by --elements LIST"},
    {"adder search", "-f", "a formula is given by --formula FORMULA"},
    {"adder search", "-p", "databases are named by --providers LIST"},
    {"adder data collect", "-e", "elements are given by --elements LIST"},
    {"adder data collect", "-f", "a formula is given by --formula FORMULA"},
    {"adder data collect", "-p", "databases are named by --providers LIST"},
    {"adder data list", "-a", "versions are listed by --versions"},
    {"adder tool call", "-c", "a conversation is named by --conversation ID"},
    {"adder mcp", "-c", "a conversation is named by --conversation ID"},
    {"adder agent", "-c", "a conversation is named by --conversation ID"},
    {"adder chat", "-c", "a conversation is named by --conversation ID"},
    {"adder file get", "-f", "what is there is replaced with --force"},
    {"adder data export", "-f", "what is there is replaced with --force"},
};

/* The replacement for the option that MESSAGE of GLib's ends with; or NULL. */
static const char *
foreign_option (const char *message)
{
  const char *typed = strrchr (message, ' ');
  if (!typed)
    return NULL;
  g_autofree char *name = g_strndup (typed + 1, strcspn (typed + 1, "="));
  for (gsize i = 0; i < G_N_ELEMENTS (foreign_options); i++)
    if (strcmp (foreign_options[i].command, g_get_prgname ()) == 0 &&
        strcmp (foreign_options[i].typed, name) == 0)
      return foreign_options[i].advice;
  return NULL;
}

/* OPTION is what GLib did not find: "--jsn". */
static const char *
nearest_option (const GOptionEntry *entries, const char *option)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  option += strspn (option, "-");
  g_autofree char *name = g_strndup (option, strcspn (option, "="));
  for (; entries->long_name; entries++)
    if (!cli_is_heading (entries))
      text_consider (&guess, name, entries->long_name);
  return guess.best;
}

static gboolean
check_machine (void)
{
  if (travels || !remote_is_set ())
    return TRUE;
  fprintf (stderr,
           "adder: %s works with the daemon of this machine alone: leave out --url, and unset ADDER_URL\n",
           g_get_prgname ());
  return FALSE;
}

gboolean
cli_stays_here (void)
{
  travels = FALSE;
  return observer || check_machine ();
}

/* What COMMAND, the first of ARGV after PREFIX, does. */
static int
cli_carry_out (const char *prefix, const struct cli_command *command, int argc, char **argv)
{
  g_autofree char *typed = g_strdup_printf ("%s %s", prefix, command->name);
  g_set_prgname (typed);
  current = command;
  travels = strchr (prefix, ' ') ? travels && !command->stays : command->travels;
  if (!observer && !check_machine ())
    return CLI_FAILED;
  return command->function ? command->function (argc, argv) : operation_command (command->asks, argc, argv);
}

static int
cli_fail_unknown (const char *prefix, const struct cli_command *table, const char *name)
{
  g_autofree char *shown = g_utf8_make_valid (name, (gssize)MIN (strlen (name), 64));
  g_autofree char *meant = nearest_command (prefix, table, name);
  if (meant)
    fprintf (stderr, "adder: there is no command \"%s %s\"; did you mean \"%s\"?\n", prefix, shown, meant);
  else
    fprintf (stderr, "adder: there is no command \"%s %s\"; %s --help lists them\n", prefix, shown, prefix);
  return CLI_FAILED;
}

static gboolean
is_any_of (const char *word, const char *const *words)
{
  return word && g_strv_contains (words, word);
}

/* `help WORD...` is `WORD... --help`. */
static int
cli_help_of (const char *prefix, const char *summary, const struct cli_command *table, int argc, char **argv)
{
  static char option[] = "--help";
  g_autofree char **all = g_new0 (char *, (gsize)argc + 1);
  all[0] = argv[0];
  memcpy (all + 1, argv + 2, (gsize)(argc - 2) * sizeof *all);
  all[argc - 1] = option;
  return cli_dispatch (prefix, summary, table, argc, all);
}

int
cli_dispatch (const char *prefix, const char *summary, const struct cli_command *table, int argc, char **argv)
{
  static const char *const help_words[] = {"--help", "-h", "help", NULL}, *const all_words[] = {"--all", "-a",
                                                                                                NULL};
  const char *name = argc > 1 ? argv[1] : NULL;
  const char *examples = current ? current->examples : CLI_EXAMPLES;
  if (!name && observer) {
    observer->commands (observer->data, table);
    return 0;
  }
  if (!name) {
    help_commands (stderr, prefix, summary, table, examples, FALSE);
    return CLI_FAILED;
  }
  gboolean all = argc > 2 && is_any_of (argv[2], all_words);
  if (!observer && strcmp (name, "help") == 0 && argc > 2 && !all)
    return cli_help_of (prefix, summary, table, argc, argv);
  if (!observer && is_any_of (name, help_words)) {
    help_commands (stdout, prefix, summary, table, examples, all);
    return 0;
  }
  for (const struct cli_command *command = table; command->name; command++)
    if (strcmp (command->name, name) == 0)
      return cli_carry_out (prefix, command, argc - 1, argv + 1);
  return observer ? CLI_FAILED : cli_fail_unknown (prefix, table, name);
}

gboolean
cli_dispatch_optional (const char *prefix, const char *summary, const struct cli_command *table, int argc,
                       char **argv, int *ret_code)
{
  gboolean found = FALSE;
  for (const struct cli_command *command = table; argc > 1 && command->name; command++)
    found = found || strcmp (command->name, argv[1]) == 0;
  if (found)
    *ret_code = cli_dispatch (prefix, summary, table, argc, argv);
  else if (observer)
    observer->commands (observer->data, table);
  return found;
}

void
cli_observe (const struct cli_observer *told, const struct cli_command *table, int argc, char **argv)
{
  observer = told;
  (void)cli_dispatch ("adder", "", table, argc, argv);
  observer = NULL;
  current = NULL;
}

/* ---- the end ---- */

static gboolean
cli_reader_is_gone (void)
{
  struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll (&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP));
}

int
cli_end (int code)
{
  gboolean lost = ferror (stdout);
  int err = fflush (stdout) == 0 ? 0 : errno;
  if (code != 0 || (!lost && err == 0) || cli_reader_is_gone ())
    return code;
  fprintf (stderr, "adder: cannot write to standard output%s%s\n", err != 0 ? ": " : "",
           err != 0 ? g_strerror (err) : "");
  return CLI_FAILED;
}

/* ---- options ---- */

gboolean
cli_is_heading (const GOptionEntry *entry)
{
  return strcmp (entry->long_name, CLI_HEADING_NAME) == 0;
}

/* ENTRIES without headings; the caller's. */
static GOptionEntry *
cli_take_options (const GOptionEntry *entries)
{
  GArray *taken = g_array_new (TRUE, TRUE, sizeof *entries);
  for (; entries->long_name; entries++)
    if (!cli_is_heading (entries))
      g_array_append_vals (taken, entries, 1);
  return (GOptionEntry *)(void *)g_array_free (taken, FALSE);
}

/* PROBLEM of GLib's in our words, with a suggestion. */
static void
cli_set_option_error (const GOptionEntry *entries, const GError *problem, GError **error)
{
  gboolean unknown = g_error_matches (problem, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION);
  const char *option = unknown ? strstr (problem->message, "--") : NULL;
  const char *advice = unknown ? foreign_option (problem->message) : NULL;
  const char *meant = option && !advice ? nearest_option (entries, option) : NULL;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%c%s%s%s%s%s%s",
               g_ascii_tolower (problem->message[0]), problem->message + 1, advice ? ": " : "",
               advice ? advice : "", meant ? "; did you mean --" : "", meant ? meant : "", meant ? "?" : "");
}

/* Whether LEAST to MOST of ARGV are left. */
static gboolean
cli_check_arguments (int least, int most, int argc, char **argv, GError **error)
{
  int given = argc - 1;
  if (given < least) {
    const char *examples = current->examples ? current->examples : "";
    int first = (int)strcspn (examples, "\n");
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is missing: %s %s%s%.*s",
                 g_get_prgname (), current->arguments, first > 0 ? ", as in: " : "", first, examples);
  } else if (given > most) {
    g_autofree char *shown = g_utf8_make_valid (argv[most + 1], -1);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is one argument too many", shown);
  }
  return given >= least && given <= most;
}

/* Tells the observer instead; FALSE. */
static gboolean
cli_tell_observer (const GOptionEntry *options, const GOptionEntry *common, GOptionContext *context,
                   int least, int most, int *argc, char ***argv, GError **error)
{
  observer->options (observer->data, options);
  observer->options (observer->data, common);
  g_autoptr (GError) problem = NULL;
  if (observer->parsed) {
    if (g_option_context_parse (context, argc, argv, &problem))
      (void)cli_check_arguments (least, most, *argc, *argv, &problem);
    observer->parsed (observer->data, problem);
  }
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "help was requested");
  return FALSE;
}

gboolean
cli_parse (const GOptionEntry *entries, int least, int most, int *argc, char ***argv, GError **error)
{
  gboolean help = FALSE;
  g_autofree char *url = NULL;
  const GOptionEntry common[] = {
      {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this", NULL},
      /* Last, so that it can be left out. */
      {travels ? "url" : NULL, 0, 0, G_OPTION_ARG_FILENAME, &url,
       "Use the daemon at URL (ADDER_URL), with the token in ADDER_TOKEN", "URL"},
      {NULL},
  };
  g_autofree GOptionEntry *options = cli_take_options (entries);
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  if (observer)
    return cli_tell_observer (options, common, context, least, most, argc, argv, error);
  g_autoptr (GError) problem = NULL;
  if (!g_option_context_parse (context, argc, argv, &problem)) {
    cli_set_option_error (entries, problem, error);
    return FALSE;
  }
  if (help) {
    help_options (stdout, g_get_prgname (), current, entries, common);
    g_clear_pointer (&context, g_option_context_free);
    g_clear_pointer (&options, g_free);
    exit (cli_end (0));
  }
  if (url)
    remote_set_url (url);
  return cli_check_arguments (least, most, *argc, *argv, error);
}

void
cli_print_json (const json_t *value)
{
  g_autofree char *text = json_to_text (value);
  printf ("%s\n", text);
}

/* What lists those of a thing that there are, where ERROR is that it is none of them and does not say so; or
 * NULL. */
static const char *
cli_lister (const GError *error)
{
  static const char *const groups[][2] = {{"adder session ", "adder session list"},
                                          {"adder file ", "adder file list"},
                                          {"adder history ", "adder history list"},
                                          {"adder token ", "adder token list"}};
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND) &&
        g_str_has_prefix (g_get_prgname (), groups[i][0]) && !strstr (error->message, "adder "))
      return groups[i][1];
  return NULL;
}

int
cli_fail (const GError *error)
{
  if (observer)
    return CLI_FAILED;
  const char *lister = cli_lister (error);
  fprintf (stderr, "%sadder: ", cli_colour (stderr, CLI_RED));
  terminal_text_write (error->message, -1, stderr);
  fprintf (stderr, "%s%s%s%s\n", cli_colour (stderr, CLI_PLAIN), lister ? " (" : "", lister ? lister : "",
           lister ? " shows what there is)" : "");
  return CLI_FAILED;
}

void
cli_warn (const GError *error)
{
  fprintf (stderr, "%sadder: warning: ", cli_colour (stderr, CLI_YELLOW));
  terminal_text_write (error->message, -1, stderr);
  fprintf (stderr, "%s\n", cli_colour (stderr, CLI_PLAIN));
}

int
cli_fail_usage (const GError *error)
{
  if (observer)
    return CLI_FAILED;
  fprintf (stderr, "%sadder: %s%s (%s --help shows the options)\n", cli_colour (stderr, CLI_RED),
           error->message, cli_colour (stderr, CLI_PLAIN), g_get_prgname ());
  return CLI_FAILED;
}
