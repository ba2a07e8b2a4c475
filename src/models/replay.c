/* SPDX-License-Identifier: Apache-2.0 */
#include "models/replay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "models/replay_file.h"
#include "models/replay_match.h"

/* Answers are told in pieces of so many bytes, as those of a model come. */
#define PIECE_BYTES 16

struct replay {
  struct provider provider;
  struct replay_file *file;
  guint next;
};

/* ---- waiting ---- */

static gboolean
was_cancelled (GError **error)
{
  g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_CANCELLED, "the question was cancelled");
  return FALSE;
}

/* Waits, as a line of the file may ask for, no longer than the question may. */
static gboolean
replay_wait_for (const struct model_question *question, gint64 wait_ms, GError **error)
{
  struct pollfd cancel = {.fd = question->cancel_fd, .events = POLLIN};
  gint64 until = g_get_monotonic_time () + wait_ms * 1000;
  gboolean late = question->deadline_us > 0 && question->deadline_us < until;
  if (late)
    until = question->deadline_us;
  do {
    gint64 left_ms = (until - g_get_monotonic_time () + 999) / 1000;
    if (poll (&cancel, 1, (int)CLAMP (left_ms, 0, REPLAY_WAIT_MAX)) > 0)
      return was_cancelled (error);
  } while (g_get_monotonic_time () < until);
  if (late)
    g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_TIMEOUT,
                         "the replay's answer did not come in time: give it more");
  return !late;
}

/* ---- answering ---- */

static void
replay_tell (const struct model_question *question, const char *text)
{
  for (gsize length; question->saw && *text; text += length) {
    for (length = 0; length < PIECE_BYTES && text[length];)
      length = (gsize)(g_utf8_next_char (text + length) - text);
    question->saw (question->saw_data, text, length);
  }
}

static gboolean
replay_answer (const struct replay_exchange *exchange, const struct model_question *question,
               struct model_answer *ret_answer, GError **error)
{
  gint64 began_us = g_get_monotonic_time ();
  if (!replay_wait_for (question, exchange->wait_ms, error))
    return FALSE;
  if (!exchange->message) {
    g_set_error_literal (error, MODEL_ERROR, (gint)exchange->failure_code, exchange->failure);
    return FALSE;
  }
  g_autofree char *text = message_all_text (exchange->message);
  replay_tell (question, text);
  *ret_answer = (struct model_answer){
      .message = json_deep_copy (exchange->message), /* the conversation's owner may change it */
      .stop = exchange->stop,
      .usage = exchange->usage,
      .attempts = 1,
      .took_ms = (g_get_monotonic_time () - began_us) / 1000,
  };
  return TRUE;
}

static gboolean
replay_ask_model (struct provider *provider, const struct model_question *question,
                  struct model_answer *ret_answer, GError **error)
{
  struct replay *replay = (struct replay *)(void *)provider;
  if (replay->next >= replay->file->exchanges->len) {
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_MISMATCH,
                 "the replay %s has no answer left: all %u were given, and one more question was asked",
                 replay->file->path, replay->file->exchanges->len);
    return FALSE;
  }
  const struct replay_exchange *exchange = replay->file->exchanges->pdata[replay->next];
  g_autofree char *difference = replay_difference (exchange->ask, question);
  if (difference) {
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_MISMATCH,
                 "line %u of the replay %s answers another question: %s", exchange->line, replay->file->path,
                 difference);
    return FALSE;
  }
  replay->next++;
  return replay_answer (exchange, question, ret_answer, error);
}

static void
replay_free (struct provider *provider)
{
  struct replay *replay = (struct replay *)(void *)provider;
  replay_file_free (replay->file);
  g_free ((char *)(guintptr)replay->provider.facts.name);
  g_free ((char *)(guintptr)replay->provider.facts.provider);
  g_free (replay);
}

static const struct provider_class replay_class = {replay_ask_model, replay_free};

struct provider *
replay_new (const char *path, GError **error)
{
  struct replay_file *file = replay_file_read (path, error);
  if (!file)
    return NULL;
  struct replay *replay = g_new0 (struct replay, 1);
  replay->file = file;
  replay->provider = (struct provider){
      .class = &replay_class,
      .facts =
          {
              .name = g_strconcat (REPLAY_PREFIX, path, NULL),
              .provider = g_strdup_printf ("a replay of %s", path),
              .is_replay = TRUE,
              .sees = file->sees,
              .context_tokens = file->context_tokens,
          },
  };
  return &replay->provider;
}
