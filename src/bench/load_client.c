/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a load: a thread each, which asks, waits and asks again. */
#include <string.h>

#include "bench/load.h"

/* Who is told `busy` comes back after a moment, as a client would; asking again at once, a few hundred of
 * them would take the processors from those who are served. */
#define BUSY_PAUSE_US (100 * 1000)

/* A client whose connection broke tries again a few times: a daemon that is gone is gone for all. */
#define BREAKS_MAX 3

#define WATCH_US   (100 * 1000)

struct load_client {
  struct load_line line;
  guint number;
  gint64 until_us;
  gint64 period_us; /* between two requests; 0: at once */
  struct load_progress *progress;
  gint *running;
  struct load_tally tally;
};

void
load_tally_init (struct load_tally *tally)
{
  memset (tally, 0, sizeof *tally);
  tally->latencies = g_array_new (FALSE, FALSE, sizeof (double));
}

void
load_tally_clear (struct load_tally *tally)
{
  g_clear_pointer (&tally->latencies, g_array_unref);
  g_clear_pointer (&tally->reason, g_free);
}

/* Those of one group at the same time. */
static void
load_client_merge (struct load_tally *tally, const struct load_tally *more)
{
  tally->sent += more->sent;
  tally->lost += more->lost;
  for (gsize i = 0; i < LOAD_OUTCOMES; i++)
    tally->outcomes[i] += more->outcomes[i];
  g_array_append_vals (tally->latencies, more->latencies->data, more->latencies->len);
  tally->longest_ms = MAX (tally->longest_ms, more->longest_ms);
  tally->busy_ms = MAX (tally->busy_ms, more->busy_ms);
  tally->seconds = MAX (tally->seconds, more->seconds);
  if (!tally->reason)
    tally->reason = g_strdup (more->reason);
}

void
load_tally_add (struct load_tally *tally, const struct load_tally *more)
{
  double seconds = tally->seconds + more->seconds;
  load_client_merge (tally, more);
  tally->seconds = seconds;
}

double
load_tally_rate (const struct load_tally *tally)
{
  return tally->seconds > 0 ? (double)tally->outcomes[ADDER_OUTCOME_OK] / tally->seconds : 0;
}

static void
load_client_note_result (struct load_client *client, AdderOutcome outcome, double took_ms)
{
  struct load_tally *tally = &client->tally;
  tally->outcomes[outcome]++;
  tally->longest_ms = MAX (tally->longest_ms, took_ms);
  g_atomic_int_inc (&client->progress->done);
  if (outcome == ADDER_OUTCOME_OK) {
    g_array_append_val (tally->latencies, took_ms);
    g_atomic_int_inc (&client->progress->ok);
  }
  if (outcome != ADDER_OUTCOME_BUSY)
    return;
  tally->busy_ms = MAX (tally->busy_ms, took_ms);
  g_usleep (BUSY_PAUSE_US);
}

/* One request to its end. FALSE when it was lost. */
static gboolean
load_client_ask_once (struct load_client *client)
{
  struct load_tally *tally = &client->tally;
  g_autoptr (GError) problem = NULL;
  AdderOutcome outcome;
  char token[64];
  g_snprintf (token, sizeof token, "load-%u-%" G_GUINT64_FORMAT "-end", client->number, tally->sent++);
  gint64 start_us = g_get_monotonic_time ();
  if (load_line_ask (&client->line, token, &outcome, &problem)) {
    load_client_note_result (client, outcome, (double)(g_get_monotonic_time () - start_us) / 1000);
    return TRUE;
  }
  tally->lost++;
  if (!tally->reason)
    tally->reason = g_strdup (problem->message);
  return FALSE;
}

static void
sleep_until (gint64 then_us)
{
  gint64 left_us = then_us - g_get_monotonic_time ();
  if (left_us > 0)
    g_usleep ((gulong)left_us);
}

static gpointer
client_thread (gpointer data)
{
  struct load_client *client = data;
  gint64 start_us = g_get_monotonic_time ();
  /* Those who ask now and then do not do so all at once. */
  gint64 next_us = start_us + (client->period_us > 0 ? client->period_us * (client->number % 10) / 10 : 0);
  for (int breaks = 0; breaks < BREAKS_MAX;) {
    sleep_until (MIN (next_us, client->until_us));
    if (g_get_monotonic_time () >= client->until_us)
      break;
    next_us += client->period_us;
    breaks += load_client_ask_once (client) ? 0 : 1;
  }
  load_line_close (&client->line);
  /* Who had to give up early did not ask at a higher rate. */
  gint64 end_us = MAX (g_get_monotonic_time (), client->until_us);
  client->tally.seconds = (double)(end_us - start_us) / G_USEC_PER_SEC;
  g_atomic_int_add (client->running, -1);
  return NULL;
}

void
load_run (struct load_target *target, const struct load_group *groups, guint count, double seconds,
          struct load_tally *tallies, void (*watch) (const struct load_progress *, gpointer), gpointer data)
{
  guint all = 0, number = 0;
  for (guint i = 0; i < count; i++)
    all += groups[i].clients;
  g_autofree struct load_client *clients = g_new0 (struct load_client, all);
  g_autofree GThread **threads = g_new0 (GThread *, all);
  struct load_progress progress = {0};
  gint running = (gint)all;
  gint64 until_us = g_get_monotonic_time () + (gint64)(seconds * G_USEC_PER_SEC);
  for (guint i = 0; i < count; i++)
    for (guint j = 0; j < groups[i].clients; j++, number++) {
      double period = groups[i].per_second > 0 ? groups[i].clients / groups[i].per_second : 0;
      clients[number] = (struct load_client){
          .line = {.target = target, .owner = groups[i].owner, .client = {.fd = -1}},
          .number = number,
          .until_us = until_us,
          .period_us = (gint64)(period * G_USEC_PER_SEC),
          .progress = &progress,
          .running = &running,
      };
      load_tally_init (&clients[number].tally);
      threads[number] = g_thread_new ("client", client_thread, &clients[number]);
    }
  while (g_atomic_int_get (&running) > 0) {
    g_usleep (WATCH_US);
    if (watch)
      watch (&progress, data);
  }
  number = 0;
  for (guint i = 0; i < count; i++)
    for (guint j = 0; j < groups[i].clients; j++, number++) {
      g_thread_join (threads[number]);
      load_client_merge (&tallies[i], &clients[number].tally);
      load_tally_clear (&clients[number].tally);
    }
}
