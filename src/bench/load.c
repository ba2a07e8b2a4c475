/* SPDX-License-Identifier: Apache-2.0 */
/* `adder bench load`: many clients for a while, and whether the promises hold meanwhile: no run is lost, most
 * of what the machine can do is done, who must be turned away is told in time, one owner's flood does not
 * drown another, memory stays, and nothing is left. */
#include "bench/load.h"

#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/processes.h"
#include "common/json.h"
#include "engine/host/process.h"
#include "interfaces/cli/cli.h"

/* Something did not hold. */
#define BROKEN_STATUS 1

#define CLIENTS_MAX   10000
#define FLOOD_MIN     20 /* clients, of which FEW are the other owner's */
#define FEW           10
#define FEW_SHARE     0.25 /* of the best rate: what these ask for; half would be their due */
#define REST_S        60
#define PART_S        10 /* of the load at least; two parts in any case */

#define ECHO_CODE     "import sys\nprint(sys.argv[1])\n"

struct load_options {
  int clients;
  double seconds;
  char *environment, *profile, *code, *output;
  gboolean flood, no_daemon, json;
};

/* What is kept while the load runs. */
struct watcher {
  struct load_report *report;
  gint64 start_us;
  double before_s; /* of the load that went before */
  gint64 ok_before;
  gint64 shown_us;
  gboolean shows;
};

/* ---- looking from outside ---- */

/* Of a zygote all that is its own counts, also what sandboxes share as long as they live; of several, one
 * that is being replaced among them, the largest. */
static void
take_sample (struct load_report *report)
{
  if (report->sample_count == LOAD_SAMPLES)
    return;
  struct load_sample *sample = &report->samples[report->sample_count++];
  g_autoptr (GArray) processes = bench_processes (report->target->pid);
  sample->daemon_bytes = process_private (report->target->pid);
  for (guint i = 0; i < processes->len; i++) {
    const struct bench_process *process = &g_array_index (processes, struct bench_process, i);
    struct process_memory memory;
    if (process->zygote && process_memory (process->pid, &memory))
      sample->zygote_bytes = MAX (sample->zygote_bytes, memory.private_bytes);
  }
}

static struct load_held
count_held (const struct load_target *target)
{
  g_autoptr (GArray) processes = bench_processes (target->pid);
  return (struct load_held){processes->len, bench_groups (target->pid), bench_sandbox_bytes (processes)};
}

/* ---- the phases ---- */

static void
load_show_progress (struct watcher *watcher, const struct load_progress *progress, double done_s)
{
  gint64 now_us = g_get_monotonic_time ();
  if (!watcher->shows || now_us - watcher->shown_us < G_USEC_PER_SEC)
    return;
  watcher->shown_us = now_us;
  double here_s = (double)(now_us - watcher->start_us) / G_USEC_PER_SEC;
  gint ok = g_atomic_int_get (&progress->ok), done = g_atomic_int_get (&progress->done);
  fprintf (stderr, "\r\033[K%.0f of %.0f s: %" G_GINT64_FORMAT " ok, %.0f a second%s", done_s,
           watcher->report->seconds, watcher->ok_before + ok, ok / MAX (here_s, 0.1),
           done > ok ? ", others not ok" : "");
  fflush (stderr);
}

/* Each tenth of the load, not of the clock: slices of the best rate do not count. */
static void
load_watch (const struct load_progress *progress, gpointer data)
{
  struct watcher *watcher = data;
  struct load_report *report = watcher->report;
  double done_s = watcher->before_s + (double)(g_get_monotonic_time () - watcher->start_us) / G_USEC_PER_SEC;
  while (report->sample_count < LOAD_SAMPLES - 1 &&
         done_s >= report->seconds * report->sample_count / (LOAD_SAMPLES - 2))
    take_sample (report);
  load_show_progress (watcher, progress, done_s);
}

static void
measure_best (struct load_target *target, struct load_report *report, guint slice, double seconds)
{
  const struct load_group group = {.owner = "best", .clients = g_get_num_processors ()};
  struct load_tally tally;
  load_tally_init (&tally);
  load_run (target, &group, 1, seconds, &tally, NULL, NULL);
  report->best[slice] = load_tally_rate (&tally);
  report->best_lost += (guint)tally.lost;
  load_tally_clear (&tally);
}

static void
load_part (struct load_target *target, struct load_report *report, struct watcher *watcher)
{
  struct load_tally tallies[LOAD_GROUPS];
  double seconds = report->seconds / report->parts;
  watcher->start_us = g_get_monotonic_time ();
  for (guint i = 0; i < report->group_count; i++)
    load_tally_init (&tallies[i]);
  load_run (target, report->groups, report->group_count, seconds, tallies, load_watch, watcher);
  watcher->before_s += seconds;
  for (guint i = 0; i < report->group_count; i++) {
    watcher->ok_before += (gint64)tallies[i].outcomes[ADDER_OUTCOME_OK];
    load_tally_add (&report->tallies[i], &tallies[i]);
    load_tally_clear (&tallies[i]);
  }
}

static void
plan_groups (struct load_report *report, const struct load_options *options)
{
  report->clients = (guint)options->clients;
  report->group_count = options->flood ? 2 : 1;
  report->groups[0] = (struct load_group){.owner = "many", .clients = report->clients};
  if (!options->flood)
    return;
  report->groups[0].clients -= FEW;
  report->groups[1] =
      (struct load_group){.owner = "few", .clients = FEW, .per_second = report->best[0] * FEW_SHARE};
}

static void
load_load (struct load_target *target, struct load_report *report, const struct load_options *options)
{
  struct watcher watcher = {.report = report, .shows = isatty (STDERR_FILENO) && !options->json};
  double slice_s = CLAMP (report->seconds / (6 * report->parts), 0.5, 10);
  /* Not counted: code paths and memory that the first run needs. */
  measure_best (target, report, 0, slice_s / 2);
  load_target_rest (target, REST_S);
  report->before = count_held (target);
  measure_best (target, report, 0, slice_s);
  plan_groups (report, options);
  take_sample (report);
  for (guint part = 1; part <= report->parts; part++) {
    load_part (target, report, &watcher);
    measure_best (target, report, part, slice_s);
  }
  load_target_rest (target, REST_S);
  report->after = count_held (target);
  take_sample (report);
  if (watcher.shows)
    fputs ("\r\033[K", stderr);
}

/* ---- the command ---- */

static gboolean
load_parse (int argc, char **argv, struct load_options *options, GError **error)
{
  const GOptionEntry entries[] = {
      {"clients", 0, 0, G_OPTION_ARG_INT, &options->clients, "Clients at once (1 to 10000, default 200)",
       "N"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options->seconds, "Length of the load (1 to 86400, default 60)",
       "S"},
      {"env", 'e', 0, G_OPTION_ARG_FILENAME, &options->environment,
       "Environment to run in (default: the configuration's)", "NAME"},
      {"profile", 'p', 0, G_OPTION_ARG_FILENAME, &options->profile, "Set of limits", "NAME"},
      {"code", 0, 0, G_OPTION_ARG_FILENAME, &options->code,
       "What each run executes (default: a print that tells results apart)", "CODE"},
      {"flood", 0, 0, G_OPTION_ARG_NONE, &options->flood,
       "Two owners, of whom one floods: 10 of the clients ask for a quarter of what the machine can do, all "
       "others for as much as they get. Implies --no-daemon",
       NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options->no_daemon, "Use an engine in this process", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, "Also write that object to FILE", "FILE"},
      {NULL},
  };
  if (!cli_parse (entries, 0, 0, &argc, &argv, error))
    return FALSE;
  int least = options->flood ? FLOOD_MIN : 1;
  if (options->clients < least || options->clients > CLIENTS_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--clients is %d to %d%s", least, CLIENTS_MAX,
                 options->flood ? " with --flood" : "");
    return FALSE;
  }
  if (!(options->seconds >= 1 && options->seconds <= 86400)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--seconds is 1 to 86400");
    return FALSE;
  }
  return TRUE;
}

static int
load_tell (const struct load_report *report, const struct load_options *options, GError **error)
{
  g_autoptr (json_t) told = load_report_json (report);
  g_autofree char *text = json_dumps (told, JSON_INDENT (2) | JSON_REAL_PRECISION (6));
  g_autofree char *line = g_strconcat (text, "\n", NULL);
  if (options->json)
    fputs (line, stdout);
  else
    load_report_print (stdout, report, told);
  if (options->output && !g_file_set_contents (options->output, line, -1, error))
    return -1;
  return json_is_true (json_object_get (told, "holds")) ? 0 : BROKEN_STATUS;
}

static int
run (struct load_options *options, GError **error)
{
  struct load_target target = {.environment = g_strdup (options->environment),
                               .profile = g_strdup (options->profile),
                               .code = g_strdup (options->code ? options->code : ECHO_CODE),
                               .echoes = options->code == NULL};
  struct load_report report = {.target = &target,
                               .seconds = options->seconds,
                               .parts = (guint)CLAMP (options->seconds / PART_S, 2, LOAD_PARTS)};
  int code = -1;
  for (guint i = 0; i < LOAD_GROUPS; i++)
    load_tally_init (&report.tallies[i]);
  if (load_target_open (&target, options->no_daemon || options->flood, error)) {
    load_load (&target, &report, options);
    code = load_tell (&report, options, error);
  }
  for (guint i = 0; i < LOAD_GROUPS; i++)
    load_tally_clear (&report.tallies[i]);
  load_target_clear (&target);
  return code;
}

int
bench_load (int argc, char **argv)
{
  struct load_options options = {.clients = 200, .seconds = 60};
  g_autoptr (GError) problem = NULL;
  int code;
  if (!load_parse (argc, argv, &options, &problem))
    code = cli_fail_usage (problem);
  else if ((code = run (&options, &problem)) < 0)
    code = cli_fail (problem);
  g_free (options.environment);
  g_free (options.profile);
  g_free (options.code);
  g_free (options.output);
  return code;
}
