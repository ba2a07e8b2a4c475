/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dialogue.h"

#include <string.h>

#include "adder.h"
#include "analysis/prompts.h"
#include "common/json.h"
#include "models/written.h"

#define TRIES          3

#define BYTES_OF_TOKEN 4

struct dialogue {
  struct model *model;
  const char *instructions;
  json_t *tools;
  int cancel_fd;
  json_t *messages;
  json_t *pending;     /* calls that wait for their results */
  gboolean has_called; /* APIs want the tools of calls that were made */
  gint64 input_tokens, output_tokens;
  guint64 spent_tokens, most_tokens; /* the second 0: any */
  const char *setting;
  double cost;
  gboolean is_priced; /* the cost of every answer is known */
};

struct dialogue *
dialogue_new (struct model *model, int cancel_fd)
{
  struct dialogue *dialogue = g_new0 (struct dialogue, 1);
  dialogue->model = model;
  dialogue->instructions = dialogue_is_short (dialogue) ? prompt_instructions_short : prompt_instructions;
  dialogue->tools = prompt_tools ();
  dialogue->cancel_fd = cancel_fd;
  dialogue->messages = json_array ();
  dialogue->is_priced = TRUE;
  return dialogue;
}

void
dialogue_limit (struct dialogue *dialogue, guint64 tokens, const char *setting)
{
  dialogue->most_tokens = tokens;
  dialogue->setting = setting;
}

void
dialogue_free (struct dialogue *dialogue)
{
  if (!dialogue)
    return;
  json_decref (dialogue->tools);
  json_decref (dialogue->messages);
  json_decref (dialogue->pending);
  g_free (dialogue);
}

gboolean
dialogue_is_new (const struct dialogue *dialogue)
{
  return json_array_size (dialogue->messages) == 0;
}

gboolean
dialogue_is_short (const struct dialogue *dialogue)
{
  gint64 context = dialogue ? model_facts (dialogue->model)->context_tokens : -1;
  return context > 0 && context <= DIALOGUE_SHORT_CONTEXT;
}

void
dialogue_tell (struct dialogue *dialogue, const char *text, gboolean is_error)
{
  g_autoptr (json_t) pending = g_steal_pointer (&dialogue->pending);
  gsize index;
  json_t *call;
  if (json_array_size (pending) == 0)
    json_array_append_new (dialogue->messages, message_user (text));
  /* APIs want a result of each call; the first is the one that counted. */
  json_array_foreach (pending, index, call)
  {
    json_t *content = json_pack ("[o]", message_text (index == 0 ? text : prompt_one_call));
    json_array_append_new (dialogue->messages, message_result (call, content, index > 0 || is_error));
  }
}

/* ---- asking ---- */

static void
dialogue_count (struct dialogue *dialogue, const struct model_usage *usage)
{
  dialogue->input_tokens += MAX (usage->input_tokens, 0);
  dialogue->output_tokens += MAX (usage->output_tokens, 0);
  if (usage->cost < 0)
    dialogue->is_priced = FALSE;
  else
    dialogue->cost += usage->cost;
}

/* What its server says, or a guess by VALUE. */
static guint64
dialogue_tokens_of (gint64 told, const json_t *value)
{
  if (told >= 0)
    return (guint64)told;
  g_autofree char *text = json_to_text (value);
  return strlen (text) / BYTES_OF_TOKEN + 1;
}

static void
dialogue_spend (struct dialogue *dialogue, const struct model_answer *answer)
{
  dialogue->spent_tokens += dialogue_tokens_of (answer->usage.input_tokens, dialogue->messages) +
                            dialogue_tokens_of (answer->usage.output_tokens, answer->message);
}

static gboolean
dialogue_may_ask (const struct dialogue *dialogue, GError **error)
{
  if (dialogue->most_tokens == 0 || dialogue->spent_tokens < dialogue->most_tokens)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "the %" G_GUINT64_FORMAT
               " tokens that one question may cost are used up (%s): ask for less at a "
               "time, or write the code",
               dialogue->most_tokens, dialogue->setting);
  return FALSE;
}

/* The tools of the next answer, for which TOOL must be called or, NULL, none. The caller's. */
static json_t *
dialogue_offer (const struct dialogue *dialogue, const char *tool)
{
  if (!dialogue_is_short (dialogue) || dialogue->has_called)
    return json_incref (dialogue->tools);
  json_t *offered = json_array ();
  gsize index;
  json_t *known;
  json_array_foreach (dialogue->tools, index, known)
  {
    if (g_strcmp0 (json_member_text (known, "name"), tool) == 0)
      json_array_append (offered, known);
  }
  return offered;
}

/* TOOL NULL: it says something. The answer's message, borrowed, is the last of the conversation. */
static const json_t *
dialogue_ask (struct dialogue *dialogue, const char *tool, GError **error)
{
  struct model_answer answer = {0};
  g_autoptr (json_t) tools = dialogue_offer (dialogue, tool);
  const struct model_question question = {
      .instructions = dialogue->instructions,
      .messages = dialogue->messages,
      .tools = tools,
      .tool = tool,
      .cancel_fd = dialogue->cancel_fd,
  };
  if (!dialogue_may_ask (dialogue, error) || !model_ask (dialogue->model, &question, &answer, error))
    return NULL;
  dialogue_spend (dialogue, &answer);
  dialogue_count (dialogue, &answer.usage);
  const json_t *message = answer.message;
  json_array_append (dialogue->messages, answer.message);
  model_answer_clear (&answer);
  return message;
}

/* ---- a forced call ---- */

/* Whether the argument TEXT_MEMBER is asked for as a block of code, without any call: small models write code
 * well, and JSON around it badly. */
static gboolean
dialogue_writes (const struct dialogue *dialogue, const char *text_member)
{
  return text_member && dialogue_is_short (dialogue);
}

/* The code that TEXT is, without a block around it: it sets the result. NULL: it is none. The caller's. */
static char *
dialogue_bare_code (const char *text)
{
  gboolean is_code = !strstr (text, "```") && g_regex_match_simple ("^result = ", text, G_REGEX_MULTILINE, 0);
  return is_code ? g_strdup (text) : NULL;
}

/* The arguments of the call of TOOL in MESSAGE, or NULL with what is wrong in *RET_WHY. */
static json_t *
dialogue_take_call (struct dialogue *dialogue, const json_t *message, const char *tool,
                    const char *text_member, char **ret_why)
{
  g_autoptr (json_t) calls = message_calls (message);
  const json_t *first = json_array_get (calls, 0);
  if (!first) {
    g_autofree char *text = message_all_text (message), *block = text_member ? written_block (text) : NULL;
    if (!block && dialogue_writes (dialogue, text_member))
      block = dialogue_bare_code (text);
    if (block)
      return json_pack ("{s:s}", text_member, block);
    *ret_why = dialogue_writes (dialogue, text_member) ? g_strdup (prompt_no_block)
                                                       : prompt_with (prompt_no_call, tool);
    return NULL;
  }
  dialogue->pending = json_incref (calls);
  dialogue->has_called = TRUE;
  json_t *arguments = json_object_get (first, "arguments");
  if (strcmp (json_member_text (first, "name"), tool) != 0)
    *ret_why = prompt_with (prompt_other_call, tool);
  else if (!json_is_object (arguments))
    *ret_why = g_strdup (prompt_no_json);
  return *ret_why ? NULL : json_incref (arguments);
}

json_t *
dialogue_call (struct dialogue *dialogue, const char *tool, dialogue_check check, const char *text_member,
               GError **error)
{
  for (guint i = 0; i < TRIES; i++) {
    const json_t *message =
        dialogue_ask (dialogue, dialogue_writes (dialogue, text_member) ? NULL : tool, error);
    g_autofree char *why = NULL;
    if (!message)
      return NULL;
    g_autoptr (json_t) arguments = dialogue_take_call (dialogue, message, tool, text_member, &why);
    if (arguments && check (arguments, &why))
      return g_steal_pointer (&arguments);
    /* After the last one, what comes next is what the model hears. */
    if (i + 1 < TRIES)
      dialogue_tell (dialogue, why, TRUE);
  }
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_MALFORMED,
               "%s did not %s %s as it was asked to, %d times: try another model (adder model list)",
               model_facts (dialogue->model)->name,
               dialogue_writes (dialogue, text_member) ? "write the block of" : "call the tool",
               dialogue_writes (dialogue, text_member) ? text_member : tool, TRIES);
  return NULL;
}

gboolean
dialogue_try (struct dialogue *dialogue, const char *tool, dialogue_check check, json_t **ret_arguments,
              GError **error)
{
  GError *problem = NULL;
  *ret_arguments = dialogue_call (dialogue, tool, check, NULL, &problem);
  if (problem && !g_error_matches (problem, MODEL_ERROR, MODEL_ERROR_MALFORMED)) {
    g_propagate_error (error, problem);
    return FALSE;
  }
  g_clear_error (&problem);
  return TRUE;
}

char *
dialogue_say (struct dialogue *dialogue, GError **error)
{
  const json_t *message = dialogue_ask (dialogue, NULL, error);
  if (!message)
    return NULL;
  g_autofree char *text = message_all_text (message);
  g_autoptr (json_t) calls = message_calls (message);
  dialogue->pending = json_array_size (calls) > 0 ? json_incref (calls) : NULL;
  g_strstrip (text);
  if (text[0] != '\0')
    return g_steal_pointer (&text);
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_MALFORMED,
               "%s gave an empty answer: try another model (adder model list)",
               model_facts (dialogue->model)->name);
  return NULL;
}

/* ---- who was asked ---- */

json_t *
dialogue_model (const struct dialogue *dialogue)
{
  const struct model_facts *facts = model_facts (dialogue->model);
  return json_pack ("{s:o, s:o, s:b}", "name", json_text_or_null (facts->name), "provider",
                    json_text_or_null (facts->provider), "replay", facts->is_replay);
}

json_t *
dialogue_usage (const struct dialogue *dialogue)
{
  return json_pack ("{s:I, s:I, s:o}", "input_tokens", (json_int_t)dialogue->input_tokens, "output_tokens",
                    (json_int_t)dialogue->output_tokens, "cost",
                    dialogue->is_priced ? json_real (dialogue->cost) : json_null ());
}
