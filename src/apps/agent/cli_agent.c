/* SPDX-License-Identifier: Apache-2.0 */
/* `adder agent`: a model works on one task with the tools of a toolset. Steps are shown on standard error as
 * they happen, the answer goes to standard output. */
#include "apps/agent/cli_agent.h"

#include <string.h>

#include "adder.h"
#include "apps/agent/view.h"
#include "apps/agent/work.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"

#define TYPED_BY_ITSELF "compute" /* the toolset whose contract has typed steps */
#define NOT_COMPLETED   1

struct agent_command {
  struct agent_options options;
  char *steps;
  const char *task;
  struct agent_work work;
  struct agent_view view;
  struct event_source ending; /* what signals end: the turn */
};

/* ---- steps ---- */

static gboolean
take_steps (struct agent_command *command, GError **error)
{
  const char *steps = command->steps;
  struct agent_work *work = &command->work;
  work->typed = steps ? strcmp (steps, "typed") == 0 : strcmp (work->toolset->name, TYPED_BY_ITSELF) == 0;
  if (!steps || work->typed || strcmp (steps, "native") == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--steps is typed or native");
  return FALSE;
}

/* ---- signals ---- */

static void
end_turn (struct event_source *source)
{
  struct agent_command *command =
      (struct agent_command *)(void *)((char *)source - G_STRUCT_OFFSET (struct agent_command, ending));
  agent_cancel (command->work.agent);
}

static gboolean
cli_agent_interrupt_nothing (G_GNUC_UNUSED struct event_source *source)
{
  return FALSE;
}

/* ---- the work ---- */

static void
cli_agent_write_head (struct agent_command *command)
{
  json_t *line = json_pack ("{s:o}", "task", json_text_or_null (command->task));
  agent_work_describe (&command->work, line);
  agent_work_write (&command->work, line);
}

static void
cli_agent_listen_to (struct agent_command *command)
{
  struct agent_work *work = &command->work;
  agent_view_init (&command->view, model_facts (work->model)->name, work->typed ? NULL : stderr);
  if (work->transcript)
    agent_listen (work->agent, &event_log_events, work->transcript);
  if (work->json)
    agent_listen (work->agent, &event_log_events, work->json);
  else
    agent_listen (work->agent, &agent_view_events, &command->view);
  agent_work_warn (work);
}

static void
show_end (struct agent_command *command, const struct agent_turn *turn)
{
  struct agent_work *work = &command->work;
  const struct model_facts *facts = model_facts (work->model);
  json_t *line = agent_turn_json (turn);
  json_object_set_new (line, "model", json_text_or_null (facts->name));
  json_object_set_new (line, "replay", json_boolean (facts->is_replay));
  agent_work_write (work, line);
  if (work->json)
    return;
  agent_view_end (&command->view, turn);
  fflush (stderr);
  if (turn->answer[0]) {
    terminal_text_write (turn->answer, -1, stdout);
    putchar ('\n');
  }
}

static int
cli_agent_exit_code_of (const struct agent_turn *turn)
{
  if (turn->reason == AGENT_CANCELLED)
    return CLI_CANCELLED;
  if (turn->is_fault)
    return CLI_FAILED;
  return turn->reason == AGENT_COMPLETED ? 0 : NOT_COMPLETED;
}

static int
cli_agent_carry_out (struct agent_command *command)
{
  struct agent_work *work = &command->work;
  struct agent_turn turn;
  cli_agent_write_head (command);
  cli_agent_listen_to (command);
  signal_handler_set_source (work->signals, &command->ending);
  agent_say (work->agent, command->task, &turn);
  signal_handler_set_idle (work->signals);
  show_end (command, &turn);
  int code = cli_agent_exit_code_of (&turn);
  agent_turn_clear (&turn);
  return code;
}

static int
agent (struct agent_command *command)
{
  struct agent_work *work = &command->work;
  g_autoptr (GError) problem = NULL, unwritten = NULL;
  command->ending = (struct event_source){.cancel = end_turn, .interrupt = cli_agent_interrupt_nothing};
  agent_work_init (work, &command->options, &command->ending);
  gboolean ok = (work->toolset = toolset_find (command->options.toolset, &problem)) &&
                take_steps (command, &problem) && agent_work_begin (work, TRUE, &problem);
  int code = ok ? cli_agent_carry_out (command) : cli_fail (problem);
  return agent_work_end (work, &unwritten) ? code : cli_fail (unwritten);
}

/* ---- the command ---- */

int
cli_agent (int argc, char **argv)
{
  struct agent_command command = {0};
  g_autoptr (GError) problem = NULL;
  g_autoptr (GArray) entries = agent_options_entries (&command.options);
  const GOptionEntry own[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &command.options.toolset,
       "The model's tools (adder tool list lists them; default: adder)", "NAME"},
      {"steps", 0, 0, G_OPTION_ARG_FILENAME, &command.steps,
       "typed: each step is one object with the model's reasoning and one function; native: ordinary calls. "
       "Default: typed with the toolset compute, native with the others",
       "KIND"},
      {"out", 0, 0, G_OPTION_ARG_FILENAME, &command.options.out, "Save pictures in this directory", "DIR"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &command.options.json,
       "Print a line of JSON for each step, and one for the end", NULL},
  };
  g_array_prepend_vals (entries, own, G_N_ELEMENTS (own));
  int code;
  if (!cli_parse ((const GOptionEntry *)(const void *)entries->data, 1, 1, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (argv[1][strspn (argv[1], " \t\n")] == '\0') {
    g_set_error_literal (&problem, ADDER_ERROR, ADDER_ERROR_INVALID,
                         "the TASK is empty: say what is to be done");
    code = cli_fail_usage (problem);
  } else {
    command.task = argv[1];
    code = agent (&command);
  }
  agent_options_clear (&command.options);
  g_free (command.steps);
  return code;
}
