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
#include "interfaces/cli/view/terminal_text.h"
#include "interfaces/remote/remote.h"

/* The command under way, whose arguments and summary --help shows. */
static const struct cli_command *current;
static gboolean travels;                    /* the program's command that it is, or is part of */
static const struct cli_observer *observer; /* NULL: commands are carried out */

static void
print_help (FILE *stream, const char *prefix, const char *summary, const struct cli_command *table)
{
  fprintf (stream, "Usage: %s COMMAND [OPTION...]\n\n%s\n\nCommands:\n", prefix, summary);
  for (const struct cli_command *command = table; command->name; command++)
    fprintf (stream, "  %-10s %s\n", command->name, command->summary);
  fprintf (stream, "\n%s COMMAND --help shows the options of a command%s.\n", prefix,
           strchr (prefix, ' ') == NULL ? ", adder --version the version, man adder all of it" : "");
}

/* What commands of other programs are called here, after PREFIX. */
static const struct {
  const char *prefix, *typed, *meant;
} synonyms[] = {
    {"adder", "ps", "adder session list"},
    {"adder", "ls", "adder session list"},
    {"adder", "list", "adder session list"},
    {"adder", "logs", "adder record list"},
    {"adder", "history", "adder record list"},
    {"adder", "exec", "adder run --session"},
    {"adder", "rm", "adder session end"},
    {"adder", "kill", "adder session end"},
    {"adder", "start", "adder serve"},
    {"adder", "up", "adder serve"},
    {"adder", "daemon", "adder serve"},
    {"adder", "down", "adder stop"},
    {"adder", "restart", "adder reload"},
    {"adder", "python", "adder run"},
    {"adder", "-c", "adder run -c"},
    {"adder", "-", "adder run -"},
    {"adder", "version", "adder --version"},
    {"adder", "-v", "adder --version"},
    {"adder", "-V", "adder --version"},
    {"adder", "pip", "adder run --with"},
    {"adder", "install", "adder run --with"},
    {"adder", "images", "adder container list"},
    {"adder session", "create", "adder session new"},
    {"adder session", "rm", "adder session end"},
    {"adder session", "ls", "adder session list"},
    {"adder record", "ls", "adder record list"},
    {"adder file", "ls", "adder file list"},
    {"adder file", "remove", "adder file rm"},
    {"adder file", "delete", "adder file rm"},
    {"adder env", "ls", "adder env list"},
    {"adder env", "rm", "adder env remove"},
    {"adder token", "rm", "adder token revoke"},
    {"adder model", "rm", "adder model remove"},
};

/* What NAME after PREFIX was meant to be, the caller's; or NULL. */
static char *
nearest_command (const char *prefix, const struct cli_command *table, const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (synonyms); i++)
    if (strcmp (synonyms[i].prefix, prefix) == 0 && strcmp (synonyms[i].typed, name) == 0)
      return g_strdup (synonyms[i].meant);
  struct text_guess guess = TEXT_GUESS_NONE;
  for (; table->name; table++)
    text_consider (&guess, name, table->name);
  return guess.best ? g_strdup_printf ("%s %s", prefix, guess.best) : NULL;
}

/* What options of other programs would do. */
static const struct {
  const char *typed, *advice;
} foreign_options[] = {
    {"-v", "a directory is lent by --workdir DIR, and a file copied in by --file PATH"},
    {"--volume", "a directory is lent by --workdir DIR, and a file copied in by --file PATH"},
    {"--mount", "a directory is lent by --workdir DIR, and a file copied in by --file PATH"},
    {"--net", "a profile allows the network: --profile NAME"},
    {"--network", "a profile allows the network: --profile NAME"},
    {"--rm", "nothing of a run stays"},
    {"--cpus", "processor time is bounded by --limit cpu_ms=TIME"},
    {"--name", "what is kept by a name is a session: adder session new --name NAME"},
};

/* What to do in place of the option that MESSAGE of GLib's ends with; or NULL. */
static const char *
foreign_option (const char *message)
{
  const char *typed = strrchr (message, ' ');
  if (!typed || strcmp (g_get_prgname (), "adder run") != 0)
    return NULL;
  g_autofree char *name = g_strndup (typed + 1, strcspn (typed + 1, "="));
  for (gsize i = 0; i < G_N_ELEMENTS (foreign_options); i++)
    if (strcmp (foreign_options[i].typed, name) == 0)
      return foreign_options[i].advice;
  return NULL;
}

/* OPTION is what GLib found in no table: "--jsn". */
static const char *
nearest_option (const GOptionEntry *entries, const char *option)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  option += strspn (option, "-");
  g_autofree char *name = g_strndup (option, strcspn (option, "="));
  for (; entries->long_name; entries++)
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

int
cli_dispatch (const char *prefix, const char *summary, const struct cli_command *table, int argc, char **argv)
{
  const char *name = argc > 1 ? argv[1] : NULL;
  if (!name && observer) {
    observer->commands (observer->data, table);
    return 0;
  }
  if (!name) {
    print_help (stderr, prefix, summary, table);
    return CLI_FAILED;
  }
  if (!observer && (strcmp (name, "--help") == 0 || strcmp (name, "-h") == 0 || strcmp (name, "help") == 0)) {
    print_help (stdout, prefix, summary, table);
    return 0;
  }
  for (const struct cli_command *command = table; command->name; command++)
    if (strcmp (command->name, name) == 0) {
      g_autofree char *typed = g_strdup_printf ("%s %s", prefix, name);
      g_set_prgname (typed);
      current = command;
      travels = strchr (prefix, ' ') ? travels && !command->stays : command->travels;
      if (!observer && !check_machine ())
        return CLI_FAILED;
      return command->function ? command->function (argc - 1, argv + 1)
                               : operation_command (command->asks, argc - 1, argv + 1);
    }
  if (observer)
    return CLI_FAILED;
  g_autofree char *shown = g_utf8_make_valid (name, (gssize)MIN (strlen (name), 64));
  g_autofree char *meant = nearest_command (prefix, table, name);
  if (meant)
    fprintf (stderr, "adder: there is no command \"%s %s\"; did you mean \"%s\"?\n", prefix, shown, meant);
  else
    fprintf (stderr, "adder: there is no command \"%s %s\"; %s --help lists them\n", prefix, shown, prefix);
  return CLI_FAILED;
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

/* GLib's own --help converts to the locale's character set, and would print question marks in a C locale. */
static void
cli_print_options (GOptionContext *context)
{
  g_autofree char *help = g_option_context_get_help (context, TRUE, NULL);
  g_auto (GStrv) parts = g_strsplit (help, "\xe2\x80\xa6", -1);
  g_autofree char *text = g_strjoinv ("...", parts);
  fputs (text, stdout);
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
       "Ask the daemon at URL (ADDER_URL), with the token in ADDER_TOKEN", "URL"},
      {NULL},
  };
  if (observer) {
    observer->options (observer->data, entries);
    observer->options (observer->data, common);
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "its options were asked for");
    return FALSE;
  }
  g_autoptr (GOptionContext) context = g_option_context_new (current->arguments);
  g_autofree char *summary =
      g_strdup_printf ("%c%s.", g_ascii_toupper (current->summary[0]), current->summary + 1);
  g_option_context_set_summary (context, summary);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  g_autoptr (GError) problem = NULL;
  if (!g_option_context_parse (context, argc, argv, &problem)) {
    gboolean unknown = g_error_matches (problem, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION);
    const char *option = unknown ? strstr (problem->message, "--") : NULL;
    const char *advice = unknown ? foreign_option (problem->message) : NULL;
    const char *meant = option && !advice ? nearest_option (entries, option) : NULL;
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%c%s%s%s%s%s%s",
                 g_ascii_tolower (problem->message[0]), problem->message + 1, advice ? ": " : "",
                 advice ? advice : "", meant ? "; did you mean --" : "", meant ? meant : "",
                 meant ? "?" : "");
    return FALSE;
  }
  if (help) {
    cli_print_options (context);
    g_clear_pointer (&context, g_option_context_free);
    g_clear_pointer (&summary, g_free);
    exit (cli_end (0));
  }
  if (url)
    remote_set_url (url);
  int given = *argc - 1;
  if (given < least)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is missing: %s %s", g_get_prgname (),
                 current->arguments);
  else if (given > most) {
    g_autofree char *shown = g_utf8_make_valid ((*argv)[most + 1], -1);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is one argument too many", shown);
  }
  return given >= least && given <= most;
}

void
cli_print_json (const json_t *value)
{
  g_autofree char *text = json_to_text (value);
  printf ("%s\n", text);
}

int
cli_fail (const GError *error)
{
  if (observer)
    return CLI_FAILED;
  fprintf (stderr, "%sadder: ", cli_colour (stderr, CLI_RED));
  terminal_text_write (error->message, -1, stderr);
  fprintf (stderr, "%s\n", cli_colour (stderr, CLI_PLAIN));
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
