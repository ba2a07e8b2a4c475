/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a load: what was promised is a table of checks, each with the number that it judges. */
#include <string.h>

#include "bench/bench.h"
#include "bench/load.h"
#include "interfaces/cli/cli.h"

#define SCHEMA_VERSION 1

#define SHARE_MIN      0.9 /* of the best rate, and of what the few ask for */
#define BUSY_GRACE_MS                                                                                        \
  1000                    /* on top of the deadline: with all processors taken, who is told waits its turn   \
                           */
#define GROWTH_MAX   0.05 /* of memory, from the second tenth to the last */
#define GROWTH_BYTES (2 * 1024 * 1024)

/* Each part of the load is held against what was measured right before and right after it. */
double
load_best_rate (const struct load_report *report)
{
  double sum = 0;
  for (guint i = 0; i < report->parts; i++)
    sum += (report->best[i] + report->best[i + 1]) / 2;
  return sum / report->parts;
}

/* All groups together. */
static void
total (const struct load_report *report, struct load_tally *ret_tally)
{
  load_tally_init (ret_tally);
  for (guint i = 0; i < report->group_count; i++) {
    double seconds = MAX (ret_tally->seconds, report->tallies[i].seconds);
    load_tally_add (ret_tally, &report->tallies[i]);
    ret_tally->seconds = seconds;
  }
}

/* ---- checks ---- */

/* A number and the bound that it must not be below, or above. */
struct check {
  const char *name, *text;
  double value, bound;
  gboolean at_least;
};

static gboolean
check_holds (const struct check *check)
{
  return check->at_least ? check->value >= check->bound : check->value <= check->bound;
}

static double
growth (const struct load_report *report, gboolean zygotes)
{
  if (report->sample_count < LOAD_SAMPLES)
    return 0;
  const struct load_sample *early = &report->samples[2], *late = &report->samples[LOAD_SAMPLES - 2];
  double from = (double)(zygotes ? early->zygote_bytes : early->daemon_bytes);
  double to = (double)(zygotes ? late->zygote_bytes : late->daemon_bytes);
  return to - from - GROWTH_MAX * from;
}

/* What the few asked for and had to get: all of it, or half of what there is where that is less. */
static double
due (const struct load_report *report)
{
  return MIN (report->groups[1].per_second, load_best_rate (report) / 2);
}

static json_t *
checks_json (const struct load_report *report, const struct load_tally *all, gboolean *ret_holds)
{
  double best = load_best_rate (report), wanted = report->group_count > 1 ? due (report) : 0;
  double got = load_tally_rate (&report->tallies[1]);
  const struct check checks[] = {
      {"lost", "requests without exactly one result", (double)(all->lost + report->best_lost), 0, FALSE},
      {"failed", "runs that Adder failed", (double)all->outcomes[ADDER_OUTCOME_FAILED], 0, FALSE},
      {"share", "of the best rate ended `ok`", best > 0 ? load_tally_rate (all) / best : 0, SHARE_MIN, TRUE},
      {"busy_ms", "the longest until `busy`", all->busy_ms,
       (double)report->target->queue_wait_ms + BUSY_GRACE_MS, FALSE},
      {"fairness", "of what the few asked for, they got", wanted > 0 ? got / wanted : 1, SHARE_MIN, TRUE},
      {"daemon_growth_bytes", "more memory of the daemon than 5 %", growth (report, FALSE), GROWTH_BYTES,
       FALSE},
      {"zygote_growth_bytes", "more memory of the zygote than 5 %", growth (report, TRUE), GROWTH_BYTES,
       FALSE},
      {"processes_left", "processes more than before", (double)report->after.processes,
       report->before.processes, FALSE},
      {"groups_left", "control groups more than before", (double)report->after.groups, report->before.groups,
       FALSE},
  };
  json_t *array = json_array ();
  *ret_holds = TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (checks); i++) {
    gboolean holds = check_holds (&checks[i]);
    *ret_holds = *ret_holds && holds;
    json_array_append_new (array, json_pack ("{s:s, s:s, s:f, s:s, s:f, s:b}", "name", checks[i].name, "text",
                                             checks[i].text, "value", checks[i].value, "bound",
                                             checks[i].at_least ? "at_least" : "at_most", "limit",
                                             checks[i].bound, "holds", holds));
  }
  return array;
}

/* ---- for programs ---- */

static json_t *
tally_json (const struct load_tally *tally)
{
  json_t *outcomes = json_object ();
  for (gsize i = 0; i < LOAD_OUTCOMES; i++)
    json_object_set_new (outcomes, adder_outcome_name ((AdderOutcome)i),
                         json_integer ((json_int_t)tally->outcomes[i]));
  json_t *latency = bench_series_json (tally->latencies, FALSE);
  json_object_set_new (latency, "max", json_real (bench_quantile (tally->latencies, 1)));
  return json_pack ("{s:I, s:I, s:s?, s:o, s:f, s:f, s:o, s:f}", "sent", (json_int_t)tally->sent, "lost",
                    (json_int_t)tally->lost, "lost_reason", tally->reason, "outcomes", outcomes, "seconds",
                    tally->seconds, "ok_per_second", load_tally_rate (tally), "latency_ms", latency,
                    "longest_busy_ms", tally->busy_ms);
}

static json_t *
owners_json (const struct load_report *report)
{
  json_t *array = json_array ();
  for (guint i = 0; i < report->group_count; i++) {
    json_t *owner = tally_json (&report->tallies[i]);
    json_object_set_new (owner, "owner", json_string (report->groups[i].owner));
    json_object_set_new (owner, "clients", json_integer (report->groups[i].clients));
    json_object_set_new (owner, "asked_per_second",
                         report->groups[i].per_second > 0 ? json_real (report->groups[i].per_second)
                                                          : json_null ());
    json_array_append_new (array, owner);
  }
  return array;
}

static json_t *
held_json (const struct load_held *held)
{
  return json_pack ("{s:i, s:i, s:I}", "processes", (int)held->processes, "groups", (int)held->groups,
                    "parked_bytes", (json_int_t)held->parked_bytes);
}

json_t *
load_report_json (const struct load_report *report)
{
  struct load_tally all;
  gboolean holds;
  json_t *memory = json_array (), *slices = json_array ();
  total (report, &all);
  for (guint i = 0; i < report->sample_count; i++)
    json_array_append_new (memory, json_pack ("{s:I, s:I}", "daemon_bytes",
                                              (json_int_t)report->samples[i].daemon_bytes, "zygote_bytes",
                                              (json_int_t)report->samples[i].zygote_bytes));
  for (guint i = 0; i <= report->parts; i++)
    json_array_append_new (slices, json_real (report->best[i]));
  json_t *checks = checks_json (report, &all, &holds);
  const struct load_target *target = report->target;
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
  json_t *object = json_pack (
      "{s:i, s:s, s:s?, s:s, s:s?, s:i, s:f, s:f, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:b}",
      "schema_version", SCHEMA_VERSION, "date", date, "socket", target->socket, "environment",
      target->environment, "profile", target->profile, "clients", (int)report->clients, "seconds",
      report->seconds, "best_per_second", load_best_rate (report), "best_slices", slices, "total",
      tally_json (&all), "owners", owners_json (report), "deadline_ms", (json_int_t)target->queue_wait_ms,
      "memory", memory, "held_before", held_json (&report->before), "held_after", held_json (&report->after),
      "checks", checks, "holds", holds);
  load_tally_clear (&all);
  return object;
}

/* ---- for people ---- */

#define LABEL "%-22s "

static void
print_tally (FILE *stream, const struct load_report *report, const struct load_tally *all)
{
  fprintf (stream, LABEL "%" G_GUINT64_FORMAT "\n", "requests sent", all->sent);
  for (gsize i = 0; i < LOAD_OUTCOMES; i++) {
    if (all->outcomes[i] == 0)
      continue;
    fprintf (stream,
             "  "
             "%-20s %" G_GUINT64_FORMAT,
             adder_outcome_name ((AdderOutcome)i), all->outcomes[i]);
    if (i == ADDER_OUTCOME_OK)
      fprintf (stream, ", %.1f a second", load_tally_rate (all));
    if (i == ADDER_OUTCOME_BUSY)
      fprintf (stream, ", told after %.0f ms at most (deadline %" G_GUINT64_FORMAT " ms)", all->busy_ms,
               report->target->queue_wait_ms);
    fputc ('\n', stream);
  }
  fprintf (stream, LABEL "%" G_GUINT64_FORMAT "%s%s\n", "lost", all->lost, all->reason ? ": " : "",
           all->reason ? all->reason : "");
  fprintf (stream, LABEL "p50 %.1f, p90 %.1f, p99 %.1f, longest %.1f\n", "latency, ms",
           bench_quantile (all->latencies, 0.5), bench_quantile (all->latencies, 0.9),
           bench_quantile (all->latencies, 0.99), bench_quantile (all->latencies, 1));
}

static void
print_memory (FILE *stream, const char *label, const struct load_report *report, gboolean zygotes)
{
  fprintf (stream, LABEL, label);
  for (guint i = 0; i < report->sample_count; i++) {
    const struct load_sample *sample = &report->samples[i];
    fprintf (stream, "%.1f ", (double)(zygotes ? sample->zygote_bytes : sample->daemon_bytes) / 1e6);
  }
  fputc ('\n', stream);
}

static void
print_checks (FILE *stream, const json_t *checks)
{
  gsize i;
  json_t *check;
  fputc ('\n', stream);
  json_array_foreach ((json_t *)checks, i, check)
  {
    gboolean holds = json_is_true (json_object_get (check, "holds"));
    gboolean least = strcmp (json_string_value (json_object_get (check, "bound")), "at_least") == 0;
    fprintf (stream, "%s%-6s%s %-38s %.6g, %s %.6g\n", cli_colour (stream, holds ? CLI_GREEN : CLI_RED),
             holds ? "held" : "BROKEN", cli_colour (stream, CLI_PLAIN),
             json_string_value (json_object_get (check, "text")),
             json_real_value (json_object_get (check, "value")), least ? "at least" : "at most",
             json_real_value (json_object_get (check, "limit")));
  }
}

void
load_report_print (FILE *stream, const struct load_report *report, const json_t *told)
{
  struct load_tally all;
  total (report, &all);
  fprintf (stream, "%u clients for %.0f s on %s%s, environment %s\n\n", report->clients, report->seconds,
           report->target->socket ? "the daemon at " : "an engine in this process",
           report->target->socket ? report->target->socket : "", report->target->environment);
  fprintf (stream, LABEL "%.1f a second, of %u clients (", "best rate", load_best_rate (report),
           g_get_num_processors ());
  for (guint i = 0; i <= report->parts; i++)
    fprintf (stream, "%s%.1f", i > 0 ? ", " : "", report->best[i]);
  fputs (")\n", stream);
  print_tally (stream, report, &all);
  for (guint i = 0; i < report->group_count && report->group_count > 1; i++) {
    const struct load_group *group = &report->groups[i];
    fprintf (stream, "owner %-16s %.1f a second for %u clients", group->owner,
             load_tally_rate (&report->tallies[i]), group->clients);
    if (group->per_second > 0)
      fprintf (stream, ", %.1f requested", group->per_second);
    fputc ('\n', stream);
  }
  print_memory (stream, "daemon, MB", report, FALSE);
  print_memory (stream, "zygote, MB", report, TRUE);
  print_checks (stream, json_object_get (told, "checks"));
  load_tally_clear (&all);
}
