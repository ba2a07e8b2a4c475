/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/activity.h"

#include <stdio.h>

#include "common/guarded.h"
#include "interfaces/cli/view/cli_terminal.h"

#define COLUMNS_STANDARD 80

LOCK_CLASS (activity);

struct activity {
  MUTEX (activity) lock;
  GCond changed;
  GThread *thread;
  GUARDED_BY (activity) const char *label;
  GUARDED_BY (activity) gint64 since; /* of the label */
  GUARDED_BY (activity) gint64 due;   /* when the line is written next */
  GUARDED_BY (activity) gboolean paused, ended, shown;
};

REQUIRES (activity)
static void
draw (struct activity *activity, gint64 now)
{
  guint columns = cli_width (stderr) > 0 ? cli_width (stderr) : COLUMNS_STANDARD;
  g_autofree char *line = g_strdup_printf ("%s, %" G_GINT64_FORMAT " s", activity->label,
                                           (now - activity->since) / G_USEC_PER_SEC);
  fprintf (stderr, "\r\033[K%s%.*s%s", cli_colour (stderr, CLI_DIM), (int)cli_text_fit (line, columns - 1),
           line, cli_colour (stderr, CLI_PLAIN));
  fflush (stderr);
  activity->shown = TRUE;
  activity->due = now + G_USEC_PER_SEC;
}

REQUIRES (activity)
static void
erase (struct activity *activity)
{
  if (activity->shown)
    fputs ("\r\033[K", stderr);
  fflush (stderr);
  activity->shown = FALSE;
}

static gpointer
activity_thread (gpointer data)
{
  struct activity *activity = data;
  g_mutex_lock (&activity->lock);
  while (!activity->ended) {
    gint64 now = g_get_monotonic_time ();
    if (activity->paused)
      g_cond_wait (&activity->changed, &activity->lock);
    else if (now < activity->due)
      (void)g_cond_wait_until (&activity->changed, &activity->lock, activity->due);
    else
      draw (activity, now);
  }
  g_mutex_unlock (&activity->lock);
  return NULL;
}

struct activity *
activity_start (const char *label)
{
  if (!cli_is_screen (stderr))
    return NULL;
  struct activity *activity = g_new0 (struct activity, 1);
  g_mutex_init (&activity->lock);
  g_cond_init (&activity->changed);
  activity->label = label;
  activity->since = g_get_monotonic_time ();
  activity->due = activity->since + G_USEC_PER_SEC;
  activity->thread = g_thread_new ("activity", activity_thread, activity);
  return activity;
}

void
activity_pause (struct activity *activity)
{
  if (!activity)
    return;
  g_mutex_lock (&activity->lock);
  erase (activity);
  activity->paused = TRUE;
  g_mutex_unlock (&activity->lock);
}

void
activity_resume (struct activity *activity, const char *label)
{
  if (!activity)
    return;
  g_mutex_lock (&activity->lock);
  gint64 now = g_get_monotonic_time ();
  if (label && label != activity->label) {
    activity->label = label;
    activity->since = now;
  }
  activity->due = now + G_USEC_PER_SEC;
  activity->paused = FALSE;
  g_cond_signal (&activity->changed);
  g_mutex_unlock (&activity->lock);
}

void
activity_end (struct activity *activity)
{
  if (!activity)
    return;
  g_mutex_lock (&activity->lock);
  erase (activity);
  activity->ended = TRUE;
  g_cond_signal (&activity->changed);
  g_mutex_unlock (&activity->lock);
  g_thread_join (activity->thread);
  g_mutex_clear (&activity->lock);
  g_cond_clear (&activity->changed);
  g_free (activity);
}
