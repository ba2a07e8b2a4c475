/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/toolbox.h"

#include <string.h>

#include "adder.h"
#include "apps/agent/external.h"
#include "apps/agent/plain_schema.h"
#include "apps/agent/prompts.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/socket/server_tools.h"
#include "tools/format.h"
#include "tools/installed.h"
#include "tools/schema.h"
#include "tools/tool_enablement.h"

#define NAME_BYTES 100
#define READS_ON   "peek_result"

struct toolbox {
  struct toolbox_settings settings;
  struct tool_enablement *enablement;
  struct role_caller caller;
  GHashTable *on;     /* name of a toolset's tool: its row */
  GHashTable *faults; /* name: how often running */
};

/* ---- report_completion ---- */

static json_t *
describe_completion (void)
{
  json_t *schema =
      json_pack ("{s:s, s:{s:{s:s, s:s}, s:{s:s, s:s}}, s:[s, s], s:b}", "type", "object", "properties",
                 "completed", "type", "boolean", "description", prompt_text (PROMPT_COMPLETED), "answer",
                 "type", "string", "description", prompt_text (PROMPT_ANSWER), "required", "completed",
                 "answer", "additionalProperties", 0);
  return json_pack ("{s:s, s:s, s:o}", "name", TOOLBOX_COMPLETION, "description",
                    prompt_text (PROMPT_COMPLETION), "parameters", schema);
}

static void
toolbox_report (const json_t *arguments, struct called *called)
{
  gboolean fits = json_is_boolean (json_object_get (arguments, "completed")) &&
                  json_is_string (json_object_get (arguments, "answer"));
  called_refuse (called, fits ? prompt_text (PROMPT_DONE)
                              : TOOLBOX_COMPLETION " needs completed, true or false, and answer, a text");
  called->is_completion = fits;
  called->is_error = !fits;
}

/* ---- what there is ---- */

static gboolean
toolbox_check_names (const struct toolbox *toolbox, GError **error)
{
  const struct toolset *toolset = toolbox->settings.toolset;
  const GPtrArray *external = toolbox->settings.external;
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_add (names, (gpointer)(guintptr)TOOLBOX_COMPLETION);
  for (gsize i = 0; toolset && i < toolset->count; i++)
    g_hash_table_add (names, (gpointer)(guintptr)toolset->tools[i].name);
  for (guint i = 0; external && i < external->len; i++) {
    const struct external *tool = g_ptr_array_index (external, i);
    if (!g_hash_table_add (names, tool->name)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there are two tools with the name %s",
                   tool->name);
      return FALSE;
    }
  }
  return TRUE;
}

struct toolbox *
toolbox_new (const struct toolbox_settings *settings, GError **error)
{
  struct toolbox *toolbox = g_new0 (struct toolbox, 1);
  toolbox->settings = *settings;
  toolbox->enablement = tool_enablement_new ();
  toolbox->on = g_hash_table_new (g_str_hash, g_str_equal);
  toolbox->faults = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  toolbox->caller = (struct role_caller){role_default (settings->config), settings->read_only};
  if ((settings->role && !role_parse (settings->role, &toolbox->caller.role, error)) ||
      !toolbox_check_names (toolbox, error))
    g_clear_pointer (&toolbox, toolbox_free);
  else
    toolbox_refresh (toolbox);
  return toolbox;
}

void
toolbox_free (struct toolbox *toolbox)
{
  if (!toolbox)
    return;
  tool_enablement_free (toolbox->enablement);
  g_hash_table_unref (toolbox->on);
  g_hash_table_unref (toolbox->faults);
  g_free (toolbox);
}

static gboolean
is_left_out (const struct toolbox *toolbox, const char *name)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (toolbox->faults, name)) >= TOOLBOX_FAULTS;
}

void
toolbox_refresh (struct toolbox *toolbox)
{
  const struct toolset *toolset = toolbox->settings.toolset;
  g_hash_table_remove_all (toolbox->on);
  tool_enablement_reread (toolbox->enablement);
  for (gsize i = 0; toolset && i < toolset->count; i++) {
    const struct tool *tool = &toolset->tools[i];
    if (!is_left_out (toolbox, tool->name) &&
        tool_is_available (toolbox->settings.config, toolbox->enablement, &toolbox->caller, toolset, tool,
                           NULL))
      g_hash_table_insert (toolbox->on, (gpointer)(guintptr)tool->name, (gpointer)(guintptr)tool);
  }
  toolbox->settings.place.reads_on = g_hash_table_contains (toolbox->on, READS_ON);
}

static gboolean
is_on (G_GNUC_UNUSED const struct toolset *toolset, const struct tool *tool, void *data)
{
  const struct toolbox *toolbox = data;
  return g_hash_table_contains (toolbox->on, tool->name);
}

static const struct external *
find_external (const struct toolbox *toolbox, const char *name)
{
  const GPtrArray *external = toolbox->settings.external;
  for (guint i = 0; external && i < external->len; i++) {
    const struct external *tool = g_ptr_array_index (external, i);
    if (strcmp (tool->name, name) == 0)
      return tool;
  }
  return NULL;
}

static json_t *
toolbox_describe (const char *name, const char *description, const json_t *parameters)
{
  return json_pack ("{s:s, s:s, s:o}", "name", name, "description", description, "parameters",
                    plain_schema (parameters));
}

static char *
describe_installed (const struct toolbox *toolbox, const struct tool *tool)
{
  const struct toolbox_settings *settings = &toolbox->settings;
  return installed_describe (settings->toolset, tool, settings->config, settings->context->python);
}

json_t *
toolbox_list (const struct toolbox *toolbox)
{
  const struct toolset *toolset = toolbox->settings.toolset;
  const GPtrArray *external = toolbox->settings.external;
  json_t *list = json_array ();
  for (gsize i = 0; toolset && i < toolset->count; i++) {
    const struct tool *tool = &toolset->tools[i];
    g_autoptr (json_t) parameters = schema_input_strict (tool);
    if (!g_hash_table_contains (toolbox->on, tool->name))
      continue;
    g_autofree char *description = describe_installed (toolbox, tool);
    json_array_append_new (list, toolbox_describe (tool->name, description, parameters));
  }
  for (guint i = 0; external && i < external->len; i++) {
    const struct external *tool = g_ptr_array_index (external, i);
    json_array_append_new (list, toolbox_describe (tool->name, tool->description, tool->parameters));
  }
  if (toolbox->settings.reports)
    json_array_append_new (list, describe_completion ());
  return list;
}

char *
toolbox_prompt (const struct toolbox *toolbox)
{
  const GPtrArray *external = toolbox->settings.external;
  g_autofree char *of_toolset =
      toolbox->settings.toolset ? tool_prompt (toolbox->settings.toolset, is_on, (gpointer)(guintptr)toolbox)
                                : NULL;
  GString *text = g_string_new (of_toolset);
  for (guint i = 0; external && i < external->len; i++) {
    const struct external *tool = g_ptr_array_index (external, i);
    if (i == 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", prompt_text (PROMPT_OTHER_TOOLS));
    g_string_append_printf (text, "- %s: %s\n", tool->name, tool->description);
  }
  return g_string_free (text, FALSE);
}

void
toolbox_let_see (struct toolbox *toolbox, gboolean sees)
{
  toolbox->settings.place.sees = sees;
}

/* ---- replies ---- */

void
called_clear (struct called *called)
{
  reply_clear (&called->reply);
  g_clear_pointer (&called->note, g_free);
  g_clear_pointer (&called->left_out, g_free);
}

void
called_refuse (struct called *ret_called, const char *text)
{
  *ret_called = (struct called){.is_error = TRUE};
  ret_called->reply = (struct reply){g_strdup (text), json_array (), json_array (), 0};
}

static void
toolbox_take_value (struct toolbox *toolbox, json_t *value, gboolean is_error, struct called *called)
{
  reply_make (value, &toolbox->settings.place, &called->reply, &called->note);
  called->is_error = is_error;
}

/* Faults of a tool that follow each other. The third one is its last. */
static void
count_fault (struct toolbox *toolbox, const char *name, gboolean is_fault, struct called *called)
{
  guint times = GPOINTER_TO_UINT (g_hash_table_lookup (toolbox->faults, name)) + 1;
  if (!is_fault) {
    g_hash_table_remove (toolbox->faults, name);
    return;
  }
  g_hash_table_insert (toolbox->faults, g_strdup (name), GUINT_TO_POINTER (times));
  if (times == TOOLBOX_FAULTS)
    called->left_out = prompt_fill (PROMPT_WITHOUT_TOOL, name, NULL);
}

/* ---- tools of the toolset ---- */

static json_t *
toolbox_make_question (const struct toolbox *toolbox, const struct tool *tool, json_t *arguments)
{
  const struct toolbox_settings *settings = &toolbox->settings;
  const struct tool_caller caller = {
      .conversation = settings->conversation,
      .role = settings->role,
      .read_only = settings->read_only,
      .directory = settings->context->path,
      .variables = settings->context->variables,
      .python = settings->context->python,
      .accept_all = settings->accept_all,
  };
  return server_tools_question (tool->name, settings->toolset->name, arguments, &caller);
}

static json_t *
toolbox_ask (const struct toolbox *toolbox, const json_t *question, GError **error)
{
  return call_backend_call (toolbox->settings.backend, question, toolbox->settings.context->fd, error);
}

void
toolbox_end_conversation (struct toolbox *toolbox)
{
  const struct toolset *toolset = toolbox->settings.toolset;
  const char *ending = toolset ? toolset->ending : NULL;
  const struct tool *tool = ending ? g_hash_table_lookup (toolbox->on, ending) : NULL;
  g_autoptr (json_t) question = tool ? toolbox_make_question (toolbox, tool, json_object ()) : NULL;
  if (question)
    json_decref (toolbox_ask (toolbox, question, NULL));
}

/* Once more, where somebody decided. *RET_NOBODY: nobody did. */
static json_t *
ask_approved (struct toolbox *toolbox, json_t *question, gboolean *ret_nobody, GError **error)
{
  const struct toolbox_settings *settings = &toolbox->settings;
  g_autoptr (json_t) answer = toolbox_ask (toolbox, question, error);
  const char *id = json_string_value (json_object_get (json_object_get (answer, "reply"), "approval_id"));
  if (!id)
    return g_steal_pointer (&answer);
  enum approval_end end =
      settings->approve ? settings->approve (settings->approve_data, id, NULL) : APPROVAL_END_UNDECIDED;
  *ret_nobody = end != APPROVAL_END_DECIDED;
  if (*ret_nobody)
    return g_steal_pointer (&answer);
  json_object_set_new (question, "approval", json_string (id));
  return toolbox_ask (toolbox, question, error);
}

static void
toolbox_call_tool (struct toolbox *toolbox, const struct tool *tool, const json_t *arguments,
                   struct called *called)
{
  g_autoptr (GError) problem = NULL;
  gboolean nobody = FALSE;
  json_t *checked = field_check (tool->parameters, tool->name, arguments, &problem);
  g_autoptr (json_t) question = checked ? toolbox_make_question (toolbox, tool, checked) : NULL;
  if (!question) {
    called_refuse (called, problem ? problem->message : "an argument is not UTF-8");
    return;
  }
  g_autoptr (json_t) answer = ask_approved (toolbox, question, &nobody, &problem);
  if (nobody)
    called_refuse (called, prompt_text (PROMPT_NO_APPROVAL));
  else if (answer)
    toolbox_take_value (toolbox, json_object_get (answer, "reply"),
                        json_integer_value (json_object_get (answer, "exit_code")) != 0, called);
  else
    called_refuse (called, problem ? problem->message : "there was no answer");
  gboolean cancelled = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_CANCELLED);
  count_fault (toolbox, tool->name,
               (!answer && !cancelled) || json_is_true (json_object_get (answer, "fault")), called);
}

/* ---- tools of the user's own ---- */

static void
call_external (struct toolbox *toolbox, const struct external *tool, const json_t *arguments,
               struct called *called)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) value = NULL;
  if (external_call (tool, arguments, toolbox->settings.cancel_fd, &value, &problem))
    toolbox_take_value (toolbox, value, json_is_string (json_object_get (value, "error")), called);
  else {
    g_autofree char *text = g_strdup_printf ("%s: %s", tool->name, problem->message);
    called_refuse (called, text);
  }
}

/* ---- calls ---- */

static void
call_nothing (const struct toolbox *toolbox, const char *name, struct called *called)
{
  g_autoptr (json_t) list = toolbox_list (toolbox);
  g_autoptr (GString) names = g_string_new (NULL);
  g_autofree char *shown = text_one_line (name, NAME_BYTES);
  gsize index;
  json_t *tool;
  json_array_foreach (list, index, tool)
      g_string_append_printf (names, "%s%s", index > 0 ? ", " : "", json_member_text (tool, "name"));
  g_autofree char *text = prompt_fill (PROMPT_UNKNOWN_TOOL, shown, names->str);
  called_refuse (called, text);
}

void
toolbox_call (struct toolbox *toolbox, const char *name, const json_t *arguments, struct called *ret_called)
{
  const struct tool *tool = g_hash_table_lookup (toolbox->on, name);
  const struct external *external = find_external (toolbox, name);
  *ret_called = (struct called){0};
  if (tool)
    toolbox_call_tool (toolbox, tool, arguments, ret_called);
  else if (external)
    call_external (toolbox, external, arguments, ret_called);
  else if (toolbox->settings.reports && strcmp (name, TOOLBOX_COMPLETION) == 0)
    toolbox_report (arguments, ret_called);
  else
    call_nothing (toolbox, name, ret_called);
}
