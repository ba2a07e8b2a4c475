/* SPDX-License-Identifier: Apache-2.0 */
/* `adder ask`: a table and a question in, an answer with its code out. */
#include "apps/ask/cli_ask.h"

#include <string.h>
#include <sys/stat.h>

#include "adder.h"
#include "analysis/prompts.h"
#include "apps/ask/ask.h"
#include "common/json.h"
#include "common/size.h"
#include "engine/request/explain.h"
#include "engine/request/outcome.h"
#include "interfaces/cli/cli.h"
#include "policy/profile.h"
#include "policy/profile_file.h"

#define QUESTION_BYTES 10000
#define CODE_BYTES     (1024 * 1024)
#define EXPECT_BYTES   (1024 * 1024)

/* ---- options ---- */

struct options {
  char *expect, *code, *model, *tests, *out, *again, *record, *cpu;
  char *delimiter, *quote, *encoding, *decimal, *thousands, *table;
  char **files;
  gboolean no_header, day_first, explain;
  struct run_options run; /* environment, limits, json, no_daemon */
  char **tables;          /* the paths among the arguments, NULL-terminated; argv's */
  const char *question;
};

static void
cli_ask_options_clear (struct options *options)
{
  char *const texts[] = {options->expect,    options->code,      options->model,    options->tests,
                         options->out,       options->again,     options->record,   options->cpu,
                         options->quote,     options->delimiter, options->encoding, options->decimal,
                         options->thousands, options->table};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (options->files);
  run_options_clear (&options->run);
}

static gboolean
cli_ask_invalid (GError **error, const char *text)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, text);
  return FALSE;
}

/* What the kept question has settled. */
static gboolean
check_again (const struct options *options, GError **error)
{
  const struct {
    const char *option;
    gboolean given;
  } settled[] = {
      {"--expect", options->expect != NULL},   {"--code", options->code != NULL},
      {"--model", options->model != NULL},     {"--tests", options->tests != NULL},
      {"--record", options->record != NULL},   {"--delimiter", options->delimiter != NULL},
      {"--quote", options->quote != NULL},     {"--encoding", options->encoding != NULL},
      {"--decimal", options->decimal != NULL}, {"--thousands", options->thousands != NULL},
      {"--no-header", options->no_header},     {"--day-first", options->day_first},
      {"--table", options->table != NULL},
  };
  if (options->question)
    return cli_ask_invalid (
        error, "--again asks what it asked before, of the same files: leave FILE and QUESTION out (--file "
               "NAME=PATH says where one is now)");
  for (gsize i = 0; i < G_N_ELEMENTS (settled); i++)
    if (settled[i].given) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is settled by --again: leave it out",
                   settled[i].option);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_new (const struct options *options, GError **error)
{
  static const char *const kinds[] = {"none", "given", "proposed", NULL};
  if (!options->tables || !options->tables[0])
    return cli_ask_invalid (
        error,
        "a FILE and a \"QUESTION\" are needed, as in: adder ask sales.csv \"Which month sold the most?\"");
  if (g_file_test (options->question, G_FILE_TEST_EXISTS) &&
      !g_file_test (options->tables[0], G_FILE_TEST_EXISTS) && strcmp (options->tables[0], "-") != 0)
    return cli_ask_invalid (error, "the question comes last: adder ask FILE... \"QUESTION\"");
  if (!g_utf8_validate (options->question, -1, NULL) || options->question[0] == '\0' ||
      strlen (options->question) > QUESTION_BYTES)
    return cli_ask_invalid (error, "the question must be UTF-8 text of 1 to 10000 bytes");
  if (options->code && (options->model || options->record))
    return cli_ask_invalid (error, "--code takes the model's place: leave out --model and --record");
  if (options->tests && !g_strv_contains (kinds, options->tests))
    return cli_ask_invalid (error, "--tests must be none, given or proposed");
  if (options->code && strpbrk (options->code, "=(\n") && !g_file_test (options->code, G_FILE_TEST_EXISTS))
    return cli_ask_invalid (error, "--code names a file with the code, or is - for standard input");
  if (options->code && g_strcmp0 (options->tests, "proposed") == 0)
    return cli_ask_invalid (
        error, "checks are proposed by a model, and with --code there is none: give them with --expect");
  if (g_strcmp0 (options->tests, "given") == 0 && !options->expect)
    return cli_ask_invalid (error, "--tests given needs --expect FILE");
  if (g_strcmp0 (options->tests, "none") == 0 && options->expect)
    return cli_ask_invalid (error, "--tests none and --expect do not go together");
  if (g_strv_contains ((const char *const *)options->tables, "-") && g_strcmp0 (options->code, "-") == 0)
    return cli_ask_invalid (error, "standard input can be the table or the code, not both");
  return TRUE;
}

/* More processor time means more time: a run that may compute for a minute must be let. */
static gboolean
add_cpu (struct options *options, GError **error)
{
  guint64 cpu_ms;
  if (!options->cpu)
    return TRUE;
  if (!duration_parse (options->cpu, 1000, &cpu_ms, error)) {
    g_prefix_error (error, "--cpu: ");
    return FALSE;
  }
  g_autoptr (GPtrArray) limits = g_ptr_array_new ();
  struct profile *profile = profile_load (ANALYSIS_PROFILE, NULL);
  guint64 wall_ms = profile ? profile->limits.value[LIMIT_WALL] : 0;
  profile_free (profile);
  if (!options->run.timeout && cpu_ms > wall_ms)
    g_ptr_array_add (limits, g_strdup_printf ("wall_ms=%" G_GUINT64_FORMAT "ms", cpu_ms));
  g_ptr_array_add (limits, g_strdup_printf ("cpu_ms=%" G_GUINT64_FORMAT "ms", cpu_ms));
  for (char **given = options->run.limits; given && *given; given++)
    g_ptr_array_add (limits, *given);
  g_ptr_array_add (limits, NULL);
  g_free (options->run.limits);
  options->run.limits = (char **)g_ptr_array_free (g_steal_pointer (&limits), FALSE);
  return TRUE;
}

#define TEXT 0, G_OPTION_ARG_FILENAME

static gboolean
cli_ask_parse_options (int argc, char **argv, struct options *options, GError **error)
{
  const GOptionEntry entries[] = {
      {"file", 'f', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->files,
       "Another table, dfs[\"NAME\"]; each FILE is dfs[\"...\"] by its name without the ending, and the "
       "first is "
       "df; may be repeated",
       "NAME=PATH"},
      {"code", 'c', TEXT, &options->code,
       "Python code to use instead of a model; it stores the answer in result", "FILE|-"},
      {"model", 'm', TEXT, &options->model, "The model to ask (adder model list), or replay:FILE", "NAME"},
      {"expect", 'x', TEXT, &options->expect, "Checks of the result, as a list in JSON", "FILE"},
      {"tests", 0, TEXT, &options->tests,
       "Checks to run: none, given (those of --expect), or proposed (also the model's); default: given with "
       "--expect, else proposed",
       "WHICH"},
      {"out", 'o', TEXT, &options->out, "Save the answer, code, table, pictures and state to a new directory",
       "DIR"},
      {"again", 0, TEXT, &options->again, "Repeat an answer saved with --out: same code and checks, no model",
       "DIR"},
      {"explain", 0, 0, G_OPTION_ARG_NONE, &options->explain, "Show what each step found", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options->run.json,
       "Print one JSON object; with --explain one for each step", NULL},
      {"memory", 0, TEXT, &options->run.memory, "Memory limit, as in 512M, 4G", "SIZE"},
      {"cpu", 0, TEXT, &options->cpu, "Processor time limit in seconds, or as in 90s, 2min", "TIME"},
      {"timeout", 't', TEXT, &options->run.timeout, "Wall clock limit in seconds, or as in 90s, 2min",
       "TIME"},
      {"limit", 'l', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->run.limits,
       "Any limit (adder profile show analysis); may be repeated", "NAME=VALUE"},
      {"env", 'e', TEXT, &options->run.environment, "Environment to run in (adder env list)", "NAME"},
      {"isolation", 0, TEXT, &options->run.isolation,
       "Kind of sandbox: auto, namespaces, process, container, or none", "KIND"},
      {"role", 0, TEXT, &options->run.role, "The role to act as: guest, user, admin", "ROLE"},
      {"delimiter", 0, TEXT, &options->delimiter, "The separator of cells (default: detected)", "TEXT"},
      {"quote", 0, TEXT, &options->quote, "The quotation mark around cells that contain the separator",
       "TEXT"},
      {"encoding", 0, TEXT, &options->encoding, "Such as utf-8, latin-1, utf-16", "NAME"},
      {"no-header", 0, 0, G_OPTION_ARG_NONE, &options->no_header, "The first line is data", NULL},
      {"decimal", 0, TEXT, &options->decimal, "The decimal sign", "TEXT"},
      {"thousands", 0, TEXT, &options->thousands, "The sign between thousands", "TEXT"},
      {"day-first", 0, 0, G_OPTION_ARG_NONE, &options->day_first, "Dates like 03/04/2026 begin with the day",
       NULL},
      {"table", 0, TEXT, &options->table,
       "The sheet of a workbook, or table or view of a database, to read (default: all with data)", "NAME"},
      {"record", 0, TEXT, &options->record, "Append the model's answers to a file, for --model replay:FILE",
       "FILE"},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options->run.no_daemon, "Run in this process, without a daemon",
       NULL},
      {NULL},
  };
  if (!cli_parse (entries, 0, ANALYSIS_TABLES_MAX + 1, &argc, &argv, error))
    return FALSE;
  if (argc > 1) {
    options->question = argv[argc - 1];
    options->tables = argv + 1;
    argv[argc - 1] = NULL;
  }
  options->run.profile = g_strdup (ANALYSIS_PROFILE);
  return (options->again ? check_again (options, error) : check_new (options, error)) &&
         (!options->out || ask_keep_check (options->out, error)) && add_cpu (options, error);
}

/* ---- what is asked ---- */

/* How the tables are read, as far as it is said; NULL with ERROR. */
static json_t *
cli_ask_read_options (const struct options *options, GError **error)
{
  const struct {
    const char *name, *text;
  } texts[] = {
      {"delimiter", options->delimiter}, {"quote", options->quote},         {"encoding", options->encoding},
      {"decimal", options->decimal},     {"thousands", options->thousands}, {"table", options->table},
  };
  json_t *object = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i].text && json_object_set_new (object, texts[i].name, json_string (texts[i].text)) < 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--%s is not UTF-8", texts[i].name);
      json_decref (object);
      return NULL;
    }
  if (options->no_header)
    json_object_set_new (object, "header", json_false ());
  if (options->day_first)
    json_object_set_new (object, "day_first", json_true ());
  return object;
}

/* Splits NAME=PATH. *RET_NAME is the caller's. */
static gboolean
cli_ask_split (const char *text, char **ret_name, const char **ret_path, GError **error)
{
  const char *equals = strchr (text, '=');
  if (!equals || equals == text || equals[1] == '\0') {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--file takes NAME=PATH, not \"%s\"", text);
    return FALSE;
  }
  *ret_name = g_strndup (text, (gsize)(equals - text));
  *ret_path = equals + 1;
  return TRUE;
}

static gboolean
add_tables (const struct options *options, struct analysis *analysis, struct ask_files *files, GError **error)
{
  g_autoptr (json_t) how = cli_ask_read_options (options, error);
  if (!how)
    return FALSE;
  for (char **path = options->tables; *path; path++)
    if (!ask_files_add (files, analysis, NULL, *path, how, error))
      return FALSE;
  for (char **text = options->files; text && *text; text++) {
    g_autofree char *name = NULL;
    const char *path;
    if (!cli_ask_split (*text, &name, &path, error) ||
        !ask_files_add (files, analysis, name, path, how, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_expect (const struct options *options, struct analysis *analysis, GError **error)
{
  json_error_t problem;
  if (!options->expect)
    return TRUE;
  g_autofree char *text = ask_read_text (options->expect, EXPECT_BYTES, "--expect", error);
  json_t *list = text ? json_loads (text, JSON_REJECT_DUPLICATES, &problem) : NULL;
  if (text && !json_is_array (list)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s must be a list of checks in JSON (docs/ask.md)%s%s", options->expect, list ? "" : ": ",
                 list ? "" : problem.text);
    g_clear_pointer (&list, json_decref);
  }
  if (!list)
    return FALSE;
  json_decref (analysis->expect);
  analysis->expect = list;
  return TRUE;
}

static gboolean
fill_new (const struct options *options, struct analysis *analysis, struct ask_files *files, GError **error)
{
  analysis->question = g_strdup (options->question);
  if (options->code && !(analysis->code = ask_read_text (options->code, CODE_BYTES, "--code", error)))
    return FALSE;
  return add_expect (options, analysis, error) && add_tables (options, analysis, files, error);
}

/* ---- what was asked before ---- */

/* Where --file says that the table NAME is now, or where it was. */
static const char *
path_now (const struct options *options, const json_t *table)
{
  const char *name = json_member_text (table, "name");
  for (char **text = options->files; text && *text; text++)
    if (g_str_has_prefix (*text, name) && (*text)[strlen (name)] == '=')
      return *text + strlen (name) + 1;
  return json_string_value (json_object_get (table, "path"));
}

static gboolean
fill_again (const struct options *options, const struct ask_kept *kept, struct analysis *analysis,
            struct ask_files *files, GError **error)
{
  const struct analysis *old = kept->analysis;
  gsize index;
  json_t *table;
  if (!old->code) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s has no code that could be run again",
                 options->again);
    return FALSE;
  }
  analysis->question = g_strdup (old->question);
  analysis->code = g_strdup (old->code);
  json_array_extend (analysis->expect, old->expect);
  json_array_foreach (old->csv, index, table)
  {
    const char *path = path_now (options, table), *name = json_member_text (table, "name");
    if (!path) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "the table %s came from standard input: say where it is now with --file %s=PATH", name,
                   name);
      return FALSE;
    }
    if (!ask_files_add (files, analysis, name, path, json_object_get (table, "options"), error))
      return FALSE;
  }
  return TRUE;
}

/* Limits and environment are as they were, unless they are said. */
static void
cli_ask_restore (struct options *options, const struct ask_kept *kept)
{
  g_autoptr (GPtrArray) limits = g_ptr_array_new ();
  const char *name;
  json_t *value;
  json_object_foreach (kept->limits, name, value) g_ptr_array_add (
      limits, g_strdup_printf ("%s=%" JSON_INTEGER_FORMAT, name, json_integer_value (value)));
  if (!options->run.environment)
    options->run.environment = g_strdup (kept->environment);
  if (options->run.limits || options->run.memory || options->run.timeout || limits->len == 0) {
    for (guint i = 0; i < limits->len; i++)
      g_free (limits->pdata[i]);
    return;
  }
  g_ptr_array_add (limits, NULL);
  options->run.limits = (char **)g_ptr_array_free (g_steal_pointer (&limits), FALSE);
}

/* {"directory", "changed": [names of tables], "same_answer"}: what came of repeating KEPT. The caller's. */
static json_t *
cli_ask_compare (const struct options *options, const struct ask_kept *kept, const struct analysis *analysis)
{
  json_t *changed = json_array ();
  gsize index;
  json_t *table;
  json_array_foreach (analysis->csv, index, table)
  {
    json_t *before = json_array_get (kept->analysis->csv, index);
    if (!json_equal (json_object_get (table, "sha256"), json_object_get (before, "sha256")))
      json_array_append (changed, json_object_get (table, "name"));
  }
  gboolean same = analysis->result ? json_equal (analysis->result, kept->analysis->result)
                                   : g_strcmp0 (analysis->outcome, kept->analysis->outcome) == 0;
  return json_pack ("{s:o, s:o, s:b}", "directory", json_text_or_null (options->again), "changed", changed,
                    "same_answer", same);
}

static void
say_compared (const json_t *compared)
{
  const json_t *changed = json_object_get (compared, "changed");
  gsize index;
  json_t *name;
  json_array_foreach (changed, index, name)
      fprintf (stderr, "adder: the table %s has changed since\n", json_string_value (name));
  if (json_array_size (changed) == 0)
    fprintf (stderr, "adder: the data is what it was\n");
  fprintf (stderr, "adder: the answer is %s\n",
           json_is_true (json_object_get (compared, "same_answer")) ? "the same" : "another one");
}

/* ---- the whole ---- */

struct asking {
  struct options options;
  struct signal_handler *signals;
  struct ask_files files;
  struct ask_view view;
  struct ask_kept kept;     /* what this leaves; its analysis is this one's */
  struct ask_kept previous; /* with --again */
  json_t *compared;
  char *folder; /* with --out: where runs leave the whole table */
};

/* What was asked for of limits, as numbers. */
static json_t *
limits_asked (const struct run_options *run, GError **error)
{
  struct submission request;
  json_t *limits = NULL;
  submission_init (&request);
  if (run_options_fill (&request, run, error))
    limits = json_incref (json_object_get (request.body, "limits"));
  submission_clear (&request);
  return limits;
}

static gboolean
cli_ask_fill (struct asking *asking, GError **error)
{
  struct options *options = &asking->options;
  struct analysis *analysis = asking->kept.analysis;
  if (options->again) {
    if (!ask_kept_load (options->again, &asking->previous, error) ||
        !fill_again (options, &asking->previous, analysis, &asking->files, error))
      return FALSE;
    cli_ask_restore (options, &asking->previous);
  } else if (!fill_new (options, analysis, &asking->files, error))
    return FALSE;
  asking->kept.environment = g_strdup (options->run.environment);
  asking->kept.limits = limits_asked (&options->run, error);
  return asking->kept.limits != NULL;
}

/* A model's conversation, where there is to be one. */
static gboolean
open_dialogue (const struct asking *asking, struct model **ret_model, struct dialogue **ret_dialogue,
               GError **error)
{
  if (asking->kept.analysis->code)
    return TRUE;
  struct model *model = model_open (asking->options.model, error);
  if (!model) {
    if (!asking->options.model && error && g_error_matches (*error, MODEL_ERROR, MODEL_ERROR_UNKNOWN))
      g_prefix_error (error, "without --code FILE a model writes the code, and ");
    return FALSE;
  }
  if (asking->options.record && !model_record (model, asking->options.record, error)) {
    model_free (model);
    return FALSE;
  }
  *ret_dialogue = dialogue_new (model, signal_handler_fd (asking->signals));
  *ret_model = model;
  return TRUE;
}

/* Checks are proposed where a model writes the code that reads enough for it, and nobody gave any, unless it
 * is said otherwise. */
static gboolean
proposes_checks (const struct options *options, const struct dialogue *dialogue)
{
  return options->tests ? strcmp (options->tests, "proposed") == 0
                        : !options->expect && !dialogue_is_short (dialogue);
}

static gboolean
solve (struct asking *asking, GError **error)
{
  struct ask_host host = {
      .options = &asking->options.run,
      .files = &asking->files,
      .signals = asking->signals,
      .folder = asking->folder,
      .view = &asking->view,
  };
  struct model *model = NULL;
  struct dialogue *dialogue = NULL;
  gboolean ok = open_dialogue (asking, &model, &dialogue, error);
  const struct analysis_means means = {
      .host = {ask_host_run, &host, asking->folder != NULL},
      .dialogue = dialogue,
      .proposes_checks = proposes_checks (&asking->options, dialogue),
      .begins = ask_view_begins,
      .saw = ask_view_saw,
      .saw_data = &asking->view,
  };
  ok = ok && analysis_solve (asking->kept.analysis, &means, error);
  ask_view_rest (&asking->view);
  dialogue_free (dialogue);
  model_free (model);
  ask_host_clear (&host);
  return ok;
}

/* What a model said of the same result holds still. */
static void
cli_ask_take_words (struct asking *asking)
{
  struct analysis *analysis = asking->kept.analysis;
  const struct analysis *previous = asking->previous.analysis;
  analysis->plan = previous->plan ? json_incref (previous->plan) : NULL;
  if (!json_is_true (json_object_get (asking->compared, "same_answer")) || !previous->answer)
    return;
  g_free (analysis->answer);
  analysis->answer = g_strdup (previous->answer);
}

/* What --out and --again do beside it. */
static gboolean
cli_ask_keep (struct asking *asking, GError **error)
{
  const struct options *options = &asking->options;
  struct analysis *analysis = asking->kept.analysis;
  if ((options->out || options->again) && !ask_files_digest (&asking->files, analysis, error))
    return FALSE;
  if (options->again) {
    asking->compared = cli_ask_compare (options, &asking->previous, analysis);
    cli_ask_take_words (asking);
  }
  return !options->out || ask_keep (options->out, asking->folder, &asking->kept, error);
}

static gboolean
cli_ask_make_folder (struct asking *asking, GError **error)
{
  const char *out = asking->options.out;
  return !out || (asking->folder = ask_make_beside (out, error)) != NULL;
}

static gboolean
cli_ask_ask (struct asking *asking, GError **error)
{
  return cli_ask_fill (asking, error) && cli_ask_make_folder (asking, error) && solve (asking, error) &&
         cli_ask_keep (asking, error);
}

/* ---- telling ---- */

static AdderOutcome
cli_ask_outcome_of (const GError *problem)
{
  if (g_error_matches (problem, MODEL_ERROR, MODEL_ERROR_CANCELLED))
    return ADDER_OUTCOME_CANCELLED;
  return problem->domain == ADDER_ERROR ? explain_outcome_of (problem) : ADDER_OUTCOME_FAILED;
}

/* There is no answer, for a reason outside of the code. */
static int
cli_ask_fail (struct asking *asking, const GError *problem, gboolean usage)
{
  AdderOutcome outcome = cli_ask_outcome_of (problem);
  struct analysis *analysis = asking->kept.analysis;
  g_free (analysis->outcome);
  json_decref (analysis->error);
  analysis->outcome = g_strdup (adder_outcome_name (outcome));
  analysis->error = explain_error (outcome, problem, NULL);
  analysis->exit_code = outcome_exit_code (outcome);
  if (!asking->options.run.json)
    (void)(usage ? cli_fail_usage : cli_fail) (problem);
  return (int)analysis->exit_code;
}

static void
cli_ask_print_json (const struct asking *asking)
{
  g_autoptr (json_t) object = analysis_to_json (asking->kept.analysis);
  json_object_set_new (object, "out", json_text_or_null (asking->options.out));
  json_object_set_new (object, "again", asking->compared ? json_incref (asking->compared) : json_null ());
  cli_print_json (object);
}

/* The names of the pictures' files, NULL-terminated, or NULL. The caller's. */
static GPtrArray *
picture_names (const struct analysis *analysis)
{
  GPtrArray *names = g_ptr_array_new ();
  gsize index;
  json_t *picture;
  json_array_foreach (analysis->pictures, index, picture)
  {
    const char *name = json_string_value (json_object_get (picture, "file"));
    if (name)
      g_ptr_array_add (names, (char *)(guintptr)name);
  }
  g_ptr_array_add (names, NULL);
  return names;
}

static int
cli_ask_tell (const struct asking *asking)
{
  const struct analysis *analysis = asking->kept.analysis;
  if (!asking->options.run.json) {
    g_autoptr (GPtrArray) names = picture_names (analysis);
    ask_view_answer (&asking->view, analysis, (const char *const *)names->pdata);
    if (asking->compared)
      say_compared (asking->compared);
    if (asking->options.out)
      fprintf (stderr, "%sadder: kept in %s%s\n", cli_colour (stderr, CLI_DIM), asking->options.out,
               cli_colour (stderr, CLI_PLAIN));
  }
  return (int)analysis->exit_code;
}

static gboolean
cli_ask_wants_json (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--json") == 0)
      return TRUE;
  return FALSE;
}

int
cli_ask (int argc, char **argv)
{
  struct asking asking = {.kept.analysis = analysis_new (NULL)};
  g_autoptr (GError) problem = NULL;
  gboolean json = cli_ask_wants_json (argc, argv);
  int code;
  ask_files_init (&asking.files);
  asking.signals = signal_handler_start ();
  gboolean parsed = cli_ask_parse_options (argc, argv, &asking.options, &problem);
  asking.options.run.json |= json;
  asking.files.no_daemon = asking.options.run.no_daemon;
  asking.view = (struct ask_view){asking.options.run.json, asking.options.explain, asking.options.code};
  if (!parsed || !cli_ask_ask (&asking, &problem))
    code = cli_ask_fail (&asking, problem, !parsed);
  else
    code = cli_ask_tell (&asking);
  if (asking.options.run.json)
    cli_ask_print_json (&asking);
  if (asking.folder)
    ask_remove_directory (asking.folder);
  g_free (asking.folder);
  ask_kept_clear (&asking.kept);
  ask_kept_clear (&asking.previous);
  json_decref (asking.compared);
  ask_files_clear (&asking.files);
  cli_ask_options_clear (&asking.options);
  return code;
}
