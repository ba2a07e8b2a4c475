/* SPDX-License-Identifier: Apache-2.0 */
/* `adder tool call`: one call of a tool, as an agent makes it. The reply is one line of JSON on standard
 * output, even if nothing ran. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "engine/request/outcome.h"
#include "interfaces/cli/approval_prompt.h"
#include "interfaces/cli/caller_context.h"
#include "interfaces/cli/cli.h"
#include "interfaces/remote/remote.h"
#include "interfaces/socket/call_backend.h"
#include "interfaces/socket/server_tools.h"

#define ARGUMENTS_MAX (8u << 20) /* bytes */

struct call_options {
  char *toolset, *conversation, *role, *approval, *wait_approval;
  guint64 wait_ms;
  gboolean read_only, no_daemon, accept_all;
  const char *tool, *arguments;
};

/* ---- arguments ---- */

static gboolean
cli_call_read_all (int fd, GString *text, GError **error)
{
  char part[64 * 1024];
  ssize_t got;
  while ((got = read (fd, part, sizeof part)) != 0) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_from_errno (error, errno, "cannot read the arguments");
    g_string_append_len (text, part, got);
    if (text->len > ARGUMENTS_MAX) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the arguments are longer than %u bytes",
                   ARGUMENTS_MAX);
      return FALSE;
    }
  }
  return TRUE;
}

/* The text for GIVEN: itself, a @FILE, or standard input. */
static gboolean
read_given (const char *given, GString *text, GError **error)
{
  if (strcmp (given, "-") == 0)
    return cli_call_read_all (STDIN_FILENO, text, error);
  if (given[0] != '@') {
    g_string_append (text, given);
    return TRUE;
  }
  autoclose int fd = open (given + 1, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open %s", given + 1);
  return cli_call_read_all (fd, text, error);
}

static json_t *
parse_arguments (const char *given, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  if (!given)
    return json_object ();
  return read_given (given, text, error)
             ? json_parse_object (text->str, text->len, "the text of the arguments", error)
             : NULL;
}

/* ---- the request ---- */

static json_t *
cli_call_make_question (const struct call_options *options, const struct caller_context *context,
                        GError **error)
{
  const struct tool_caller caller = {
      .conversation = options->conversation,
      .role = options->role,
      .read_only = options->read_only,
      .directory = context->path,
      .variables = context->variables,
      .python = context->python,
      .approval = options->approval,
      .accept_all = options->accept_all,
  };
  json_t *arguments = parse_arguments (options->arguments, error);
  json_t *question =
      arguments ? server_tools_question (options->tool, options->toolset, arguments, &caller) : NULL;
  if (arguments && !question)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is not UTF-8");
  return question;
}

/* ---- the call, and its approval if needed ---- */

/* Represents a run once the signal handler has the signals: closing the connection cancels. */
static void
end_now (G_GNUC_UNUSED struct event_source *source)
{
  _exit (CLI_CANCELLED);
}

static gboolean
cli_call_interrupt_nothing (G_GNUC_UNUSED struct event_source *source)
{
  return FALSE;
}

/* Whether somebody decided about the approval ID, so that repeating the call has another result. */
static gboolean
is_decided (const struct call_options *options, struct call_backend *backend, const char *id)
{
  static struct event_source ending = {.cancel = end_now, .interrupt = cli_call_interrupt_nothing};
  struct approval_way way = {
      .call = call_backend_operation,
      .data = backend,
      .prompt = TRUE,
      .quiet = TRUE,
      .waits = options->wait_approval != NULL,
      .wait_ms = options->wait_ms,
  };
  if (!way.waits && !isatty (STDIN_FILENO))
    return FALSE;
  way.signals = signal_handler_start ();
  /* If asking failed, it stays undecided, which the reply says. */
  enum approval_end end = approval_seek (&way, id, NULL);
  signal_handler_set_source (way.signals, &ending);
  return end == APPROVAL_END_DECIDED;
}

static json_t *
call_decided (const struct call_options *options, struct call_backend *backend, json_t *question,
              int directory_fd, GError **error)
{
  g_autoptr (json_t) answer = call_backend_call (backend, question, directory_fd, error);
  const char *id = json_string_value (json_object_get (json_object_get (answer, "reply"), "approval_id"));
  if (!id || !is_decided (options, backend, id))
    return g_steal_pointer (&answer);
  json_object_set_new (question, "approval", json_string (id));
  return call_backend_call (backend, question, directory_fd, error);
}

static json_t *
call_somewhere (const struct call_options *options, json_t *question, int directory_fd, GError **error)
{
  struct call_backend *backend = call_backend_new (options->no_daemon, error);
  json_t *answer = backend ? call_decided (options, backend, question, directory_fd, error) : NULL;
  call_backend_free (backend);
  return answer;
}

static json_t *
cli_call_call (struct call_options *options, GError **error)
{
  struct caller_context context = CALLER_CONTEXT_NONE;
  g_autoptr (json_t) question = NULL;
  json_t *answer = NULL;
  if (options->wait_approval && !duration_parse (options->wait_approval, 1000, &options->wait_ms, error))
    g_prefix_error (error, "--wait-approval: ");
  else if ((remote_is_set () || caller_context_take (&context, options->toolset, options->tool, error)) &&
           (question = cli_call_make_question (options, &context, error)))
    answer = call_somewhere (options, question, context.fd, error);
  caller_context_clear (&context);
  return answer;
}

/* ---- the command ---- */

static int
print_answer (const json_t *answer)
{
  cli_print_json (json_object_get (answer, "reply"));
  return (int)json_integer_value (json_object_get (answer, "exit_code"));
}

/* A failure before the call looks like a failure of a tool. */
static int
print_problem (const GError *problem)
{
  g_autoptr (json_t) reply =
      json_pack ("{s:o, s:n}", "error",
                 json_text_or_null (problem ? problem->message : "there was no answer"), "run_id");
  cli_print_json (reply);
  return g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY) ? outcome_exit_code (ADDER_OUTCOME_BUSY)
                                                                  : CLI_FAILED;
}

static int
call_and_print (struct call_options *options)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) answer = cli_call_call (options, &problem);
  return answer ? print_answer (answer) : print_problem (problem);
}

int
cli_tool_call (int argc, char **argv)
{
  struct call_options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "The toolset of the tool (default: adder, or the only one that has it)", "NAME"},
      {"conversation", 0, 0, G_OPTION_ARG_FILENAME, &options.conversation,
       "The call's conversation: any text, the same for each call", "ID"},
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options.role, "Call as a guest, user or admin", "ROLE"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options.read_only, "Call as a read-only agent", NULL},
      {"approval", 0, 0, G_OPTION_ARG_FILENAME, &options.approval, "Use this approval (adder approval list)",
       "ID"},
      {"wait-approval", 0, 0, G_OPTION_ARG_FILENAME, &options.wait_approval,
       "If approval is required, wait for this long", "TIME"},
      {"dangerously-accept-all", 0, 0, G_OPTION_ARG_NONE, &options.accept_all,
       "Approve everything without asking; this is logged", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon,
       "Call in this process, without a daemon: nothing is warm, and nothing persists", NULL},
      {NULL},
  };
  int code;
  if (!cli_parse (entries, 1, 2, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    options.tool = argv[1];
    options.arguments = argc > 2 ? argv[2] : NULL;
    code = call_and_print (&options);
  }
  g_free (options.toolset);
  g_free (options.conversation);
  g_free (options.role);
  g_free (options.approval);
  g_free (options.wait_approval);
  return code;
}
