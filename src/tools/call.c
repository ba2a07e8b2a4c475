/* SPDX-License-Identifier: Apache-2.0 */
/* From a name and arguments to a handler's reply, and helpers for handlers. */
#include "tools/call.h"

#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "engine/request/outcome.h"
#include "library/library.h"
#include "operations/operation.h"
#include "store/store.h"
#include "tools/attached_files.h"
#include "tools/tool_enablement.h"

#define EXIT_OF_FAILED_CODE 1
#define VIOLATIONS_SHOWN    20
#define STANDARD_PROFILE    "standard"

struct tools *
tools_new (AdderEngine *engine)
{
  struct tools *tools = g_new0 (struct tools, 1);
  tools->engine = engine;
  tools->config = engine->engine->host->config;
  tools->enablement = tool_enablement_new ();
  tools->conversation_states = conversation_states_new (tools->config, engine->store, "value");
  tools->attached_files = conversation_states_new (tools->config, engine->store, "loaded file");
  return tools;
}

void
tools_free (struct tools *tools)
{
  if (!tools)
    return;
  tool_enablement_free (tools->enablement);
  conversation_states_free (tools->conversation_states);
  conversation_states_free (tools->attached_files);
  g_free (tools);
}

guint
tools_living_conversation_states (struct tools *tools)
{
  return conversation_states_living (tools->conversation_states) +
         conversation_states_living (tools->attached_files);
}

void
tools_reread_enablement (struct tools *tools)
{
  tool_enablement_reread (tools->enablement);
}

void
tool_reply_clear (struct tool_reply *reply)
{
  g_clear_pointer (&reply->value, json_decref);
}

/* ---- arguments ---- */

const char *
call_text (const struct call *call, const char *name)
{
  return json_string_value (json_object_get (call->arguments, name));
}

gint64
call_integer (const struct call *call, const char *name)
{
  return json_integer_value (json_object_get (call->arguments, name));
}

gboolean
call_flag (const struct call *call, const char *name)
{
  return json_is_true (json_object_get (call->arguments, name));
}

/* ---- replies ---- */

/* Whether the code was run, however it ended. */
static gboolean
call_code_ran (AdderOutcome outcome)
{
  switch (outcome) {
  case ADDER_OUTCOME_REFUSED:
  case ADDER_OUTCOME_APPROVAL_REQUIRED:
  case ADDER_OUTCOME_CANCELLED:
  case ADDER_OUTCOME_BUSY:
  case ADDER_OUTCOME_FAILED:
    return FALSE;
  default:
    return TRUE;
  }
}

void
call_reply (struct call *call, json_t *value, const struct ran *ran)
{
  const json_t *run_id = ran ? json_object_get (ran->result, "run_id") : NULL;
  if (json_is_string (run_id))
    json_object_set (value, "run_id", (json_t *)(guintptr)run_id);
  else
    json_object_set_new (value, "run_id", json_null ());
  call->reply->value = value;
  if (!ran || ran->outcome == ADDER_OUTCOME_OK)
    return;
  call->reply->is_error = TRUE;
  call->reply->is_of_code = call_code_ran (ran->outcome);
  call->reply->exit_code = ran->outcome == ADDER_OUTCOME_REFUSED ? ran->exit_code : EXIT_OF_FAILED_CODE;
}

static AdderOutcome
call_outcome_of (const GError *problem)
{
  static const struct {
    AdderError code;
    AdderOutcome outcome;
  } rows[] = {
      {ADDER_ERROR_BUSY, ADDER_OUTCOME_BUSY},
      {ADDER_ERROR_REFUSED, ADDER_OUTCOME_REFUSED},
      {ADDER_ERROR_CANCELLED, ADDER_OUTCOME_CANCELLED},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_error_matches (problem, ADDER_ERROR, (gint)rows[i].code))
      return rows[i].outcome;
  return ADDER_OUTCOME_FAILED;
}

static gboolean
is_fault (const GError *problem)
{
  static const AdderError of_callers[] = {ADDER_ERROR_INVALID,   ADDER_ERROR_NOT_FOUND, ADDER_ERROR_BUSY,
                                          ADDER_ERROR_CANCELLED, ADDER_ERROR_ENDED,     ADDER_ERROR_REFUSED,
                                          ADDER_ERROR_APPROVAL,  ADDER_ERROR_EXISTS};
  for (gsize i = 0; i < G_N_ELEMENTS (of_callers); i++)
    if (g_error_matches (problem, ADDER_ERROR, (gint)of_callers[i]))
      return FALSE;
  return TRUE;
}

/* A model has no terminal, and not every caller may learn where records and files are kept. */
void
call_fail (struct call *call, const GError *problem)
{
  g_autofree char *plain = error_told (problem, call->caller->at_terminal);
  const char *told = store_told (call->caller->owner, problem);
  call_reply (call, json_pack ("{s:o}", "error", json_text_or_null (told == problem->message ? plain : told)),
              NULL);
  call->reply->is_error = TRUE;
  call->reply->exit_code = outcome_exit_code (call_outcome_of (problem));
  call->reply->is_fault = is_fault (problem);
}

void
call_reply_value (struct call *call, json_t *value, const GError *problem)
{
  if (value)
    call_reply (call, value, NULL);
  else
    call_fail (call, problem);
}

/* ---- runs ---- */

AdderRequest *
call_request (const struct call *call, const char *code, const char *profile)
{
  AdderRequest *request = adder_request_new (code, -1);
  adder_request_set_profile (request, profile);
  adder_request_set_owner (request, call->caller->owner, call->caller->conversation);

  g_autofree char *tool = g_strdup_printf ("%s.%s", call->toolset->name, call->tool->name);
  library_set_origin (request, call->caller->front_end, tool, call->arguments);
  adder_request_set_role (request, call->caller->role);
  adder_request_set_profiles_allowed (request, call->caller->profiles);
  adder_request_set_description (request, call_text (call, "description"));
  adder_request_set_approval (request, call->caller->approval);
  adder_request_set_accept_all (request, call->caller->accept_all);
  adder_request_set_watch (request, call->caller->watch_fd);
  adder_request_set_pictures (request, call->caller->picture_bytes, call->caller->picture_side);
  library_set_pictures_bytes (request, call->caller->pictures_bytes);
  return request;
}

gboolean
call_set_directory (const struct call *call, AdderRequest *request, GError **error)
{
  const struct tool_caller *caller = call->caller;
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)caller->variables, name, value)
      adder_request_set_variable (request, name, json_string_value (value));
  library_set_python (request, caller->python);
  return caller->directory_fd < 0 ||
         adder_request_set_workdir (request, caller->directory_fd, caller->directory, "rw", error);
}

gboolean
call_set_timeout (const struct call *call, AdderRequest *request, const char *profile, gint64 seconds,
                  GError **error)
{
  struct profile_entry *entry = NULL;
  const struct profile *found =
      profile_cache_get (&call->tools->engine->profiles, profile ? profile : STANDARD_PROFILE, &entry, error);
  if (!found)
    return FALSE;
  guint64 wall_ms = (guint64)seconds * 1000, cpu_ms = profile_cpu_ms (found, wall_ms);
  profile_entry_unref (entry);
  return adder_request_set_limit (request, "wall_ms", wall_ms, error) &&
         (cpu_ms == 0 || adder_request_set_limit (request, "cpu_ms", cpu_ms, error));
}

gboolean
ran_is_timeout (const struct ran *ran)
{
  return ran->outcome == ADDER_OUTCOME_TIMEOUT || ran->outcome == ADDER_OUTCOME_CPU_LIMIT;
}

void
ran_clear (struct ran *ran)
{
  g_clear_pointer (&ran->result, json_decref);
}

const char *
ran_text (const struct ran *ran, const char *member)
{
  return json_member_text (ran->result, member);
}

const char *
ran_error (const struct ran *ran, const char *member)
{
  return json_member_text (json_object_get (ran->result, "error"), member);
}

static void
call_append_line (GString *text, const char *line)
{
  if (text->len > 0 && text->str[text->len - 1] != '\n')
    g_string_append_c (text, '\n');
  g_string_append (text, line);
  if (line[0] != '\0' && !g_str_has_suffix (line, "\n"))
    g_string_append_c (text, '\n');
}

char *
ran_advice (const struct ran *ran)
{
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *denial;
  json_array_foreach (json_object_get (ran->result, "denials"), index, denial)
  {
    const char *hint = json_string_value (json_object_get (denial, "hint"));
    g_string_append_printf (
        text, "Denied: %s: %s%s%s\n", json_string_value (json_object_get (denial, "kind")),
        json_string_value (json_object_get (denial, "detail")), hint ? ". " : "", hint ? hint : "");
  }
  if (text->len == 0)
    call_append_line (text, ran_error (ran, "hint"));
  return g_string_free (text, FALSE);
}

char *
ran_refusal (const struct ran *ran)
{
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *violation;
  json_array_foreach (json_object_get (ran->result, "violations"), index, violation)
  {
    const char *hint = json_string_value (json_object_get (violation, "hint"));
    if (index == VIOLATIONS_SHOWN)
      break;
    g_string_append_printf (text, "%sline %" JSON_INTEGER_FORMAT ": %s: %s%s%s%s", index > 0 ? "\n" : "",
                            json_integer_value (json_object_get (violation, "line")),
                            json_string_value (json_object_get (violation, "rule")),
                            json_string_value (json_object_get (violation, "text")), hint ? " (" : "",
                            hint ? hint : "", hint ? ")" : "");
  }
  if (text->len == 0)
    g_string_append (text, ran_error (ran, "message"));
  return g_string_free (text, FALSE);
}

char *
ran_stderr (const struct ran *ran)
{
  GString *text = g_string_new (ran_text (ran, "stderr"));
  const char *traceback = ran_error (ran, "traceback");
  call_append_line (text, traceback);
  if (ran->outcome == ADDER_OUTCOME_REFUSED) {
    g_autofree char *refusal = ran_refusal (ran);
    call_append_line (text, refusal);
  } else if (ran->outcome == ADDER_OUTCOME_ERROR) {
    /* The message of sys.exit() is on standard error, and a traceback ends in its message. */
    g_autofree char *advice = ran_advice (ran);
    call_append_line (text, advice);
  } else if (!strstr (traceback, ran_error (ran, "message")))
    call_append_line (text, ran_error (ran, "message"));
  return g_string_free (text, FALSE);
}

static void
reply_not_run (struct call *call, const struct ran *ran)
{
  json_t *value = json_pack ("{s:s}", "error", ran_error (ran, "message"));
  json_t *approval = json_object_get (ran->result, "approval_id");
  if (json_is_string (approval))
    json_object_set (value, "approval_id", approval);
  call_reply (call, value, ran);
  call->reply->exit_code = ran->exit_code;
  call->reply->is_fault = ran->outcome == ADDER_OUTCOME_FAILED;
}

gboolean
call_take_result (struct call *call, AdderResult *result, struct ran *ret_ran)
{
  struct ran ran = {.outcome = adder_result_outcome (result), .exit_code = adder_result_exit_code (result)};
  ran.result = library_result (result);
  adder_result_free (result);
  /* A refusal says something about the code as well; any other failed run says nothing. */
  if (call_code_ran (ran.outcome) || ran.outcome == ADDER_OUTCOME_REFUSED) {
    attached_files_end (call);
    *ret_ran = ran;
    return TRUE;
  }
  reply_not_run (call, &ran);
  ran_clear (&ran);
  return FALSE;
}

gboolean
call_next (struct call *call, AdderRun *run, AdderEvent *event)
{
  gboolean more = adder_run_next (run, event) && event->kind != ADDER_EVENT_RESULT;
  if (more && call->caller->saw)
    call->caller->saw (call->caller->saw_data, run, event);
  return more;
}

gboolean
call_run (struct call *call, AdderRequest *request, struct ran *ret_ran)
{
  g_autoptr (AdderRun) run = adder_run_start (call->tools->engine, request);
  AdderEvent event;
  adder_request_free (request);
  while (call_next (call, run, &event))
    ;
  return call_take_result (call, event.result, ret_ran);
}

/* ---- the call ---- */

json_t *
call_operation (const struct call *call, const char *name, json_t *params, GError **error)
{
  struct operation_caller caller = OPERATION_CALLER (call->tools->engine, call->caller->owner, ROLE_GUEST);
  caller.front_end = call->caller->front_end;
  return operation_call (&caller, name, params, error);
}

static void
call_handle_operation (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  json_t *arguments = json_incref ((json_t *)(guintptr)call->arguments);
  json_t *value = call_operation (call, call->tool->operation, arguments, &problem);
  call_reply_value (call, value, problem);
}

/* [roles] of the configuration may name a tool with or without its toolset. */
gboolean
tool_is_available (const struct config *config, struct tool_enablement *enablement,
                   const struct role_caller *caller, const struct toolset *toolset, const struct tool *tool,
                   GError **error)
{
  gboolean executes = (tool->hints & TOOL_EXECUTES) != 0;
  g_autofree char *dotted = g_strdup_printf ("%s.%s", toolset->name, tool->name);
  if (!role_may_use_tool (config, caller, dotted, tool->role, executes, NULL) &&
      !role_may_use_tool (config, caller, tool->name, tool->role, executes, error))
    return FALSE;
  return tool_enablement_is_on (enablement, toolset, tool, error);
}

static gboolean
parse_caller (const struct config *config, const struct tool_caller *caller, struct role_caller *ret_caller,
              GError **error)
{
  struct role_caller parsed = {.role = role_default (config), .read_only = caller->read_only};
  if (caller->conversation && strlen (caller->conversation) > ADDER_CONVERSATION_BYTES) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the conversation's id is longer than %d bytes",
                 ADDER_CONVERSATION_BYTES);
    return FALSE;
  }
  if (caller->role && !role_parse (caller->role, &parsed.role, error))
    return FALSE;
  *ret_caller = parsed;
  return TRUE;
}

/* A caller bound to one toolset has no other, under any name. */
static gboolean
may_use_toolset (const struct tool_caller *caller, const struct toolset *toolset, GError **error)
{
  if (!caller->toolset || strcmp (caller->toolset, toolset->name) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "this caller may use the toolset %s alone, and the tool is of the toolset %s", caller->toolset,
               toolset->name);
  return FALSE;
}

static gboolean
call_find (struct tools *tools, const char *toolset, const char *name, const struct tool_caller *caller,
           struct call *call, GError **error)
{
  struct role_caller parsed;
  const char *wanted = toolset ? toolset : caller->toolset;
  const struct toolset *chosen = wanted ? toolset_find (wanted, error) : NULL;
  return (chosen || !wanted) && tool_find (chosen, name, &call->toolset, &call->tool, error) &&
         may_use_toolset (caller, call->toolset, error) &&
         parse_caller (tools->config, caller, &parsed, error) &&
         tool_is_available (tools->config, tools->enablement, &parsed, call->toolset, call->tool, error);
}

void
tools_call (struct tools *tools, const char *toolset, const char *name, const json_t *arguments,
            const struct tool_caller *caller, struct tool_reply *ret_reply)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) checked = NULL;
  *ret_reply = (struct tool_reply){0};
  struct tool_caller asking = *caller;
  struct call call = {.tools = tools, .caller = &asking, .reply = ret_reply, .cancel_fd = -1};
  /* A caller without an id may send an empty one. */
  if (asking.conversation && asking.conversation[0] == '\0')
    asking.conversation = NULL;
  if (call_find (tools, toolset, name, caller, &call, &problem))
    checked = field_check (call.tool->parameters, call.tool->name, arguments, &problem);
  call.arguments = checked;
  if (!checked)
    call_fail (&call, problem);
  else if (call.tool->operation)
    call_handle_operation (&call);
  else
    call.tool->handle (&call);
  g_free (call.attached);
  call_progress_clear (&call);
}
