/* SPDX-License-Identifier: Apache-2.0 */
/* What begins with a slash. */
#include <string.h>

#include "adder.h"
#include "apps/telegram/dialog.h"
#include "common/json.h"
#include "common/text.h"

struct command {
  const char *name, *arguments, *summary;
  void (*carry_out) (struct dialog *dialog, const char *argument);
};

static void
call_plainly (struct dialog *dialog, const char *tool)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = dialog_ask (dialog, tool, json_object (), &problem);
  dialog_say (dialog, text ? text : problem->message);
}

static void
dialog_commands_show_cells (struct dialog *dialog)
{
  const GPtrArray *cells = dialog->session.cells;
  struct pages *pages = pages_new ();
  for (guint i = 0; i < cells->len; i++)
    pages_add_code (pages, cells->pdata[i]);
  if (cells->len == 0)
    pages_add_text (pages, "(no cells since this bot was started)");
  send_pages (&dialog->line, pages, NULL);
  pages_free (pages);
}

static void
dialog_commands_python (struct dialog *dialog, const char *argument)
{
  static const char *const words[][2] = {
      {"new", "python_new"},        {"reset", "python_reset"},   {"end", "python_end"},
      {"vars", "python_variables"}, {"replay", "python_replay"},
  };
  if (strcmp (argument, "history") == 0) {
    dialog_commands_show_cells (dialog);
    return;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (argument, words[i][0]) == 0) {
      call_plainly (dialog, words[i][1]);
      return;
    }
  dialog_say (dialog, "/python has new, reset, end, vars, history and replay.");
}

static void
dialog_commands_list_tools (struct dialog *dialog, G_GNUC_UNUSED const char *argument)
{
  g_autoptr (GString) text = g_string_new (NULL);
  toolbox_refresh (dialog->toolbox);
  g_autoptr (json_t) tools = toolbox_list (dialog->toolbox);
  gsize index;
  json_t *tool;
  json_array_foreach (tools, index, tool)
  {
    const char *description = json_member_text (tool, "description"), *end = strstr (description, ". ");
    g_string_append_printf (text, "%s: %.*s\n", json_member_text (tool, "name"),
                            (int)(end ? end - description + 1 : (gssize)strlen (description)), description);
  }
  dialog_say (dialog, text->len > 0 ? text->str : "(no tools)");
}

static void
dialog_commands_files (struct dialog *dialog, const char *argument)
{
  if (argument[0])
    dialog_send_file (dialog, argument);
  else
    dialog_list_files (dialog);
}

/* What came before was stopped as soon as this came. */
static void
stop (struct dialog *dialog, G_GNUC_UNUSED const char *argument)
{
  dialog_say (dialog, dialog->was_stopped ? "Stopped." : "Nothing is running.");
  dialog->was_stopped = FALSE;
}

static void
dialog_commands_forget (struct dialog *dialog, G_GNUC_UNUSED const char *argument)
{
  if (dialog->agent)
    agent_forget (dialog->agent);
  dialog_say (dialog, "What was said is forgotten; a session of Python stays.");
}

static void dialog_commands_help (struct dialog *dialog, const char *argument);

static const struct command commands[] = {
    {"help", "", "this list", dialog_commands_help},
    {"start", "", "the same", dialog_commands_help},
    {"python", " new | reset | end | vars | history | replay", "the Python session of this chat",
     dialog_commands_python},
    {"tools", "", "what the model can call", dialog_commands_list_tools},
    {"files", " [NAME]", "the files of this chat, or one of them", dialog_commands_files},
    {"forget", "", "begin anew: what was said is forgotten", dialog_commands_forget},
    {"stop", "", "end what is running", stop},
};

static void
dialog_commands_help (struct dialog *dialog, G_GNUC_UNUSED const char *argument)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (text, "/%s%s: %s\n", commands[i].name, commands[i].arguments,
                            commands[i].summary);
  g_string_append (
      text,
      "A code block (```) runs as it is, in this chat's session. Everything else goes to the model, if there "
      "is one. Files of up to 20 MB that you send are there for the code.");
  dialog_say (dialog, text->str);
}

json_t *
dialog_commands (void)
{
  json_t *list = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    json_array_append_new (
        list, json_pack ("{s:s, s:s}", "command", commands[i].name, "description", commands[i].summary));
  return list;
}

/* Whether WORD, "python" or "python@some_bot", is the command NAME of the bot BOT. */
static gboolean
is_named (const char *bot, const char *word, const char *name)
{
  gsize length = strcspn (word, "@");
  return strlen (name) == length && strncmp (word, name, length) == 0 &&
         (word[length] == '\0' || g_ascii_strcasecmp (word + length + 1, bot) == 0);
}

gboolean
dialog_is_stop (const json_t *message, const char *name)
{
  g_autofree char *text = g_strstrip (g_strdup (json_member_text (message, "text")));
  return text[0] == '/' && is_named (name, text + 1, "stop");
}

void
dialog_carry_out (struct dialog *dialog, const char *line)
{
  gsize length = strcspn (line, " \t\n");
  g_autofree char *word = g_strndup (line, length), *argument = g_strstrip (g_strdup (line + length));
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (is_named (dialog->world->name, word, commands[i].name)) {
      commands[i].carry_out (dialog, argument);
      return;
    }
  if (strchr (word, '@'))
    return; /* another bot's */
  g_autofree char *shown = text_one_line (word, 40),
                  *text = g_strdup_printf ("There is no /%s; /help lists what there is.", shown);
  dialog_say (dialog, text);
}
