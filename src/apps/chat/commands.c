/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/chat/commands.h"

#include <string.h>

#include "adder.h"
#include "apps/chat/chat.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"

#define SESSIONS_OF "assistant" /* the toolset with python_new and its like */

struct command {
  const char *name, *arguments, *summary;
  /* Adds to OUT what is shown; ARGUMENT is "" where there is none. */
  gboolean (*carry_out) (struct chat *chat, const char *argument, GString *out, GError **error);
};

static gboolean
commands_wrong (GError **error, const char *what)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, what);
  return FALSE;
}

/* ---- /tools ---- */

/* Up to where the first sentence ends. */
static gsize
first_sentence (const char *text)
{
  const char *end = strstr (text, ". ");
  return end ? (gsize)(end - text) + 1 : strlen (text);
}

static gboolean
commands_list_tools (struct chat *chat, G_GNUC_UNUSED const char *argument, GString *out,
                     G_GNUC_UNUSED GError **error)
{
  struct toolbox *toolbox = agent_toolbox (chat->work.agent);
  toolbox_refresh (toolbox);
  g_autoptr (json_t) tools = toolbox_list (toolbox);
  gsize index;
  json_t *tool;
  json_array_foreach (tools, index, tool)
  {
    const char *description = json_member_text (tool, "description");
    g_string_append_printf (out, "%s: %.*s\n", json_member_text (tool, "name"),
                            (int)first_sentence (description), description);
  }
  if (json_array_size (tools) == 0)
    g_string_append (out, "(no tools)\n");
  return TRUE;
}

/* ---- /python ---- */

gboolean
commands_know_sessions (const struct chat *chat)
{
  return strcmp (chat->work.toolset->name, SESSIONS_OF) == 0;
}

static gboolean
commands_show_cells (struct chat *chat, GString *out)
{
  const GPtrArray *cells = chat->session.cells;
  for (guint i = 0; i < cells->len; i++)
    g_string_append_printf (out, "%s\n", (const char *)cells->pdata[i]);
  if (cells->len == 0)
    g_string_append (out, "(no cells)\n");
  return TRUE;
}

static gboolean
commands_python (struct chat *chat, const char *argument, GString *out, GError **error)
{
  static const char *const words[][2] = {
      {"new", "python_new"},        {"reset", "python_reset"},   {"end", "python_end"},
      {"vars", "python_variables"}, {"replay", "python_replay"},
  };
  if (!commands_know_sessions (chat))
    return commands_wrong (error, "only the toolset " SESSIONS_OF
                                  " has sessions: adder chat --toolset " SESSIONS_OF);
  if (strcmp (argument, "history") == 0)
    return commands_show_cells (chat, out);
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++) {
    if (strcmp (argument, words[i][0]) != 0)
      continue;
    g_autofree char *text = chat_call (chat, words[i][1], error);
    if (text)
      g_string_append_printf (out, "%s\n", text);
    if (text && strcmp (argument, "replay") == 0)
      chat_look_at_session (chat);
    return text != NULL;
  }
  return commands_wrong (error, "/python has new, reset, end, vars, history and replay");
}

/* ---- the others ---- */

static gboolean
use_model (struct chat *chat, const char *argument, GString *out, GError **error)
{
  if (argument[0] && !chat_use_model (chat, argument, error))
    return FALSE;
  const struct model_facts *facts = model_facts (chat->work.model);
  g_string_append_printf (out, "%s is %s\n", facts->name, facts->provider);
  return TRUE;
}

static gboolean
commands_save (struct chat *chat, const char *argument, GString *out, GError **error)
{
  if (argument[0] == '\0')
    return commands_wrong (error, "say where: /save FILE");
  if (!chat_transcript_save (&chat->transcript, argument, error))
    return FALSE;
  g_string_append_printf (out, "The conversation is in %s.\n", argument);
  return TRUE;
}

static gboolean
commands_forget (struct chat *chat, G_GNUC_UNUSED const char *argument, GString *out,
                 G_GNUC_UNUSED GError **error)
{
  agent_forget (chat->work.agent);
  g_string_append (out, "What was said is forgotten; a session of Python stays.\n");
  return TRUE;
}

static gboolean
quit (struct chat *chat, G_GNUC_UNUSED const char *argument, G_GNUC_UNUSED GString *out,
      G_GNUC_UNUSED GError **error)
{
  chat->leaving = TRUE;
  return TRUE;
}

static gboolean commands_help (struct chat *chat, const char *argument, GString *out, GError **error);

static const struct command commands[] = {
    {"help", "", "this list", commands_help},
    {"tools", "", "what the model can call", commands_list_tools},
    {"python", "new | reset | end | vars | history | replay", "the Python session of this conversation",
     commands_python},
    {"model", "[NAME]", "who answers, or who answers from now on", use_model},
    {"save", "FILE", "write the conversation as Markdown", commands_save},
    {"forget", "", "begin anew: what was said is forgotten", commands_forget},
    {"quit", "", "leave, as Ctrl-D does", quit},
};

static gboolean
commands_help (G_GNUC_UNUSED struct chat *chat, G_GNUC_UNUSED const char *argument, GString *out,
               G_GNUC_UNUSED GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (out, "/%s%s%s: %s\n", commands[i].name, commands[i].arguments[0] ? " " : "",
                            commands[i].arguments, commands[i].summary);
  g_string_append (
      out, "Everything else goes to the model; // begins what begins with a slash. A line that ends in "
           "\\ goes on in the next. Ctrl-C ends an answer.\n");
  return TRUE;
}

/* ---- carrying out ---- */

static const struct command *
commands_find (const char *name, GError **error)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    if (strcmp (commands[i].name, name) == 0)
      return &commands[i];
    text_consider (&guess, name, commands[i].name);
  }
  g_autofree char *shown = text_one_line (name, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no /%s%s%s%s; /help lists the commands",
               shown, guess.best ? "; did you mean /" : "", guess.best ? guess.best : "",
               guess.best ? "?" : "");
  return NULL;
}

static void
commands_show (struct chat *chat, const char *line, const GString *out, const GError *problem)
{
  g_autofree char *typed = g_strconcat ("/", line, NULL);
  if (chat->work.json) {
    agent_work_write (&chat->work, json_pack ("{s:o, s:o, s:o, s:o}", "command", json_text_or_null (typed),
                                              "text", json_text_or_null (out->str), "error",
                                              json_text_or_null (problem ? problem->message : NULL),
                                              "session", json_text_or_null (chat->session.status)));
    return;
  }
  if (problem)
    (void)cli_fail (problem);
  terminal_text_write (out->str, (gssize)out->len, stdout);
  fflush (stdout);
}

void
commands_carry_out (struct chat *chat, const char *line)
{
  gsize length = strcspn (line, " \t\n");
  g_autofree char *name = g_strndup (line, length), *argument = g_strstrip (g_strdup (line + length));
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) problem = NULL;
  const struct command *command = commands_find (name, &problem);
  gboolean ok = command && command->carry_out (chat, argument, out, &problem);
  if (!ok)
    chat->code = MAX (chat->code, 1);
  commands_show (chat, line, out, problem);
}
