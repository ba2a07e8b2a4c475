/* SPDX-License-Identifier: Apache-2.0 */
/* An approval as a message with buttons. They carry a word that nobody can guess, and only who asked for the
 * run may press them; the message stays, and says how it was decided. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/telegram/dialog.h"
#include "common/json.h"
#include "interfaces/cli/approval_prompt.h"
#include "interfaces/cli/view/approval_view.h"

#define WAIT_US  (G_GINT64_CONSTANT (10) * 60 * 1000 * 1000)
#define ROWS_MAX 200

static const struct {
  const char *word, *label, *said;
} verdicts[] = {{"yes", "Yes", "Allowed."},
                {"no", "No", "Refused."},
                {"always", "Always in this chat", "Allowed, from now on."}};

/* ---- the message ---- */

static json_t *
keyboard_of (const char *question)
{
  json_t *row = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (verdicts); i++) {
    g_autofree char *data = g_strconcat (verdicts[i].word, ":", question, NULL);
    json_array_append_new (row, json_pack ("{s:s, s:s}", "text", verdicts[i].label, "callback_data", data));
  }
  return json_pack ("{s:[o]}", "inline_keyboard", row);
}

/* What a terminal would show of it. The caller's (free). */
static char *
view_of (const json_t *approval)
{
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&text, &length);
  if (!stream)
    return NULL;
  if (approval_view_one (approval, ROWS_MAX, stream))
    fprintf (stream, "(more rows: adder approval show)\n");
  return fclose (stream) == 0 ? text : NULL;
}

static gint64
put_question (struct dialog *dialog, const json_t *approval, const char *question)
{
  g_autoptr (json_t) keyboard = keyboard_of (question);
  struct pages *pages = pages_new ();
  char *view = view_of (approval);
  pages_add_text (pages, "This needs approval:\n");
  pages_add_code (pages, view ? view : "(it cannot be shown)");
  free (view);
  gint64 message = send_pages (&dialog->line, pages, keyboard);
  pages_free (pages);
  return message;
}

/* ---- the decision ---- */

/* Tells who pressed the button in UPDATE what came of it. */
static void
answer_press (struct dialog *dialog, const json_t *update, const char *said)
{
  const json_t *query = json_object_get (update, "callback_query");
  bot_api_try (dialog->line.api, "answerCallbackQuery",
               json_pack ("{s:o, s:s}", "callback_query_id",
                          json_text_or_null (json_member_text (query, "id")), "text", said));
}

void
dialog_refuse_press (struct dialog *dialog, const json_t *update)
{
  answer_press (dialog, update, "That was decided before, or is over.");
}

/* The verdict of the press in UPDATE about QUESTION, or NULL: it is none. Static. */
static const char *
take_press (struct dialog *dialog, const json_t *update, const char *question)
{
  const json_t *query = json_object_get (update, "callback_query"), *from = json_object_get (query, "from");
  const char *data = json_member_text (query, "data"), *colon = strchr (data, ':');
  if (!colon || strcmp (colon + 1, question) != 0) {
    dialog_refuse_press (dialog, update);
    return NULL;
  }
  if (json_integer_value (json_object_get (from, "id")) != dialog->user) {
    answer_press (dialog, update, "Only the sender of the message can decide.");
    return NULL;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (verdicts); i++)
    if (strlen (verdicts[i].word) == (gsize)(colon - data) && g_str_has_prefix (data, verdicts[i].word)) {
      answer_press (dialog, update, verdicts[i].said);
      return verdicts[i].word;
    }
  dialog_refuse_press (dialog, update);
  return NULL;
}

/* The next press of a button until UNTIL_US, the caller's; NULL: none came, or it was stopped, whatever was
 * pressed after that. */
static json_t *
next_press (struct dialog *dialog, gint64 until_us)
{
  g_mutex_lock (&dialog->lock);
  while (dialog->presses.length == 0 && !dialog->stopped &&
         g_cond_wait_until (&dialog->changed, &dialog->lock, until_us))
    ;
  gboolean over = dialog->stopped || g_get_monotonic_time () >= until_us;
  json_t *update = over ? NULL : g_queue_pop_head (&dialog->presses);
  g_mutex_unlock (&dialog->lock);
  return update;
}

static const char *
wait_for_verdict (struct dialog *dialog, const char *question)
{
  gint64 until_us = g_get_monotonic_time () + WAIT_US;
  const char *verdict = NULL;
  for (json_t *update; !verdict && (update = next_press (dialog, until_us)); json_decref (update)) {
    verdict = take_press (dialog, update, question);
    inbox_end (dialog->world->inbox, inbox_id (update));
  }
  return verdict;
}

/* From now on presses are for QUESTION (copied), or for nobody (NULL): those left over are over. */
static void
ask_for (struct dialog *dialog, const char *question)
{
  g_mutex_lock (&dialog->lock);
  g_free (dialog->question);
  dialog->question = g_strdup (question);
  for (json_t *update; (update = g_queue_pop_head (&dialog->presses));) {
    dialog->taken++;
    g_async_queue_push (dialog->updates, update);
  }
  g_mutex_unlock (&dialog->lock);
}

static gboolean
dialog_approve_decide (struct dialog *dialog, const char *id, const char *verdict, GError **error)
{
  gboolean yes = strcmp (verdict, "no") != 0;
  json_t *params = yes ? json_pack ("{s:s, s:b}", "approval", id, "always", strcmp (verdict, "always") == 0)
                       : json_pack ("{s:s, s:s}", "approval", id, "reason", "refused in the chat");
  g_autoptr (json_t) answer =
      call_backend_operation (dialog->backend, yes ? "approval.approve" : "approval.deny", params, error);
  return answer != NULL;
}

static const char *
said_of (const char *verdict)
{
  for (gsize i = 0; verdict && i < G_N_ELEMENTS (verdicts); i++)
    if (strcmp (verdicts[i].word, verdict) == 0)
      return verdicts[i].said;
  return "Nobody decided: it was not run.";
}

enum approval_end
dialog_approve (gpointer data, const char *id, GError **error)
{
  struct dialog *dialog = data;
  g_autofree char *question = g_uuid_string_random ();
  g_autoptr (json_t) approval =
      call_backend_operation (dialog->backend, "approval.show", json_pack ("{s:s}", "approval", id), error);
  if (!approval)
    return APPROVAL_END_UNDECIDED;
  ask_for (dialog, question);
  gint64 message = put_question (dialog, approval, question);
  /* Nobody says yes to what was not shown. */
  const char *verdict = message != 0 ? wait_for_verdict (dialog, question) : NULL;
  ask_for (dialog, NULL);
  if (message != 0)
    send_edit (&dialog->line, message, said_of (verdict));
  if (!verdict)
    return APPROVAL_END_UNDECIDED;
  return dialog_approve_decide (dialog, id, verdict, error) ? APPROVAL_END_DECIDED : APPROVAL_END_UNDECIDED;
}
