/* SPDX-License-Identifier: Apache-2.0 */
/* The program `adder`: the table of its commands. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "apps/agent/cli_agent.h"
#include "apps/ask/cli_ask.h"
#include "apps/chat/cli_chat.h"
#include "apps/telegram/cli_telegram.h"
#include "bench/cli_bench.h"
#include "interfaces/cli/cli.h"
#include "interfaces/remote/remote.h"

static const struct cli_command commands[] = {
    {"run", "[FILE | - | -c CODE] [-- ARGUMENT...]", "run Python in a fresh sandbox", cli_run,
     .travels = TRUE},
    {"session", "COMMAND", "keep interpreters between runs: make, show and end sessions", cli_session,
     .travels = TRUE},
    {"agent", "TASK", "have a model work on a task with tools", cli_agent},
    {"chat", "", "talk with a model that can call tools", cli_chat},
    {"telegram", "", "answer in chats of Telegram, as a bot", cli_telegram},
    {"ask", "[FILE... \"QUESTION\"]",
     "answer a question about tables and show the code that computed the answer", cli_ask},
    {"search", "[providers]", "search databases of materials for crystal structures", cli_search,
     .travels = TRUE},
    {"tools", "[enable TOOL | disable TOOL]", "list the tools for agents, as a person or a model reads them",
     cli_tools, .travels = TRUE},
    {"call", "TOOL [{JSON} | @FILE | -]", "call a tool and print its reply as JSON", cli_call,
     .travels = TRUE},
    {"mcp", "[install --client NAME]", "speak MCP on standard input and output, for clients that start it",
     cli_mcp},
    {"approval", "COMMAND", "say yes or no to code that waits for it", cli_approval, .travels = TRUE},
    {"review", "COMMAND", "say yes or no to what runs would change in directories", cli_review,
     .travels = TRUE},
    {"record", "COMMAND", "show what was run, and check that nobody changed it", cli_record, .travels = TRUE},
    {"result", "COMMAND", "read output that was longer than its reply", cli_result, .travels = TRUE},
    {"data", "COMMAND", "list data sets, make, read and remove them", cli_data, .travels = TRUE},
    {"file", "COMMAND", "put in, get and list the files of runs", cli_file, .travels = TRUE},
    {"store", "COMMAND", "show where records and files are kept, and check that nothing is lost", cli_store,
     .travels = TRUE},
    {"serve", "", "answer on the local socket, keeping interpreters warm", cli_serve},
    {"status", "", "show what the daemon holds and does", cli_status, .travels = TRUE},
    {"stop", "", "end the daemon and all that it runs", cli_stop},
    {"reload", "[--json]", "have the daemon read its configuration again",
     ASKS (.operation = "daemon.reload", .view = cli_reload_view), .travels = TRUE},
    {"doctor", "", "check what this host offers, and how to get what it lacks", cli_doctor},
    {"env", "COMMAND", "list, show, create and remove environments", cli_env, .travels = TRUE},
    {"container", "COMMAND", "make, list, show and remove the image of runs in containers", cli_container},
    {"profile", "COMMAND", "list, show and check profiles: named sets of limits and rules", cli_profile,
     .travels = TRUE},
    {"model", "COMMAND", "manage the language models that Adder can ask", cli_model, .travels = TRUE},
    {"token", "COMMAND", "make and take back tokens for HTTP", cli_token, .travels = TRUE},
    {"guard", "[FILE | - | -c CODE]", "check code against a profile's rules, without running it", cli_guard,
     .travels = TRUE},
    {"config", "COMMAND", "show and document the configuration", cli_config},
    {"bench", "[load]", "measure Adder beside plain Python, or under load", cli_bench},
    {0},
};

/* A descriptor that the caller closed would be given to the next file that is opened, and output would go
 * there. */
static void
fill_standard_streams (void)
{
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0 && open ("/dev/null", O_RDWR) != fd)
      _exit (CLI_FAILED);
}

/* `adder FILE.py` is `adder run FILE.py`. */
static int
dispatch (int argc, char **argv)
{
  static const char summary[] = "Runs Python in a fresh, confined, already warm interpreter.";
  if (argc < 2 || !g_str_has_suffix (argv[1], ".py"))
    return cli_dispatch ("adder", summary, commands, argc, argv);
  static char run[] = "run";
  g_autofree char **all = g_new0 (char *, (gsize)argc + 2);
  all[0] = argv[0];
  all[1] = run;
  memcpy (all + 2, argv + 1, (gsize)(argc - 1) * sizeof *all);
  return cli_dispatch ("adder", summary, commands, argc + 1, all);
}

int
main (int argc, char **argv)
{
  fill_standard_streams ();
  /* A reader that goes away is an error of a write, which says what to do; not the end of the program. */
  signal (SIGPIPE, SIG_IGN);
  if (argc == 2 && strcmp (argv[1], "--version") == 0) {
    printf ("adder %s\n", adder_version ());
    return cli_end (0);
  }
  /* It may stand before the command, too. */
  gboolean apart = argc > 2 && strcmp (argv[1], "--url") == 0;
  if (apart || (argc > 1 && strncmp (argv[1], "--url=", strlen ("--url=")) == 0)) {
    remote_set_url (apart ? argv[2] : argv[1] + strlen ("--url="));
    argv += apart ? 2 : 1;
    argc -= apart ? 2 : 1;
  }
  if (argc > 1 && strcmp (argv[1], "complete") == 0)
    return cli_end (cli_complete (commands, argc - 2, argv + 2));
  if (argc > 1 && strcmp (argv[1], "manual") == 0)
    return cli_end (cli_manual (commands, argc - 1, argv + 1));
  return cli_end (dispatch (argc, argv));
}
