/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/chat/chat.h"

#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "apps/chat/commands.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"

#define NOT_COMPLETED 1
#define GENERATED     "agent-" /* what conversations begin with that nobody named */

/* ---- signals ---- */

#define CHAT_OF(source, member)                                                                              \
  ((struct chat *)(void *)((char *)(source)-G_STRUCT_OFFSET (struct chat, member)))

static void
end_answer (struct event_source *source)
{
  agent_cancel (CHAT_OF (source, ending)->work.agent);
}

static gboolean
interrupt_answer (struct event_source *source)
{
  end_answer (source);
  return TRUE;
}

static void
end_command (struct event_source *source)
{
  call_backend_cancel (CHAT_OF (source, acting)->work.backend);
}

static gboolean
interrupt_command (struct event_source *source)
{
  end_command (source);
  return TRUE;
}

/* Somebody ends the program in the middle of a line: the terminal must not be left as the editor has it. */
static void
end_typing (struct event_source *source)
{
  lines_restore (CHAT_OF (source, typing)->lines);
  _exit (CLI_CANCELLED);
}

static gboolean
chat_interrupt_nothing (G_GNUC_UNUSED struct event_source *source)
{
  return FALSE;
}

/* What signals are for is over. Without a person at a terminal, any of them wants the program to end. */
static void
rest (struct chat *chat, gboolean cancelled)
{
  gboolean goes_on = signal_handler_reset (chat->work.signals);
  if (!goes_on || (cancelled && !lines_at_terminal (chat->lines))) {
    chat->leaving = TRUE;
    chat->code = CLI_CANCELLED;
  }
}

/* ---- what a turn tells ---- */

static void
chat_take_step (gpointer data, const json_t *step)
{
  struct chat *chat = data;
  const json_t *function = json_object_get (step, "function");
  python_session_see (&chat->session, json_member_text (function, "name"),
                      json_object_get (function, "arguments"), json_member_text (step, "result"),
                      json_is_true (json_object_get (step, "is_error")));
  chat_transcript_step (&chat->transcript, step);
  json_array_extend (chat->pictures, json_object_get (step, "pictures"));
}

static void
chat_take_answer (gpointer data, const char *text)
{
  struct chat *chat = data;
  chat_transcript_say (&chat->transcript, model_facts (chat->work.model)->name, text);
}

static const struct agent_events events = {.answered = chat_take_answer, .ended = chat_take_step};

static void
chat_listen_to (struct chat *chat)
{
  struct agent_work *work = &chat->work;
  agent_view_init (&chat->view, model_facts (work->model)->name, stdout);
  agent_listen (work->agent, &events, chat);
  if (work->transcript)
    agent_listen (work->agent, &event_log_events, work->transcript);
  if (work->json)
    agent_listen (work->agent, &event_log_events, work->json);
  else
    agent_listen (work->agent, &agent_view_events, &chat->view);
}

/* ---- a turn ---- */

static void
write_turn (struct chat *chat, const char *said, const struct agent_turn *turn)
{
  const struct model_facts *facts = model_facts (chat->work.model);
  json_t *line = json_pack ("{s:I, s:o}", "turn", (json_int_t)chat->turns, "said", json_text_or_null (said));
  g_autoptr (json_t) end = agent_turn_json (turn);
  json_object_update (line, end);
  json_object_set_new (line, "session", json_text_or_null (chat->session.status));
  json_object_set (line, "pictures", chat->pictures);
  json_object_set_new (line, "model", json_text_or_null (facts->name));
  json_object_set_new (line, "replay", json_boolean (facts->is_replay));
  agent_work_write (&chat->work, line);
}

/* What belongs to the reply beside its words. At a terminal pictures were shown with the step that made them.
 */
static void
show_turn (struct chat *chat, const struct agent_turn *turn)
{
  gsize index;
  json_t *path;
  if (chat->work.json)
    return;
  agent_view_end (&chat->view, turn);
  if (!isatty (STDOUT_FILENO))
    json_array_foreach (chat->pictures, index, path) printf ("picture: %s\n", json_string_value (path));
  /* People have no use for what tells a model that its session goes on. */
  if (chat->session.status && !isatty (STDOUT_FILENO))
    printf ("%s\n", chat->session.status);
  fflush (stdout);
}

static int
chat_code_of (const struct agent_turn *turn)
{
  if (turn->is_fault)
    return CLI_FAILED;
  return turn->reason == AGENT_COMPLETED ? 0 : NOT_COMPLETED;
}

static void
chat_say (struct chat *chat, const char *text)
{
  struct agent_turn turn;
  chat->turns++;
  json_array_clear (chat->pictures);
  chat_transcript_say (&chat->transcript, "You", text);
  signal_handler_set_source (chat->work.signals, &chat->ending);
  agent_say (chat->work.agent, text, &turn);
  show_turn (chat, &turn);
  write_turn (chat, text, &turn);
  chat->code = MAX (chat->code, chat_code_of (&turn));
  rest (chat, turn.reason == AGENT_CANCELLED);
  agent_turn_clear (&turn);
}

/* ---- for commands ---- */

char *
chat_call (struct chat *chat, const char *name, GError **error)
{
  g_autoptr (json_t) arguments = json_object ();
  struct called called;
  signal_handler_set_source (chat->work.signals, &chat->acting);
  toolbox_call (agent_toolbox (chat->work.agent), name, arguments, &called);
  call_backend_resume (chat->work.backend);
  rest (chat, FALSE);
  python_session_see (&chat->session, name, arguments, called.reply.text, called.is_error);
  char *text = called.is_error ? NULL : g_strdup (called.reply.text);
  if (!text)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, called.reply.text);
  called_clear (&called);
  return text;
}

void
chat_look_at_session (struct chat *chat)
{
  g_autofree char *variables = chat_call (chat, "python_variables", NULL);
  python_session_count (&chat->session, variables);
}

gboolean
chat_use_model (struct chat *chat, const char *name, GError **error)
{
  const char *record = chat->work.options->record;
  struct model *model = model_open (name, error);
  if (!model || (record && !model_record (model, record, error))) {
    model_free (model);
    return FALSE;
  }
  agent_use_model (chat->work.agent, model);
  g_ptr_array_add (chat->models, chat->work.model);
  chat->work.model = model;
  chat->view.model = model_facts (model)->name;
  return TRUE;
}

/* ---- messages ---- */

/* A line that ends in "\\" goes on in the next one. */
static gboolean
chat_goes_on (GString *message)
{
  gboolean more = g_str_has_suffix (message->str, "\\");
  if (more)
    g_string_truncate (message, message->len - 1);
  return more;
}

static const struct lines_kind chat_lines = {
    .prompt = "you> ", .prompt_more = "...> ", .history = "chat-history", .goes_on = chat_goes_on};

/* ---- the loop ---- */

static void
chat_write_head (struct chat *chat)
{
  const struct model_facts *facts = model_facts (chat->work.model);
  json_t *line = json_object ();
  agent_work_describe (&chat->work, line);
  agent_work_write (&chat->work, line);
  agent_work_warn (&chat->work);
  if (!chat->work.json && lines_at_terminal (chat->lines))
    fprintf (stderr,
             "%s%s (%s), toolset %s, conversation %s. /help says what else there is; Ctrl-D ends.%s\n",
             cli_colour (stderr, CLI_DIM), facts->name, facts->provider, chat->work.toolset->name,
             agent_conversation (chat->work.agent), cli_colour (stderr, CLI_PLAIN));
}

static void
chat_complain (const char *what)
{
  fprintf (stderr, "%sadder: %s%s\n", cli_colour (stderr, CLI_YELLOW), what, cli_colour (stderr, CLI_PLAIN));
}

static void
chat_take_message (struct chat *chat, char *message)
{
  g_strstrip (message);
  if (message[0] == '\0')
    return;
  if (message[0] == '/' && message[1] != '/')
    commands_carry_out (chat, message + 1);
  else
    chat_say (chat, message[0] == '/' ? message + 1 : message);
}

static void
read_one (struct chat *chat)
{
  g_autofree char *message = NULL;
  signal_handler_set_source (chat->work.signals, &chat->typing);
  enum lines_end end = lines_read (chat->lines, &message);
  (void)signal_handler_reset (chat->work.signals);
  if (end == LINES_MESSAGE)
    chat_take_message (chat, message);
  else if (end == LINES_TOO_LONG)
    chat_complain ("a message may have 1 MiB: say it in parts, or put it into a file");
  else if (end == LINES_OVER)
    chat->leaving = TRUE;
}

/* Nobody could come back to a session of a conversation that has no name of its own. */
static void
chat_end_session (struct chat *chat)
{
  if (chat->session.status && !chat->work.options->conversation)
    g_free (chat_call (chat, "python_end", NULL));
}

static void
chat_begin (struct chat *chat)
{
  g_autofree char *note = NULL;
  chat->ending = (struct event_source){.cancel = end_answer, .interrupt = interrupt_answer};
  chat->acting = (struct event_source){.cancel = end_command, .interrupt = interrupt_command};
  chat->typing = (struct event_source){.cancel = end_typing, .interrupt = chat_interrupt_nothing};
  chat->lines = lines_open (&chat_lines, chat, &note);
  chat->models = g_ptr_array_new_with_free_func ((GDestroyNotify)model_free);
  chat->pictures = json_array ();
  python_session_init (&chat->session);
  chat_transcript_init (&chat->transcript);
  chat_write_head (chat);
  if (note)
    chat_complain (note);
  chat_listen_to (chat);
  if (chat->work.options->conversation && commands_know_sessions (chat))
    chat_look_at_session (chat);
}

int
chat_go_on (struct chat *chat)
{
  chat_begin (chat);
  while (!chat->leaving)
    read_one (chat);
  chat_end_session (chat);
  signal_handler_set_idle (chat->work.signals);
  int code = lines_at_terminal (chat->lines) && chat->code != CLI_CANCELLED ? 0 : chat->code;
  lines_close (chat->lines);
  g_ptr_array_unref (chat->models);
  json_decref (chat->pictures);
  python_session_clear (&chat->session);
  chat_transcript_clear (&chat->transcript);
  return code;
}
