/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/agent.h"

#include <string.h>

#include "adder.h"
#include "apps/agent/cancel_token.h"
#include "apps/agent/prompts.h"
#include "apps/agent/repeats.h"
#include "apps/agent/steps.h"
#include "common/json.h"
#include "engine/host/id.h"

const char *const agent_reason_names[] = {
    [AGENT_COMPLETED] = "completed", [AGENT_FAILED] = "failed", [AGENT_STEPS] = "steps",
    [AGENT_TOKENS] = "tokens",       [AGENT_TIME] = "time",     [AGENT_COST] = "cost",
    [AGENT_LOOP] = "loop",           [AGENT_MODEL] = "model",   [AGENT_CANCELLED] = "cancelled",
};

static const enum agent_reason budget_reasons[BUDGET_ITEMS] = {
    [BUDGET_STEPS] = AGENT_STEPS,
    [BUDGET_TOKENS] = AGENT_TOKENS,
    [BUDGET_TIME] = AGENT_TIME,
    [BUDGET_COST] = AGENT_COST,
};

struct listener {
  const struct agent_events *events;
  gpointer data;
};

struct agent {
  struct agent_settings settings;
  char *conversation;
  struct toolbox *toolbox;
  struct cancel_token *cancel_token;
  GArray *listeners; /* struct listener */
  json_t *messages;
  gboolean has_called; /* some tool: its conversation may keep something */
  /* of the turn under way */
  struct agent_turn *turn;
  struct repeats repeats;
  guint unreadable; /* answers running */
  guint reminders;  /* answers of words alone, running */
  gboolean over;
};

/* ---- life ---- */

struct agent *
agent_new (const struct agent_settings *settings, GError **error)
{
  char id[ID_BYTES];
  id_make (id);
  struct agent *agent = g_new0 (struct agent, 1);
  agent->settings = *settings;
  agent->messages = json_array ();
  agent->listeners = g_array_new (FALSE, FALSE, sizeof (struct listener));
  agent->conversation = settings->tools.conversation ? g_strdup (settings->tools.conversation)
                                                     : g_strdup_printf ("agent-%s", id);
  agent->cancel_token = cancel_token_new (settings->tools.backend, error);
  if (!agent->cancel_token) {
    agent_free (agent);
    return NULL;
  }
  struct toolbox_settings tools = settings->tools;
  tools.conversation = agent->conversation;
  tools.cancel_fd = cancel_token_fd (agent->cancel_token);
  tools.place.sees = model_facts (settings->model)->sees;
  agent->toolbox = toolbox_new (&tools, error);
  if (!agent->toolbox)
    g_clear_pointer (&agent, agent_free);
  return agent;
}

void
agent_free (struct agent *agent)
{
  if (!agent)
    return;
  if (agent->toolbox && agent->has_called && !agent->settings.tools.conversation)
    toolbox_end_conversation (agent->toolbox);
  toolbox_free (agent->toolbox);
  cancel_token_free (agent->cancel_token);
  repeats_clear (&agent->repeats);
  g_array_unref (agent->listeners);
  json_decref (agent->messages);
  g_free (agent->conversation);
  g_free (agent);
}

void
agent_listen (struct agent *agent, const struct agent_events *events, gpointer data)
{
  const struct listener listener = {events, data};
  g_array_append_val (agent->listeners, listener);
}

void
agent_cancel (struct agent *agent)
{
  cancel_token_cancel (agent->cancel_token);
}

gint64
agent_deadline_us (const struct agent *agent)
{
  return agent->turn ? budget_deadline_us (&agent->turn->budget) : 0;
}

const char *
agent_conversation (const struct agent *agent)
{
  return agent->conversation;
}

void
agent_use_model (struct agent *agent, struct model *model)
{
  agent->settings.model = model;
  toolbox_let_see (agent->toolbox, model_facts (model)->sees);
}

struct toolbox *
agent_toolbox (struct agent *agent)
{
  return agent->toolbox;
}

void
agent_forget (struct agent *agent)
{
  json_array_clear (agent->messages);
}

/* ---- events ---- */

#define TELL(agent, event, ...)                                                                              \
  for (guint i_ = 0; i_ < (agent)->listeners->len; i_++) {                                                   \
    const struct listener *listener_ = &g_array_index ((agent)->listeners, struct listener, i_);             \
    if (listener_->events->event)                                                                            \
      listener_->events->event (listener_->data, __VA_ARGS__);                                               \
  }

static void
agent_tell_text (gpointer data, const char *text, gsize length)
{
  const struct agent *agent = data;
  TELL (agent, text, text, length)
}

static void
tell_note (const struct agent *agent, const char *text)
{
  TELL (agent, note, text)
}

/* ---- the turn ---- */

void
agent_turn_clear (struct agent_turn *turn)
{
  g_clear_pointer (&turn->answer, g_free);
  g_clear_pointer (&turn->message, g_free);
}

json_t *
agent_turn_json (const struct agent_turn *turn)
{
  const struct budget *budget = &turn->budget;
  json_t *cost = budget->cost_unknown ? json_null () : json_real ((double)budget->used[BUDGET_COST] / 1e6);
  return json_pack ("{s:b, s:s, s:o, s:o, s:I, s:I, s:b, s:o, s:I}", "completed",
                    turn->reason == AGENT_COMPLETED, "reason", agent_reason_names[turn->reason], "answer",
                    json_text_or_null (turn->answer), "message", json_text_or_null (turn->message), "steps",
                    (json_int_t)budget->used[BUDGET_STEPS], "tokens", (json_int_t)budget->used[BUDGET_TOKENS],
                    "tokens_estimated", budget->estimated, "cost", cost, "took_ms",
                    (json_int_t)turn->took_ms);
}

/* The first end is the one that counts. Takes MESSAGE. */
static void
agent_end (struct agent *agent, enum agent_reason reason, char *message)
{
  if (!agent->over) {
    agent->turn->reason = reason;
    agent->turn->message = g_steal_pointer (&message);
  }
  g_free (message);
  agent->over = TRUE;
}

/* Whether somebody or the clock stopped it, which ends it. */
static gboolean
agent_is_stopped (struct agent *agent)
{
  switch (cancel_token_reason (agent->cancel_token)) {
  case CANCEL_REASON_CANCELLED:
    agent_end (agent, AGENT_CANCELLED, g_strdup ("it was cancelled"));
    return TRUE;
  case CANCEL_REASON_TIME:
    agent_end (agent, AGENT_TIME, budget_say (&agent->turn->budget, BUDGET_TIME));
    return TRUE;
  case CANCEL_REASON_NONE:
  default:
    return FALSE;
  }
}

static void
agent_set_answer (struct agent *agent, const char *text)
{
  g_free (agent->turn->answer);
  agent->turn->answer = g_strdup (text);
}

/* ---- the question ---- */

/* The caller's. */
static char *
make_instructions (const struct agent *agent)
{
  const struct agent_settings *settings = &agent->settings;
  g_autofree char *tools = toolbox_prompt (agent->toolbox);
  const char *intro =
      settings->intro ? settings->intro : prompt_text (settings->typed ? PROMPT_TYPED : PROMPT_NATIVE);
  GString *text = g_string_new (intro);
  if (tools[0])
    g_string_append_printf (text, "\n\n%s", tools);
  if (settings->tools.reports) {
    g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, agent->turn->budget.most[BUDGET_STEPS]);
    g_autofree char *steps = prompt_fill (PROMPT_STEPS, number, NULL);
    g_string_append_printf (text, "\n%s", steps);
  }
  return g_string_free (text, FALSE);
}

static void
tell_asking (const struct agent *agent)
{
  guint64 step = agent->turn->budget.used[BUDGET_STEPS] + 1;
  TELL (agent, asking, step)
}

/* Nothing was answered to what the user said last: it was not said. */
static void
agent_take_back (struct agent *agent)
{
  gsize count = json_array_size (agent->messages);
  const json_t *last = count > 0 ? json_array_get (agent->messages, count - 1) : NULL;
  if (agent->turn->budget.used[BUDGET_STEPS] == 0 && strcmp (json_member_text (last, "role"), "user") == 0)
    json_array_remove (agent->messages, count - 1);
}

static void
end_unanswered (struct agent *agent, const GError *problem)
{
  agent_take_back (agent);
  if (agent_is_stopped (agent))
    return;
  if (g_get_monotonic_time () >= budget_deadline_us (&agent->turn->budget)) {
    agent_end (agent, AGENT_TIME, budget_say (&agent->turn->budget, BUDGET_TIME));
    return;
  }
  agent->turn->is_fault = TRUE;
  agent_end (agent, AGENT_MODEL, g_strdup (problem->message));
}

static gboolean
agent_ask (struct agent *agent, struct model_answer *ret_answer)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *instructions = make_instructions (agent);
  json_t *list = toolbox_list (agent->toolbox);
  g_autoptr (json_t) tools = agent->settings.typed ? steps_tools (list) : json_incref (list);
  json_decref (list);
  const struct model_question question = {
      .instructions = instructions,
      .messages = agent->messages,
      .tools = json_array_size (tools) > 0 ? tools : NULL,
      .tool = agent->settings.typed ? STEPS_TOOL : NULL,
      .deadline_us = budget_deadline_us (&agent->turn->budget),
      .cancel_fd = cancel_token_fd (agent->cancel_token),
      .saw = agent_tell_text,
      .saw_data = agent,
  };
  tell_asking (agent);
  if (!model_ask (agent->settings.model, &question, ret_answer, &problem)) {
    end_unanswered (agent, problem);
    return FALSE;
  }
  budget_spend (&agent->turn->budget, &ret_answer->usage,
                json_dumpb (agent->messages, NULL, 0, 0) + strlen (instructions),
                json_dumpb (ret_answer->message, NULL, 0, 0));
  return TRUE;
}

/* ---- steps, as listeners get them ---- */

static json_t *
agent_or_null (const json_t *value)
{
  return value ? json_incref ((json_t *)(guintptr)value) : json_null ();
}

static json_t *
step_json (const struct agent *agent, const struct step *step)
{
  return json_pack ("{s:I, s:s?, s:{s:s?, s:o}}", "step", (json_int_t)agent->turn->budget.used[BUDGET_STEPS],
                    "current_state", step->state, "function", "name", step->name, "arguments",
                    agent_or_null (step->arguments));
}

/* ---- one call ---- */

struct calling {
  const struct model_answer *answer;
  gsize index, count; /* of the answer's calls */
  gboolean reported;  /* by one before it */
};

static void
refuse_unreadable (struct agent *agent, const GError *problem, struct called *called)
{
  const char *advice = agent->settings.typed ? prompt_text (PROMPT_NO_CALL_TYPED) : "";
  g_autofree char *text = g_strdup_printf ("%s. %s", problem->message, advice);
  called_refuse (called, g_strchomp (text));
}

/* Budgets are of steps, so a step has an end as well. */
static void
refuse_further (struct called *called)
{
  g_autofree char *most = g_strdup_printf ("%d", AGENT_CALLS);
  g_autofree char *text = prompt_fill (PROMPT_TOO_MANY, most, NULL);
  called_refuse (called, text);
}

static void
call_unless_repeated (struct agent *agent, const struct step *step, struct called *called)
{
  enum repeats_verdict verdict = repeats_see (&agent->repeats, step->name, step->arguments);
  if (verdict == REPEATS_RUN) {
    agent->has_called = TRUE;
    toolbox_call (agent->toolbox, step->name, step->arguments, called);
    return;
  }
  called_refuse (called, prompt_text (PROMPT_REPEATED));
  if (verdict == REPEATS_OVER)
    agent_end (
        agent, AGENT_LOOP,
        g_strdup_printf ("the model made the same call of %s %d times running", step->name, REPEATS_END));
}

/* Carries out the step, or says why not. */
static void
agent_carry_out (struct agent *agent, struct calling *calling, const struct step *step, const GError *problem,
                 struct called *called)
{
  if (calling->reported)
    called_refuse (called, prompt_text (PROMPT_AFTER_REPORT));
  else if (agent->over || agent_is_stopped (agent))
    called_refuse (called, prompt_text (PROMPT_CANCELLED));
  else if (problem)
    refuse_unreadable (agent, problem, called);
  else if (agent->settings.typed && calling->index > 0)
    called_refuse (called, prompt_text (PROMPT_ONE_AT_A_TIME));
  else if (calling->index >= AGENT_CALLS)
    refuse_further (called);
  else
    call_unless_repeated (agent, step, called);
  if (agent_is_stopped (agent) && called->is_error) {
    called_clear (called);
    called_refuse (called, prompt_text (PROMPT_CANCELLED));
  }
}

static void
take_report (struct agent *agent, const struct step *step)
{
  gboolean done = json_is_true (json_object_get (step->arguments, "completed"));
  agent_set_answer (agent, json_member_text (step->arguments, "answer"));
  agent_end (agent, done ? AGENT_COMPLETED : AGENT_FAILED,
             done ? NULL : g_strdup ("the model reports that it could not be done"));
}

/* What else the model is told beside the reply. */
static void
append_asides (const struct agent *agent, const struct calling *calling, const struct called *called,
               json_t *parts)
{
  gboolean last = calling->index + 1 == calling->count && !agent->over && agent->settings.tools.reports &&
                  budget_steps_left (&agent->turn->budget) == 1;
  if (called->left_out)
    json_array_append_new (parts, message_text (called->left_out));
  if (last)
    json_array_append_new (parts, message_text (prompt_text (PROMPT_LAST_STEP)));
}

static void
tell_ended (const struct agent *agent, const struct calling *calling, json_t *shown,
            const struct called *called, gint64 took_ms)
{
  g_autofree char *result = called->left_out
                                ? g_strdup_printf ("%s\n%s", called->reply.text, called->left_out)
                                : g_strdup (called->reply.text);
  json_object_set_new (shown, "result", json_text_or_null (result));
  json_object_set_new (shown, "is_error", json_boolean (called->is_error));
  json_object_set (shown, "pictures", called->reply.pictures);
  json_object_set_new (shown, "unsaved_pictures", json_integer (called->reply.unsaved));
  json_object_set_new (shown, "took_ms", json_integer (took_ms));
  json_object_set_new (shown, "usage",
                       calling->index == 0 ? model_usage_json (&calling->answer->usage) : json_null ());
  TELL (agent, ended, shown)
  if (called->note)
    tell_note (agent, called->note);
  if (called->left_out)
    tell_note (agent, called->left_out);
}

/* FALSE: it could not be read. */
static gboolean
agent_take_call (struct agent *agent, struct calling *calling, const json_t *call)
{
  g_autoptr (GError) problem = NULL;
  struct step step;
  struct called called;
  gint64 began_us = g_get_monotonic_time ();
  gboolean readable = steps_read (call, agent->settings.typed, &step, &problem);
  g_autoptr (json_t) shown = step_json (agent, &step);
  TELL (agent, began, shown)
  agent_carry_out (agent, calling, &step, problem, &called);
  json_t *parts = reply_parts (&called.reply);
  if (called.is_completion) {
    calling->reported = TRUE;
    take_report (agent, &step);
  }
  append_asides (agent, calling, &called, parts);
  json_array_append_new (agent->messages, message_result (call, parts, called.is_error));
  tell_ended (agent, calling, shown, &called, (g_get_monotonic_time () - began_us) / 1000);
  called_clear (&called);
  return readable;
}

/* ---- one answer ---- */

static void
take_calls (struct agent *agent, const struct model_answer *answer, const json_t *calls)
{
  struct calling calling = {answer, 0, json_array_size (calls), FALSE};
  gboolean readable = FALSE;
  for (; calling.index < calling.count; calling.index++)
    readable = agent_take_call (agent, &calling, json_array_get (calls, calling.index)) || readable;
  agent->reminders = 0;
  agent->unreadable = readable ? 0 : agent->unreadable + 1;
}

static void
remind (struct agent *agent, enum prompt prompt)
{
  json_t *message = message_user (prompt_text (prompt));
  if (budget_steps_left (&agent->turn->budget) == 1)
    json_array_append_new (json_object_get (message, "content"),
                           message_text (prompt_text (PROMPT_LAST_STEP)));
  json_array_append_new (agent->messages, message);
}

/* Words, where a chat's turn ends with them and a task's does not: who was reminded once and says words again
 * means them as the answer. */
static void
agent_take_words (struct agent *agent, const struct model_answer *answer)
{
  gboolean cut = answer->stop == MODEL_STOP_LENGTH;
  if (agent->settings.typed || (cut && agent->settings.tools.reports)) {
    agent->unreadable++;
    remind (agent, cut ? PROMPT_CUT_ANSWER : PROMPT_NO_CALL_TYPED);
    return;
  }
  if (cut)
    tell_note (agent, "the answer broke off: it was longer than the model's output_tokens allow");
  if (!agent->settings.tools.reports || agent->reminders++ > 0)
    agent_end (agent, AGENT_COMPLETED, NULL);
  else
    remind (agent, PROMPT_NO_CALL_NATIVE);
}

static void
agent_take_answer (struct agent *agent, const struct model_answer *answer)
{
  g_autofree char *text = message_all_text (answer->message);
  g_autoptr (json_t) calls = message_calls (answer->message);
  json_array_append (agent->messages, answer->message);
  TELL (agent, answered, text)
  agent_set_answer (agent, text);
  if (json_array_size (calls) > 0)
    take_calls (agent, answer, calls);
  else if (answer->stop == MODEL_STOP_REFUSAL)
    agent_end (agent, AGENT_MODEL, g_strdup ("the model refused to answer"));
  else
    agent_take_words (agent, answer);
  if (agent->unreadable >= AGENT_UNREADABLE)
    agent_end (agent, AGENT_MODEL,
               g_strdup_printf ("the model's answer was no step that can be read, %d times running",
                                AGENT_UNREADABLE));
}

static void
agent_take_step (struct agent *agent)
{
  struct model_answer answer;
  enum budget_item item;
  if (agent_is_stopped (agent))
    return;
  if (budget_is_over (&agent->turn->budget, &item)) {
    agent_end (agent, budget_reasons[item], budget_say (&agent->turn->budget, item));
    return;
  }
  toolbox_refresh (agent->toolbox);
  if (!agent_ask (agent, &answer))
    return;
  agent_take_answer (agent, &answer);
  model_answer_clear (&answer);
}

void
agent_say (struct agent *agent, const char *text, struct agent_turn *ret_turn)
{
  *ret_turn = (struct agent_turn){.answer = g_strdup (""), .budget = agent->settings.budget};
  agent->turn = ret_turn;
  agent->over = FALSE;
  agent->unreadable = agent->reminders = 0;
  repeats_clear (&agent->repeats);
  budget_begin (&ret_turn->budget);
  cancel_token_begin (agent->cancel_token, budget_deadline_us (&ret_turn->budget));
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  json_array_append_new (agent->messages, message_user (valid));
  while (!agent->over)
    agent_take_step (agent);
  cancel_token_end (agent->cancel_token);
  ret_turn->took_ms = (g_get_monotonic_time () - ret_turn->budget.began_us) / 1000;
  agent->turn = NULL;
}
