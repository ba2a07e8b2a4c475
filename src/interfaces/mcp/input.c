/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the client for input, one call for handlers whatever the era:
 *
 *     legacy   a question of ours on the request's stream; the handler's thread waits
 *     modern   the reply says what is needed; the client repeats the request, with the answers and with
 *              what the reply gave it to carry (state.h), and the handler begins again at its beginning
 *     task     as the task's state, which the client asks for; the handler's thread waits
 *
 * So a handler that asks twice finds, when it begins again, the first answers there: they are carried too. */
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "interfaces/mcp/form.h"
#include "interfaces/mcp/memory.h"
#include "interfaces/mcp/session.h"

struct input {
  json_t *state;   /* of the handler, from the previous try; or NULL */
  json_t *answers; /* {key: answer} of earlier rounds, and the checked ones of this round */
  json_t *fresh;   /* {key: anything}: came with this try */
};

static void
input_free (struct input *input)
{
  if (!input)
    return;
  json_decref (input->state);
  json_decref (input->answers);
  json_decref (input->fresh);
  g_free (input);
}

/* ---- from the previous try ---- */

static struct mcp_state_bond
bond_of (const struct mcp_request *request)
{
  return (struct mcp_state_bond){mcp_owner (request), request->method->name, request->params};
}

/* Takes in the members of PAYLOAD, which is ours. */
static void
take_payload (struct input *input, const json_t *payload)
{
  json_t *state = json_object_get (payload, "state");
  input->state = json_is_null (state) ? NULL : json_incref (state);
  json_object_update (input->answers, json_object_get (payload, "answers"));
}

static gboolean
input_take_state (struct mcp_request *request, struct input *input, const json_t *state)
{
  g_autoptr (GError) problem = NULL;
  struct mcp_state_bond bond = bond_of (request);
  if (!json_is_string (state)) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "requestState must be text");
    return FALSE;
  }
  g_autoptr (json_t) payload =
      mcp_state_open (&mcp_server_memory (request->server)->key, &bond, json_string_value (state), &problem);
  if (payload)
    take_payload (input, payload);
  else
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s", problem->message);
  return payload != NULL;
}

gboolean
mcp_input_begin (struct mcp_request *request)
{
  if (request->era != MCP_MODERN)
    return TRUE;
  json_t *fresh = json_object_get (request->params, "inputResponses");
  const json_t *state = json_object_get (request->params, "requestState");
  struct input *input = g_new0 (struct input, 1);
  input->answers = json_object ();
  request->input = input;
  if (fresh && !json_is_object (fresh)) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "inputResponses must be an object");
    return FALSE;
  }
  input->fresh = fresh ? json_incref (fresh) : json_object ();
  return !state || input_take_state (request, input, state);
}

void
mcp_input_end (struct mcp_request *request)
{
  g_clear_pointer (&request->input, input_free);
}

const json_t *
mcp_state (const struct mcp_request *request)
{
  const struct input *input = request->input;
  return input ? input->state : NULL;
}

/* ---- legacy: a question, and waiting ---- */

static gboolean
ask_one (struct mcp_request *request, struct mcp_ask *ask, guint64 wait_ms, GError **error)
{
  g_autoptr (json_t) answer =
      mcp_session_ask (request, ask->method, json_incref (ask->params), wait_ms, error);
  if (!answer || !mcp_answer_check (ask->method, ask->params, answer, error)) {
    g_prefix_error (error, "%s: ", ask->method);
    return FALSE;
  }
  struct input *input = request->input;
  if (!input) {
    input = g_new0 (struct input, 1);
    input->answers = json_object ();
    request->input = input;
  }
  json_object_set (input->answers, ask->key, answer);
  ask->answer = json_object_get (input->answers, ask->key);
  return TRUE;
}

static gboolean
input_ask_session (struct mcp_request *request, struct mcp_ask *asks, gsize count, guint64 wait_ms,
                   GError **error)
{
  for (gsize i = 0; i < count; i++)
    if (!ask_one (request, &asks[i], wait_ms, error))
      return FALSE;
  return TRUE;
}

/* ---- modern: a reply that says what is needed ---- */

/* ASK's answer, or NULL: ask it, perhaps again. */
static json_t *
find_answer (struct input *input, const struct mcp_ask *ask)
{
  json_t *fresh = json_object_get (input->fresh, ask->key);
  if (fresh && mcp_answer_check (ask->method, ask->params, fresh, NULL))
    json_object_set (input->answers, ask->key, fresh);
  json_t *answer = json_object_get (input->answers, ask->key);
  return answer && mcp_answer_check (ask->method, ask->params, answer, NULL) ? answer : NULL;
}

static void
reply_needs (struct mcp_request *request, json_t *needed, json_t *state)
{
  const struct input *input = request->input;
  const struct mcp_memory *memory = mcp_server_memory (request->server);
  struct mcp_state_bond bond = bond_of (request);
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) payload = json_pack ("{s:O?, s:O}", "state", state, "answers", input->answers);
  g_autofree char *sealed =
      mcp_state_seal (&memory->key, &bond, payload, memory->config->mcp_state_age_ms, &problem);
  if (!sealed) {
    json_decref (needed);
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s", problem->message);
    return;
  }
  mcp_result (request, json_pack ("{s:s, s:o, s:s}", "resultType", "input_required", "inputRequests", needed,
                                  "requestState", sealed));
}

/* The ASKS without an answer, in MISSING; their number. */
static gsize
find_missing (struct input *input, struct mcp_ask *asks, gsize count, struct mcp_ask *missing)
{
  gsize left = 0;
  for (gsize i = 0; i < count; i++) {
    asks[i].answer = find_answer (input, &asks[i]);
    if (!asks[i].answer)
      missing[left++] = asks[i];
  }
  return left;
}

/* Through the call's task. */
static gboolean
ask_task (struct mcp_request *request, struct mcp_ask *missing, gsize left, guint64 wait_ms, GError **error)
{
  struct input *input = request->input;
  gboolean have = mcp_task_ask (request, missing, left, wait_ms, error);
  for (gsize i = 0; have && i < left; i++)
    json_object_set (input->answers, missing[i].key, missing[i].answer);
  return have;
}

static enum mcp_input
ask_modern (struct mcp_request *request, struct mcp_ask *asks, gsize count, json_t *state, guint64 wait_ms,
            GError **error)
{
  g_autofree struct mcp_ask *missing = g_new (struct mcp_ask, count);
  gsize left = find_missing (request->input, asks, count, missing);
  if (left > 0 && !mcp_task_hold (request)) {
    json_t *needed = json_object ();
    for (gsize i = 0; i < left; i++)
      json_object_set_new (
          needed, missing[i].key,
          json_pack ("{s:s, s:O}", "method", missing[i].method, "params", missing[i].params));
    reply_needs (request, needed, state);
    return MCP_INPUT_LATER;
  }
  if (left > 0 && !ask_task (request, missing, left, wait_ms, error))
    return MCP_INPUT_LATER;
  find_missing (request->input, asks, count, missing);
  return MCP_INPUT_HAVE;
}

/* ---- from outside ---- */

static gboolean
is_able (const struct mcp_request *request, const struct mcp_ask *asks, gsize count)
{
  if (request->era == MCP_MODERN ? !request->input : !request->session || !request->link)
    return FALSE;
  for (gsize i = 0; i < count; i++) {
    g_autoptr (json_t) needs = mcp_answer_needs (asks[i].method, asks[i].params);
    if (!needs || !mcp_answer_is_able (request->capabilities, needs))
      return FALSE;
  }
  return TRUE;
}

static enum mcp_input
input_ask (struct mcp_request *request, struct mcp_ask *asks, gsize count, json_t *state, GError **error)
{
  guint64 wait_ms = mcp_server_memory (request->server)->config->mcp_input_wait_ms;
  if (!is_able (request, asks, count))
    return MCP_INPUT_UNABLE;
  if (request->era == MCP_MODERN)
    return ask_modern (request, asks, count, state, wait_ms, error);
  return input_ask_session (request, asks, count, wait_ms, error) ? MCP_INPUT_HAVE : MCP_INPUT_LATER;
}

enum mcp_input
mcp_input_try (struct mcp_request *request, struct mcp_ask *asks, gsize count, json_t *state, GError **error)
{
  for (gsize i = 0; i < count; i++)
    if (!asks[i].params)
      asks[i].params = json_object ();
  enum mcp_input input = input_ask (request, asks, count, state, error);
  for (gsize i = 0; i < count; i++)
    g_clear_pointer (&asks[i].params, json_decref);
  json_decref (state);
  return input;
}

enum mcp_input
mcp_input (struct mcp_request *request, struct mcp_ask *asks, gsize count, json_t *state)
{
  g_autoptr (GError) problem = NULL;
  enum mcp_input input = mcp_input_try (request, asks, count, state, &problem);
  if (problem)
    mcp_problem (request, MCP_INTERNAL_ERROR, NULL, "%s", problem->message);
  return input;
}
