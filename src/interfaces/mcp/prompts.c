/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts for users to start from. The first describes the tools to a model and is made from their table; the
 * others are tasks, worded for the caller's tool. A prompt without its tool is not listed. */
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "interfaces/mcp/memory.h"
#include "interfaces/mcp/resources.h"
#include "interfaces/mcp/tools.h"
#include "tools/call.h"

#define EMBEDDED_BYTES 65536 /* of a file put into a prompt whole; a longer one is named */
#define VALUE_BYTES    16384 /* of an argument */

struct prompt_argument {
  const char *name, *text;
  gboolean required;
};

struct prompt {
  const char *name, *title, *text;
  struct prompt_argument arguments[3]; /* the first without a name ends them */
  /* Tools that can do it, best first; none: it needs no tool. */
  const char *tools[6];
  /* Words for the model. %T is the tool, %1 the first argument, %2 the second; text between [ and ] is left
   * out without a second argument. */
  const char *words;
};

static const struct prompt prompts[] = {
    {"use_adder",
     "How to use these tools",
     "What a model should know of the tools of this server before it begins.",
     {{0}},
     {NULL},
     NULL},
    {"analyse_file",
     "Analyse a file",
     "Looks at a stored file and answers a question about it, by running code.",
     {{"file", "The file's id (file_id), as results and resources name it.", TRUE},
      {"question", "What to find out; otherwise what is notable.", FALSE}},
     {"load_file", "get_file"},
     "Analyse the file below with code, using the tool %T to have it at hand. Look at its shape and a few "
     "rows "
     "before you compute anything, say what you assume about its columns, and compute every number that you "
     "report. End with the answer in one paragraph, and show the code that led to it.[\n\nThe question: %2]"},
    {"plot",
     "Plot something",
     "Draws a figure with matplotlib and shows it.",
     {{"what", "What the figure shows, and of what data.", TRUE},
      {"file", "The id of a stored file with the data (file_id).", FALSE}},
     {"run_python", "execute_python"},
     "Draw what is said below with matplotlib, using the tool %T. Label the axes with units, choose the kind "
     "of "
     "plot by what is compared, and show the figure. Look at the picture that comes back, and correct what "
     "cannot be read in it.[ The data is in the file below.]\n\n%1"},
    {"compute_exactly",
     "Compute exactly",
     "Has every number computed by code and not by the model.",
     {{"question", "What is to be computed.", TRUE}},
     {"compute_with_python", "run_python", "execute_python"},
     "Answer the question by computing it with the tool %T; do no arithmetic, counting or spelling in your "
     "head."
     "\n\n%1"},
};

/* ---- which ---- */

/* The name of the tool for PROMPT, "" if it needs none, or NULL: they have none. */
static const char *
tool_of (struct mcp_request *request, const struct prompt *prompt)
{
  const struct toolset *toolset = mcp_toolset (request);
  const struct principal *principal = request->caller->principal;
  const struct tools *tools = mcp_server_memory (request->server)->service->tools;
  const struct role_caller caller = {principal->role, principal->read_only};
  if (!prompt->tools[0])
    return "";
  for (gsize i = 0; i < G_N_ELEMENTS (prompt->tools) && prompt->tools[i]; i++) {
    const struct toolset *found_in;
    const struct tool *tool;
    if (tool_find (toolset, prompt->tools[i], &found_in, &tool, NULL) &&
        toolset_shows (found_in, tool, request->caller->is_whole) &&
        tool_is_available (tools->config, tools->enablement, &caller, found_in, tool, NULL))
      return tool->name;
  }
  return NULL;
}

static json_t *
prompts_describe (const struct mcp_request *request, const struct prompt *prompt)
{
  const char *title = mcp_speaks (request, MCP_TITLES_VERSION) ? prompt->title : NULL;
  json_t *arguments = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (prompt->arguments) && prompt->arguments[i].name; i++)
    json_array_append_new (arguments,
                           json_pack ("{s:s, s:s, s:b}", "name", prompt->arguments[i].name, "description",
                                      prompt->arguments[i].text, "required", prompt->arguments[i].required));
  return json_pack ("{s:s, s:s*, s:s, s:o}", "name", prompt->name, "title", title, "description",
                    prompt->text, "arguments", arguments);
}

static json_t *
list_prompts (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  json_t *rows = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (prompts); i++)
    if (tool_of (request, &prompts[i]))
      json_array_append_new (rows, prompts_describe (request, &prompts[i]));
  return mcp_page (request, rows, cursor, most, ret_cursor);
}

static const struct prompt *
prompts_find (struct mcp_request *request, const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (prompts); i++)
    if (strcmp (prompts[i].name, name) == 0 && tool_of (request, &prompts[i]))
      return &prompts[i];
  return NULL;
}

/* ---- one ---- */

/* The values of PROMPT's arguments; NULL for a missing one. FALSE with a reply. */
static gboolean
take_values (struct mcp_request *request, const struct prompt *prompt, const json_t *arguments,
             const char *values[G_N_ELEMENTS (prompt->arguments)])
{
  for (gsize i = 0; i < G_N_ELEMENTS (prompt->arguments); i++) {
    const struct prompt_argument *argument = &prompt->arguments[i];
    const json_t *given = argument->name ? json_object_get (arguments, argument->name) : NULL;
    if (json_is_null (given))
      given = NULL;
    values[i] = json_string_value (given);
    if (values[i] && values[i][0] == '\0' && !argument->required)
      values[i] = NULL;
    if ((given && !json_is_string (given)) || json_string_length (given) > VALUE_BYTES) {
      mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s must be text of %d bytes at most", argument->name,
                   VALUE_BYTES);
      return FALSE;
    }
    if (argument->required && (!values[i] || values[i][0] == '\0')) {
      mcp_problem (request, MCP_INVALID_PARAMS, NULL, "the prompt needs the argument %s", argument->name);
      return FALSE;
    }
  }
  return TRUE;
}

static void
append_value (GString *text, char sign, const char *tool, const char *const *values)
{
  const char *value = sign == 'T' ? tool : sign == '1' ? values[0] : sign == '2' ? values[1] : NULL;
  g_string_append (text, value ? value : "");
}

/* The words of PROMPT with its placeholders filled in. The caller's. */
static char *
fill_in (const struct prompt *prompt, const char *tool, const char *const *values)
{
  GString *text = g_string_new (NULL);
  gboolean out = FALSE;
  for (const char *at = prompt->words; *at != '\0'; at++) {
    if (*at == '[' || *at == ']')
      out = *at == '[' && !values[1];
    else if (*at == '%' && at[1] != '\0') {
      at++;
      if (!out)
        append_value (text, *at, tool, values);
    } else if (!out)
      g_string_append_c (text, *at);
  }
  return g_string_free (text, FALSE);
}

/* Takes CONTENT. */
static void
add_message (json_t *messages, json_t *content)
{
  json_array_append_new (messages, json_pack ("{s:s, s:o}", "role", "user", "content", content));
}

/* Adds the file FILE_ID, whole or by its name. FALSE with a reply. */
static gboolean
prompts_add_file (struct mcp_request *request, json_t *messages, const char *file_id)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) file = NULL;
  json_t *contents = resource_file_contents (request, file_id, EMBEDDED_BYTES, &file, &problem);
  if (!contents && problem) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s", problem->message);
    return FALSE;
  }
  const char *id = json_member_text (file, "file_id"), *name = json_member_text (file, "name");
  g_autofree char *said = g_strdup_printf ("The file is called %s; its file_id is %s.", name, id);
  add_message (messages, mcp_text (said));
  if (contents && json_object_get (contents, "text"))
    add_message (messages, mcp_embedded (contents));
  else
    json_decref (contents);
  return TRUE;
}

static gboolean
get_prompt (struct mcp_request *request, const char *name, json_t *arguments)
{
  const char *values[G_N_ELEMENTS (prompts[0].arguments)];
  const struct prompt *prompt = prompts_find (request, name);
  if (!prompt)
    return FALSE;
  if (!take_values (request, prompt, arguments, values))
    return TRUE;
  json_t *messages = json_array ();
  g_autofree char *text =
      prompt->words ? fill_in (prompt, tool_of (request, prompt), values) : mcp_tools_prompt (request);
  gboolean done = TRUE;
  add_message (messages, mcp_text (text));
  for (gsize i = 0; done && i < G_N_ELEMENTS (values); i++)
    if (values[i] && strcmp (prompt->arguments[i].name, "file") == 0)
      done = prompts_add_file (request, messages, values[i]);
  if (done)
    mcp_result (request, json_pack ("{s:s, s:O}", "description", prompt->text, "messages", messages));
  json_decref (messages);
  return TRUE;
}

/* ---- completion ---- */

static gboolean
prompts_complete (struct mcp_request *request, const json_t *ref, const char *argument, const char *value,
                  G_GNUC_UNUSED const json_t *known)
{
  if (strcmp (json_member_text (ref, "type"), "ref/prompt") != 0 ||
      !prompts_find (request, json_member_text (ref, "name")))
    return FALSE;
  mcp_completion (request,
                  strcmp (argument, "file") == 0 ? resource_complete_files (request, value) : json_array ());
  return TRUE;
}

const struct mcp_provider mcp_provider_prompts = {
    .name = "prompts",
    .list_prompts = list_prompts,
    .get_prompt = get_prompt,
    .complete = prompts_complete,
};
