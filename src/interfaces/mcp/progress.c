/* SPDX-License-Identifier: Apache-2.0 */
/* Output as progress: how long it takes so far, in seconds, with what was printed since the last message.
 *
 * A burst of a few messages is allowed, so that slow code's output appears at once; in the long run there are
 * so many a second. Output held back goes with the next one; the last of it is in the result. While code is
 * silent, messages without text show that it still runs, since clients give up on silent calls. */
#include "interfaces/mcp/progress.h"

#include <string.h>

#include "common/config.h"

#define AT_ONCE    8.0  /* messages */
#define TEXT_MAX   4096 /* bytes of one */
#define RUNE_BYTES 4

static gboolean
progress_is_allowed (struct mcp_watched *watched, gint64 now)
{
  const struct config *config = mcp_server_service (watched->request->server)->config;
  double filled = (double)(now - watched->filled_us) / ((double)config->mcp_progress_ms * 1000);
  watched->filled_us = now;
  watched->allowance = MIN (AT_ONCE, watched->allowance + filled);
  if (watched->allowance < 1)
    return FALSE;
  watched->allowance -= 1;
  return TRUE;
}

/* The last TEXT_MAX bytes, without an incomplete character at the end. */
static char *
progress_take_text (GString *unsent)
{
  const char *end = unsent->str;
  gsize held = 0;
  for (gsize i = 1; i < RUNE_BYTES && i <= unsent->len; i++)
    if (g_utf8_get_char_validated (unsent->str + unsent->len - i, (gssize)i) == (gunichar)-2)
      held = i;
  end += unsent->len - held;
  const char *from = end - unsent->str > TEXT_MAX ? end - TEXT_MAX : unsent->str;
  char *text = g_utf8_make_valid (from, end - from);
  g_string_erase (unsent, 0, end - unsent->str);
  return text;
}

/* Of two messages within a millisecond the second counts one more: progress must grow. */
REQUIRES (mcp_watched)
static void
progress_tell (struct mcp_watched *watched, gint64 now, const char *text)
{
  watched->told_us = now;
  watched->told_ms = MAX ((now - watched->started_us) / 1000, watched->told_ms + 1);
  mcp_progress (watched->request, (double)watched->told_ms / 1000, -1, text);
}

static void
progress_saw (gpointer data, G_GNUC_UNUSED AdderRun *run, const AdderEvent *event)
{
  struct mcp_watched *watched = data;
  if (event->kind != ADDER_EVENT_STDOUT && event->kind != ADDER_EVENT_STDERR)
    return;
  gint64 now = g_get_monotonic_time ();
  gsize taken = MIN (event->length, 2 * TEXT_MAX);
  g_string_append_len (watched->unsent, (const char *)event->data + event->length - taken, (gssize)taken);
  if (watched->unsent->len > 4 * TEXT_MAX)
    g_string_erase (watched->unsent, 0, (gssize)watched->unsent->len - 2 * TEXT_MAX);
  if (!progress_is_allowed (watched, now))
    return;
  g_autofree char *text = progress_take_text (watched->unsent);
  g_mutex_lock (&watched->lock);
  progress_tell (watched, now, text);
  g_mutex_unlock (&watched->lock);
}

/* Clients that show elapsed time continue to: such a call's numbers are in its text. */
static void
progress_progressed (gpointer data, const struct tool_progress *progress)
{
  struct mcp_watched *watched = data;
  gint64 now = g_get_monotonic_time ();
  if (!progress_is_allowed (watched, now))
    return;
  g_mutex_lock (&watched->lock);
  progress_tell (watched, now, progress->text);
  g_mutex_unlock (&watched->lock);
}

static gpointer
pulse (gpointer data)
{
  struct mcp_watched *watched = data;
  const struct config *config = mcp_server_service (watched->request->server)->config;
  gint64 every_us = (gint64)config->mcp_pulse_ms * 1000;
  g_mutex_lock (&watched->lock);
  while (!watched->ended)
    if (!g_cond_wait_until (&watched->ended_cond, &watched->lock, watched->told_us + every_us) &&
        g_get_monotonic_time () >= watched->told_us + every_us)
      progress_tell (watched, g_get_monotonic_time (), NULL);
  g_mutex_unlock (&watched->lock);
  return NULL;
}

void
mcp_progress_watch (struct mcp_watched *watched, struct mcp_request *request, struct tool_caller *caller)
{
  gint64 now = g_get_monotonic_time ();
  *watched = (struct mcp_watched){
      .request = request, .started_us = now, .filled_us = now, .told_us = now, .allowance = AT_ONCE};
  if (!request->token)
    return;
  watched->unsent = g_string_new (NULL);
  caller->saw = progress_saw;
  caller->progressed = progress_progressed;
  caller->saw_data = watched;
  g_mutex_init (&watched->lock);
  g_cond_init (&watched->ended_cond);
  if (mcp_server_service (request->server)->config->mcp_pulse_ms > 0)
    watched->pulse = g_thread_try_new ("mcp-pulse", pulse, watched, NULL);
}

void
mcp_progress_end (struct mcp_watched *watched)
{
  if (!watched->unsent)
    return;
  g_mutex_lock (&watched->lock);
  watched->ended = TRUE;
  g_cond_signal (&watched->ended_cond);
  g_mutex_unlock (&watched->lock);
  if (watched->pulse)
    g_thread_join (watched->pulse);
  g_mutex_clear (&watched->lock);
  g_cond_clear (&watched->ended_cond);
  g_string_free (watched->unsent, TRUE);
}
