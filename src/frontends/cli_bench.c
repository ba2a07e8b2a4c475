/* SPDX-License-Identifier: Apache-2.0 */
/* `adder bench`: Adder and the plain way to do the same, measured in turn on this machine, with the ratio.
 *
 * Each row of `measures` is code that both sides run. The plain side is the environment's own interpreter,
 * started anew as `python -c CODE` with the same font cache and the same one-thread settings that a sandbox
 * has. Turn and turn about, so that a machine whose speed drifts is fair to both; medians, because a busy
 * machine has long tails. A ratio is what to quote: absolute times are this machine's.
 *
 * Latency through the library is that of a request which finds the pool full, as after a moment's pause;
 * what callers get who leave no pause is what the throughput says. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "adder.h"
#include "common/config.h"
#include "engine/environment.h"
#include "frontends/cli.h"

#define PRINT_CODE "print(2**32)"
#define TABLE_CODE                                                                                           \
  "import pandas as pd\n"                                                                                    \
  "frame = pd.DataFrame({'key': list('abac') * 25, 'value': range(100)})\n"                                  \
  "print(frame.groupby('key').value.sum().to_dict())\n"
#define PLOT_CODE                                                                                            \
  "import matplotlib.pyplot as plt\n"                                                                        \
  "figure, axes = plt.subplots()\n"                                                                          \
  "axes.bar(['a', 'b', 'c'], [3, 1, 2])\n"                                                                   \
  "axes.set_title('bench')\n"                                                                                \
  "figure.savefig('bench.png')\n"
#define LOADED_CODE "import pandas\nprint(1)\n"
/* Unique set size: what would be freed if this process ended. */
#define MEMORY_CODE                                                                                          \
  "import pandas\n"                                                                                          \
  "rows = [row.split() for row in open('/proc/self/smaps_rollup') if row.startswith('Private_')]\n"          \
  "print(sum(int(row[1]) for row in rows) * 1024)\n"

enum measure_kind {
  MEASURE_RUN,        /* request to result through the library */
  MEASURE_PROCESS,    /* `adder run` as a whole process, its daemon warm */
  MEASURE_COLD,       /* the same, but it has to start the daemon; of print(1) whatever plain Python runs */
  MEASURE_THROUGHPUT, /* runs a second, as many callers as cores */
  MEASURE_MEMORY,     /* bytes, printed by the code itself */
};

struct measure {
  const char *name, *title;
  enum measure_kind kind;
  const char *code;
  double must, aim; /* how many times better than plain Python it has to be, and should be */
};

static const struct measure measures[] = {
    {"print", "print(2**32)", MEASURE_RUN, PRINT_CODE, 25, 60},
    {"pandas", "small pandas groupby", MEASURE_RUN, TABLE_CODE, 100, 300},
    {"plot", "bar plot to PNG", MEASURE_RUN, PLOT_CODE, 5, 10},
    {"pandas_process", "the same groupby, `adder run` as a process", MEASURE_PROCESS, TABLE_CODE, 15, 40},
    {"cold", "first result of a daemon that was not there", MEASURE_COLD, LOADED_CODE, 1, 3},
    {"runs_per_second", "trivial runs, pandas loaded", MEASURE_THROUGHPUT, LOADED_CODE, 40, 100},
    {"pandas_runs_per_second", "small groupby in each run", MEASURE_THROUGHPUT, TABLE_CODE, 20, 50},
    {"parked_memory", "private memory, pandas loaded", MEASURE_MEMORY, MEMORY_CODE, 0, 0},
};

/* What one measure found: milliseconds, runs a second or bytes, by kind. */
struct finding {
  double adder, plain;
  guint adder_samples, plain_samples;
};

struct bench {
  AdderEngine *engine;
  struct environment *environment;
  char *program;         /* this very file, for whole-process runs */
  char *directory;       /* scratch: the plain side's current directory, the second daemon's sockets */
  GStrv plain_variables; /* environment of the plain side */
  GStrv adder_variables; /* environment of `adder run` */
  int rounds;
  guint64 parked; /* sandboxes of a full pool */
  double seconds; /* length of a throughput measure, for each side */
};

static double
now_ms (void)
{
  return (double)g_get_monotonic_time () / 1000.0;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
median (GArray *samples)
{
  if (samples->len == 0)
    return 0;
  g_array_sort (samples, compare_doubles);
  return g_array_index (samples, double, samples->len / 2);
}

/* One run through the library. *RET_STDOUT may be NULL. */
static gboolean
run_in_adder (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  g_autoptr (AdderRequest) request = adder_request_new (code, -1);
  adder_request_set_environment (request, bench->environment->name);
  double start = now_ms ();
  g_autoptr (AdderResult) result = adder_run (bench->engine, request);
  double took = now_ms () - start;
  if (adder_result_outcome (result) != ADDER_OUTCOME_OK) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "a run of the bench ended badly: %s",
                 adder_result_json (result));
    return FALSE;
  }
  if (ret_stdout) {
    json_t *object = json_loads (adder_result_json (result), JSON_ALLOW_NUL, NULL);
    *ret_stdout = g_strdup (json_string_value (json_object_get (object, "stdout")));
    json_decref (object);
  }
  *ret_ms = took;
  return TRUE;
}

/* One process from start to end, standard output read whole. */
static gboolean
run_process (const char *const *arguments, GStrv variables, const char *directory, double *ret_ms,
             char **ret_stdout, GError **error)
{
  int status = 0;
  g_autofree char *text = NULL;
  double start = now_ms ();
  if (!g_spawn_sync (directory, (char **)arguments, variables, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &text,
                     NULL, &status, error))
    return FALSE;
  double took = now_ms () - start;
  if (!g_spawn_check_wait_status (status, error)) {
    g_prefix_error (error, "%s: ", arguments[0]);
    return FALSE;
  }
  if (ret_stdout)
    *ret_stdout = g_steal_pointer (&text);
  *ret_ms = took;
  return TRUE;
}

static gboolean
run_in_plain (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  const char *arguments[] = {bench->environment->python, "-c", code, NULL};
  return run_process (arguments, bench->plain_variables, bench->directory, ret_ms, ret_stdout, error);
}

static gboolean
run_in_command (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  const char *arguments[] = {bench->program,           "run", "--json", "--env",
                             bench->environment->name, "-c",  code,     NULL};
  return run_process (arguments, bench->adder_variables, bench->directory, ret_ms, ret_stdout, error);
}

/* Whatever CODE plain Python runs: a first result is compared with one that loads the modules. The daemon is
 * ended again, so that it loads none beside what is measured next. */
static gboolean
run_cold (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  const char *arguments[] = {bench->program, "stop", NULL};
  double took;
  (void)code;
  return run_process (arguments, bench->adder_variables, NULL, &took, NULL, error) &&
         run_in_command (bench, "print(1)", ret_ms, ret_stdout, error) &&
         run_process (arguments, bench->adder_variables, NULL, &took, NULL, error);
}

/* The longest wait for a full pool. It may be that it never is: on a host that is short of memory. */
#define SETTLE_MS 2000

/* Waits until as many sandboxes are parked as the configuration says and none is on its way. */
static void
settle (struct bench *bench)
{
  for (double until = now_ms () + SETTLE_MS; now_ms () < until; g_usleep (1000)) {
    g_autofree char *text = adder_engine_status_json (bench->engine);
    json_t *status = json_loads (text, 0, NULL), *pool;
    gsize index;
    gboolean full = json_integer_value (json_object_get (status, "running")) == 0;
    json_array_foreach (json_object_get (status, "pools"), index, pool) full =
        full && json_integer_value (json_object_get (pool, "parking")) == 0 &&
        json_integer_value (json_object_get (pool, "parked")) >= (json_int_t)bench->parked;
    json_decref (status);
    if (full)
      return;
  }
}

static gboolean
run_settled (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  settle (bench);
  return run_in_adder (bench, code, ret_ms, ret_stdout, error);
}

typedef gboolean (*run_function) (struct bench *, const char *code, double *ret_ms, char **ret_stdout,
                                  GError **);

/* Adder three times for each time of plain Python: its times are short, so its median needs more of them. */
static gboolean
measure_latency (struct bench *bench, const struct measure *measure, run_function adder,
                 struct finding *ret_finding, GError **error)
{
  g_autoptr (GArray) fast = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) plain = g_array_new (FALSE, FALSE, sizeof (double));
  double took;
  if (!adder (bench, measure->code, &took, NULL,
              error)) /* not counted: a daemon or an environment may start here */
    return FALSE;
  for (int round = 0; round < bench->rounds; round++) {
    if (!run_in_plain (bench, measure->code, &took, NULL, error))
      return FALSE;
    g_array_append_val (plain, took);
    for (int i = 0; i < 3; i++) {
      if (!adder (bench, measure->code, &took, NULL, error))
        return FALSE;
      g_array_append_val (fast, took);
    }
  }
  *ret_finding = (struct finding){median (fast), median (plain), fast->len, plain->len};
  return TRUE;
}

/* In turns as well: each side has SLICES shares of the time. */
#define SLICES 4

struct caller {
  struct bench *bench;
  const char *code;
  run_function function;
  double until_ms;
  guint runs;
  GError *error;
};

static gpointer
call_until (gpointer data)
{
  struct caller *caller = data;
  double took;
  while (now_ms () < caller->until_ms &&
         caller->function (caller->bench, caller->code, &took, NULL, &caller->error))
    caller->runs++;
  return NULL;
}

/* Runs a second with one caller for each core; counts the time that the last runs take beyond the end as
 * well. */
static gboolean
runs_per_second (struct bench *bench, const char *code, run_function function, double *ret_rate,
                 guint *ret_runs, GError **error)
{
  guint count = g_get_num_processors ();
  g_autofree struct caller *callers = g_new0 (struct caller, count);
  g_autofree GThread **threads = g_new0 (GThread *, count);
  double start = now_ms ();
  for (guint i = 0; i < count; i++) {
    callers[i] = (struct caller){bench, code, function, start + bench->seconds * 1000 / SLICES, 0, NULL};
    threads[i] = g_thread_new ("bench", call_until, &callers[i]);
  }
  guint runs = 0;
  gboolean well = TRUE;
  for (guint i = 0; i < count; i++) {
    g_thread_join (threads[i]);
    runs += callers[i].runs;
    if (callers[i].error && well) {
      g_propagate_error (error, callers[i].error);
      well = FALSE;
    } else
      g_clear_error (&callers[i].error);
  }
  if (!well)
    return FALSE;
  *ret_rate = runs / ((now_ms () - start) / 1000);
  *ret_runs = runs;
  return TRUE;
}

static gboolean
measure_throughput (struct bench *bench, const struct measure *measure, struct finding *ret_finding,
                    GError **error)
{
  struct finding finding = {0};
  for (int slice = 0; slice < SLICES; slice++) {
    double plain, adder;
    guint plain_runs, adder_runs;
    if (!runs_per_second (bench, measure->code, run_in_plain, &plain, &plain_runs, error) ||
        !runs_per_second (bench, measure->code, run_in_adder, &adder, &adder_runs, error))
      return FALSE;
    finding.plain += plain / SLICES;
    finding.adder += adder / SLICES;
    finding.plain_samples += plain_runs;
    finding.adder_samples += adder_runs;
  }
  *ret_finding = finding;
  return TRUE;
}

struct reader {
  struct bench *bench;
  const char *code;
  char *text;
  GError *error;
};

static gpointer
read_memory (gpointer data)
{
  struct reader *reader = data;
  double took;
  run_in_adder (reader->bench, reader->code, &took, &reader->text, &reader->error);
  return NULL;
}

/* The mean of a full pool: as many callers at once as it keeps sandboxes, for these are not alike. */
static gboolean
measure_memory (struct bench *bench, const struct measure *measure, struct finding *ret_finding,
                GError **error)
{
  g_autofree char *plain = NULL;
  g_autofree struct reader *readers = g_new0 (struct reader, bench->parked);
  g_autofree GThread **threads = g_new0 (GThread *, bench->parked);
  double took, sum = 0;
  settle (bench);
  for (guint64 i = 0; i < bench->parked; i++) {
    readers[i] = (struct reader){.bench = bench, .code = measure->code};
    threads[i] = g_thread_new ("bench", read_memory, &readers[i]);
  }
  gboolean well = TRUE;
  for (guint64 i = 0; i < bench->parked; i++) {
    g_thread_join (threads[i]);
    if (readers[i].text)
      sum += g_ascii_strtod (readers[i].text, NULL);
    else if (well)
      g_propagate_error (error, g_steal_pointer (&readers[i].error));
    well &= readers[i].text != NULL;
    g_clear_error (&readers[i].error);
    g_free (readers[i].text);
  }
  if (!well || !run_in_plain (bench, measure->code, &took, &plain, error))
    return FALSE;
  *ret_finding =
      (struct finding){sum / (double)bench->parked, g_ascii_strtod (plain, NULL), (guint)bench->parked, 1};
  return TRUE;
}

static gboolean
take_measure (struct bench *bench, const struct measure *measure, struct finding *ret_finding, GError **error)
{
  switch (measure->kind) {
  case MEASURE_RUN:
    return measure_latency (bench, measure, run_settled, ret_finding, error);
  case MEASURE_PROCESS:
    return measure_latency (bench, measure, run_in_command, ret_finding, error);
  case MEASURE_COLD:
    return measure_latency (bench, measure, run_cold, ret_finding, error);
  case MEASURE_THROUGHPUT:
    return measure_throughput (bench, measure, ret_finding, error);
  case MEASURE_MEMORY:
    return measure_memory (bench, measure, ret_finding, error);
  }
  g_assert_not_reached ();
}

/* How many times better Adder is; more is better for every kind. */
static double
ratio_of (const struct measure *measure, const struct finding *finding)
{
  if (finding->adder <= 0 || finding->plain <= 0)
    return 0;
  return measure->kind == MEASURE_THROUGHPUT ? finding->adder / finding->plain
                                             : finding->plain / finding->adder;
}

static json_t *
finding_to_json (const struct measure *measure, const struct finding *finding)
{
  static const char *const units[] = {"ms", "ms", "ms", "per_second", "bytes"};
  g_autofree char *adder_key = g_strdup_printf ("adder_%s", units[measure->kind]);
  g_autofree char *plain_key = g_strdup_printf ("plain_%s", units[measure->kind]);
  json_t *object =
      json_pack ("{s:s, s:s, s:f, s:f, s:f, s:i, s:i}", "name", measure->name, "title", measure->title,
                 adder_key, finding->adder, plain_key, finding->plain, "ratio", ratio_of (measure, finding),
                 "adder_samples", (int)finding->adder_samples, "plain_samples", (int)finding->plain_samples);
  if (measure->must > 0)
    json_object_update_new (object, json_pack ("{s:f, s:f}", "must", measure->must, "aim", measure->aim));
  return object;
}

static void
print_row (const struct measure *measure, const struct finding *finding)
{
  static const char *const formats[] = {"%10.2f ms", "%10.2f ms", "%10.2f ms", "%10.1f /s", "%10.1f MB"};
  double scale = measure->kind == MEASURE_MEMORY ? 1e6 : 1;
  char adder[32], plain[32], must[32] = "";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  g_snprintf (adder, sizeof adder, formats[measure->kind], finding->adder / scale);
  g_snprintf (plain, sizeof plain, formats[measure->kind], finding->plain / scale);
#pragma GCC diagnostic pop
  if (measure->must > 0)
    g_snprintf (must, sizeof must, "%5.0fx", measure->must);
  printf ("%-44s %13s %13s %7.1fx %6s\n", measure->title, adder, plain, ratio_of (measure, finding), must);
  fflush (stdout);
}

/* What both sides get: the same threads, fonts and locale, nothing of the caller's. */
static GStrv
plain_variables (const struct environment *environment, const char *directory)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  static const char *const fixed[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                      "LANG=C.UTF-8",
                                      "MPLBACKEND=Agg",
                                      "OPENBLAS_NUM_THREADS=1",
                                      "OMP_NUM_THREADS=1",
                                      "MKL_NUM_THREADS=1",
                                      "NUMEXPR_MAX_THREADS=1",
                                      NULL};
  g_strv_builder_addv (builder, (const char **)fixed);
  g_autofree char *home = g_strdup_printf ("HOME=%s", directory);
  g_strv_builder_add (builder, home);
  if (environment->cache) {
    g_autofree char *cache = g_strdup_printf ("MPLCONFIGDIR=%s", environment->cache);
    g_strv_builder_add (builder, cache);
  }
  return g_strv_builder_end (builder);
}

static void
bench_clear (struct bench *bench)
{
  if (bench->adder_variables && bench->program) {
    const char *arguments[] = {bench->program, "stop", NULL};
    double took;
    run_process (arguments, bench->adder_variables, NULL, &took, NULL, NULL);
  }
  adder_engine_free (bench->engine);
  environment_free (bench->environment);
  if (bench->directory) {
    const char *arguments[] = {"/bin/rm", "-rf", "--", bench->directory, NULL};
    double took;
    run_process (arguments, bench->plain_variables, NULL, &took, NULL, NULL);
  }
  g_strfreev (bench->plain_variables);
  g_strfreev (bench->adder_variables);
  g_free (bench->program);
  g_free (bench->directory);
}

static gboolean
bench_prepare (struct bench *bench, const char *environment, GError **error)
{
  struct config *config = config_load (NULL, error);
  if (!config)
    return FALSE;
  bench->environment = environment_find (environment ? environment : config->environment, error);
  bench->parked = config->parked;
  config_free (config);
  if (!bench->environment)
    return FALSE;
  bench->program = g_file_read_link ("/proc/self/exe", error);
  bench->directory = bench->program ? g_dir_make_tmp ("adder-bench-XXXXXX", error) : NULL;
  if (!bench->directory)
    return FALSE;
  bench->plain_variables = plain_variables (bench->environment, bench->directory);
  g_autofree char *runtime = g_build_filename (bench->directory, "run", NULL);
  bench->adder_variables = g_environ_setenv (g_get_environ (), "ADDER_RUNTIME_DIR", runtime, TRUE);
  bench->engine = adder_engine_new (NULL, error);
  return bench->engine && adder_engine_warm (bench->engine, bench->environment->name, error);
}

static gboolean
bench_measure (struct bench *bench, const char *only, gboolean as_json, GError **error)
{
  struct utsname host;
  uname (&host);
  json_t *rows = json_array ();
  if (!as_json)
    printf (
        "environment %s, Python %s, %u cores, Linux %s, medians of %d rounds\n\n%-44s %13s %13s %8s %6s\n",
        bench->environment->name, bench->environment->version, g_get_num_processors (), host.release,
        bench->rounds, "", "adder", "plain python", "ratio", "goal");
  for (gsize i = 0; i < G_N_ELEMENTS (measures); i++) {
    struct finding finding;
    if (only && strcmp (only, measures[i].name) != 0)
      continue;
    if (!take_measure (bench, &measures[i], &finding, error)) {
      g_prefix_error (error, "%s: ", measures[i].name);
      json_decref (rows);
      return FALSE;
    }
    if (as_json)
      json_array_append_new (rows, finding_to_json (&measures[i], &finding));
    else
      print_row (&measures[i], &finding);
  }
  if (as_json) {
    json_t *report = json_pack ("{s:s, s:s, s:s, s:i, s:s, s:i, s:o}", "adder", adder_version (),
                                "environment", bench->environment->name, "python",
                                bench->environment->version, "cores", (int)g_get_num_processors (), "kernel",
                                host.release, "rounds", bench->rounds, "measures", json_incref (rows));
    json_dumpf (report, stdout, JSON_INDENT (2) | JSON_REAL_PRECISION (6));
    putchar ('\n');
    json_decref (report);
  }
  json_decref (rows);
  return TRUE;
}

int
cli_bench (int argc, char **argv)
{
  g_autofree char *environment = NULL, *only = NULL;
  gboolean as_json = FALSE;
  struct bench bench = {.rounds = 15, .seconds = 4};
  const GOptionEntry entries[] = {
      {"env", 'e', 0, G_OPTION_ARG_STRING, &environment,
       "Environment to measure in (default: the configuration's)", "NAME"},
      {"only", 0, 0, G_OPTION_ARG_STRING, &only, "Only this measure", "NAME"},
      {"rounds", 'n', 0, G_OPTION_ARG_INT, &bench.rounds,
       "Rounds of each latency measure (1 to 1000, default 15)", "N"},
      {"seconds", 's', 0, G_OPTION_ARG_DOUBLE, &bench.seconds,
       "Length of each throughput measure (1 to 600, default 4)", "S"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("- measure Adder beside plain Python");
  g_option_context_add_main_entries (context, entries, NULL);
  g_autoptr (GError) error = NULL;
  gboolean well = g_option_context_parse (context, &argc, &argv, &error);
  if (well && (bench.rounds < 1 || bench.rounds > 1000 || bench.seconds < 1 || bench.seconds > 600)) {
    g_set_error (&error, ADDER_ERROR, ADDER_ERROR_INVALID, "--rounds is 1 to 1000 and --seconds 1 to 600");
    well = FALSE;
  }
  gboolean known = only == NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (measures) && !known; i++)
    known = strcmp (only, measures[i].name) == 0;
  if (well && !known) {
    g_set_error (&error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                 "there is no measure \"%s\"; --json shows their names", only);
    well = FALSE;
  }
  well = well && bench_prepare (&bench, environment, &error) && bench_measure (&bench, only, as_json, &error);
  bench_clear (&bench);
  if (!well)
    g_printerr ("adder: %s\n", error->message);
  return well ? 0 : 125;
}
