/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals by elicitation: when a tool needs a person's approval, the client shows them the request, and
 * their answer decides.
 *
 * The person must see all of it, so longer requests are not asked for this way; the key of the question is
 * the approval's id, so that it cannot be answered in advance. The principal says whether the caller speaks
 * for a person at all. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "interfaces/cli/view/approval_view.h"
#include "interfaces/mcp/memory.h"
#include "operations/operation.h"

#define MESSAGE_BYTES 65536 /* shown to a person; about 1,000 rows */
#define REASON_BYTES  500
#define KEY_PREFIX    "approval-"
#define TRIES         3 /* an approval may be used up or forgotten meanwhile: then there is another */

/* ---- the question ---- */

/* APPROVAL as people see it at the terminal, without colours. NULL if it is too long. The caller's. */
static char *
approvals_message_of (const json_t *approval)
{
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&text, &length);
  if (!stream)
    return NULL;
  fprintf (stream, "This code needs your approval:\n\n");
  gboolean cut = approval_view_one (approval, 0, stream);
  gboolean whole = fclose (stream) == 0 && !cut && length <= MESSAGE_BYTES;
  char *message = whole ? g_strdup (text) : NULL;
  free (text); /* libc's */
  return message;
}

/* The form: yes, no, and always if there is a conversation for it. The caller's. */
static json_t *
approvals_question_of (const json_t *approval, const char *message)
{
  json_t *words = json_pack ("[s, s]", "yes", "no");
  gboolean always = json_is_string (json_object_get (approval, "conversation"));
  if (always)
    json_array_append_new (words, json_string ("always"));
  json_t *decision = json_pack (
      "{s:s, s:s, s:s, s:o}", "type", "string", "title", "Run it?", "description",
      always ? "yes: once. always: also all else that this conversation asks for in the same place."
             : "yes: once.",
      "enum", words);
  /* With a default: a client that answers with every field then sends a text instead of null, which its own
   * check of the form would refuse. */
  json_t *reason =
      json_pack ("{s:s, s:s, s:s, s:s, s:i}", "type", "string", "title", "Why not", "description",
                 "After a no: what the agent is told.", "default", "", "maxLength", REASON_BYTES);
  return json_pack ("{s:s, s:s, s:{s:s, s:{s:o, s:o}, s:[s]}}", "mode", "form", "message", message,
                    "requestedSchema", "type", "object", "properties", "decision", decision, "reason", reason,
                    "required", "decision");
}

/* ---- the answer ---- */

enum verdict {
  VERDICT_DECIDED, /* the call reports the result */
  VERDICT_OPEN,    /* nobody decided */
  VERDICT_REPLIED, /* the reply asked the client */
};

/* Carries out what ANSWER says about the approval ID. FALSE: it decides nothing. */
static gboolean
approvals_carry_out (const struct operation_caller *caller, const char *id, const json_t *answer)
{
  const char *action = json_member_text (answer, "action");
  const json_t *content = json_object_get (answer, "content");
  const char *decision = json_member_text (content, "decision"),
             *reason = json_member_text (content, "reason");
  gboolean accepted = strcmp (action, "accept") == 0, yes = accepted && strcmp (decision, "no") != 0;
  if (strcmp (action, "cancel") == 0)
    return FALSE;
  if (!accepted)
    reason = "the person who was asked declined";
  json_t *params =
      yes ? json_pack ("{s:s, s:b}", "approval", id, "always", strcmp (decision, "always") == 0)
          : json_pack ("{s:s, s:s*}", "approval", id, "reason", reason[0] != '\0' ? reason : NULL);
  /* Another person's decision meanwhile counts as well: the call reports it. */
  json_decref (operation_call (caller, yes ? "approval.approve" : "approval.deny", params, NULL));
  return TRUE;
}

static gboolean
is_pending (const json_t *approval)
{
  return strcmp (json_member_text (approval, "state"), "pending") == 0;
}

/* Asks a person to decide about ID. NOTE: why nobody did, for the reply; the caller's. */
static enum verdict
approvals_settle (struct mcp_request *request, const char *id, char **ret_note)
{
  const struct operation_caller caller = OPERATION_CALLER (
      mcp_server_memory (request->server)->service->engine, mcp_owner (request), ROLE_GUEST);
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) approval =
      operation_call (&caller, "approval.show", json_pack ("{s:s}", "approval", id), NULL);
  if (!is_pending (approval))
    return VERDICT_DECIDED;
  g_autofree char *message = approvals_message_of (approval);
  if (!message) {
    *ret_note = g_strdup ("it is too long to be shown here");
    return VERDICT_OPEN;
  }
  g_autofree char *key = g_strconcat (KEY_PREFIX, id, NULL);
  struct mcp_ask ask = {key, "elicitation/create", approvals_question_of (approval, message), NULL};
  switch (mcp_input_try (request, &ask, 1, json_pack ("{s:s}", "approval", id), &problem)) {
  case MCP_INPUT_HAVE:
    if (approvals_carry_out (&caller, id, ask.answer))
      return VERDICT_DECIDED;
    *ret_note = g_strdup ("the person who was asked did not decide");
    return VERDICT_OPEN;
  case MCP_INPUT_LATER:
    if (!problem)
      return VERDICT_REPLIED;
    *ret_note = g_strdup (problem->message);
    return VERDICT_OPEN;
  case MCP_INPUT_UNABLE:
  default:
    return VERDICT_OPEN;
  }
}

/* ---- the call ---- */

static gboolean
approvals_may_ask (const struct mcp_request *request)
{
  return mcp_server_memory (request->server)->config->mcp_elicit_approvals &&
         request->caller->principal->may_decide && mcp_client_can (request, "elicitation");
}

/* What the model is told when nobody decided: how somebody can. */
static void
add_way (struct tool_reply *reply, const char *id, const char *note)
{
  const char *error = json_string_value (json_object_get (reply->value, "error"));
  if (!error)
    return;
  g_autofree char *text = g_strdup_printf ("%s%s%s. A person approves with: adder approval approve %s (adder "
                                           "approval show %s shows it); then make the same call again",
                                           error, note ? "; " : "", note ? note : "", id, id);
  json_object_set_new (reply->value, "error", json_string (text));
}

static char *
approval_in (const json_t *value)
{
  return g_strdup (json_string_value (json_object_get (value, "approval_id")));
}

gboolean
mcp_approved_call (struct mcp_request *request, const char *toolset, const char *name,
                   const json_t *arguments, const struct tool_caller *caller, struct tool_reply *ret_reply)
{
  struct tools *tools = mcp_server_memory (request->server)->service->tools;
  struct tool_caller asking = *caller;
  g_autofree char *note = NULL, *id = NULL;
  struct tool_reply reply = {0};
  const char *before = json_string_value (json_object_get (mcp_state (request), "approval"));
  gboolean may = approvals_may_ask (request);
  id = may ? g_strdup (before) : NULL;
  for (int try = 0; try < TRIES; try++) {
    enum verdict verdict = id ? approvals_settle (request, id, &note) : VERDICT_DECIDED;
    if (verdict == VERDICT_REPLIED) {
      tool_reply_clear (&reply);
      return FALSE;
    }
    if (verdict == VERDICT_OPEN && reply.value)
      break;
    tool_reply_clear (&reply);
    asking.approval = id;
    tools_call (tools, toolset, name, arguments, &asking, &reply);
    char *next = approval_in (reply.value);
    gboolean again = may && next && verdict == VERDICT_DECIDED && g_strcmp0 (next, id) != 0;
    g_free (id);
    id = next;
    if (!again)
      break;
  }
  if (id)
    add_way (&reply, id, note);
  *ret_reply = reply;
  return TRUE;
}
