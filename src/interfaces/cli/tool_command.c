/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/tool_command.h"

#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/signal_handler.h"
#include "interfaces/cli/view/progress_view.h"
#include "interfaces/socket/server_tools.h"

/* The target of signals, for the signal handler. */
struct ending {
  struct event_source source;
  struct call_backend *backend;
};

static void
end_with_what_is_there (struct event_source *source)
{
  call_backend_interrupt (((struct ending *)(void *)source)->backend);
}

static gboolean
tool_command_interrupt_nothing (G_GNUC_UNUSED struct event_source *source)
{
  return FALSE;
}

static json_t *
tool_command_ask (struct call_backend *backend, const struct tool_command *command,
                  struct signal_handler *signals, GError **error)
{
  const struct tool_caller caller = {.directory_fd = -1};
  struct ending ending = {{.cancel = end_with_what_is_there, .interrupt = tool_command_interrupt_nothing},
                          backend};
  struct progress_view view = {0};
  g_autoptr (json_t) question =
      server_tools_question (command->tool, command->toolset, json_incref (command->arguments), &caller);
  call_backend_watch (backend, progress_view_saw, &view);
  signal_handler_set_source (signals, &ending.source);
  json_t *answer = call_backend_call (backend, question, -1, error);
  signal_handler_set_source (signals, NULL);
  progress_view_end (&view);
  return answer;
}

static json_t *
prepare_and_ask (struct tool_command *command, GError **error)
{
  struct signal_handler *signals = signal_handler_start ();
  struct call_backend *backend = call_backend_new (command->no_daemon, error);
  json_t *answer = NULL;
  if (backend && (!command->prepare || command->prepare (backend, command->arguments, command->data, error)))
    answer = tool_command_ask (backend, command, signals, error);
  call_backend_free (backend);
  return answer;
}

/* A tool's failure is one line, like every other failure. */
static int
tool_command_take_answer (const json_t *answer, json_t **ret_reply)
{
  json_t *reply = json_object_get (answer, "reply");
  const json_t *failure = json_object_get (reply, "error");
  int code = (int)json_integer_value (json_object_get (answer, "exit_code"));
  if (!json_is_string (failure)) {
    *ret_reply = json_incref (reply);
    return code;
  }
  g_autoptr (GError) problem =
      g_error_new (ADDER_ERROR, ADDER_ERROR_INVALID, "%s", json_string_value (failure));
  (void)cli_fail (problem);
  return code != 0 ? code : CLI_FAILED;
}

int
tool_command_call (struct tool_command *command, json_t **ret_reply)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) arguments = command->arguments;
  g_autoptr (json_t) answer = NULL;
  *ret_reply = NULL;
  if (!arguments)
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is not UTF-8");
  else
    answer = prepare_and_ask (command, &problem);
  return answer ? tool_command_take_answer (answer, ret_reply) : cli_fail (problem);
}
