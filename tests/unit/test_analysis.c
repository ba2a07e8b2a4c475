/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a question, the heads of files, what a model is told, and the controller with a host and a
 * replay of this test's. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/agree.h"
#include "analysis/describe.h"
#include "analysis/head.h"
#include "analysis/prompts.h"
#include "analysis/steps.h"
#include "base/fd.h"
#include "common/json.h"
#include "suite.h"

/* ---- heads ---- */

static void
test_whole_lines (void)
{
  static const struct {
    const char *data;
    gsize length, whole;
  } rows[] = {
      {"a\nb\nc", 5, 4},
      {"a\rb\rc", 5, 4},
      {"abc", 3, 3},
      {"a\n", 2, 2},
      {"", 0, 0},
      {"\xff\xfe"
       "a\0\n\0b\0c",
       9, 6},
      {"\xfe\xff\0a\0\n\0b", 8, 6},
      /* No line ends there: the byte is another character's half. */
      {"\xff\xfe\0\n", 4, 4},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpuint (head_whole_lines ((const guint8 *)rows[i].data, rows[i].length), ==, rows[i].whole);
}

static int
file_of (const char *line, gsize times)
{
  int fd = memfd_create ("file", MFD_CLOEXEC);
  for (gsize i = 0; i < times; i++)
    g_assert_cmpint (fd_write_all (fd, line, strlen (line)), ==, 0);
  return fd;
}

static void
test_heads (void)
{
  static const char line[] = "0123456789\n";
  g_autoptr (GError) problem = NULL;
  autoclose int small = file_of (line, 2), large = file_of (line, HEAD_BYTES / 8);
  struct head whole, part;
  g_assert_true (head_open (small, &whole, &problem));
  g_assert_no_error (problem);
  g_assert_false (whole.is_cut);
  g_assert_cmpstr (whole.ending, ==, "csv");
  autoclose int whole_fd = whole.fd;
  g_assert_cmpint (lseek (whole_fd, 0, SEEK_END), ==, 22);
  off_t before = lseek (large, 0, SEEK_CUR);
  g_assert_true (head_open (large, &part, &problem));
  g_assert_no_error (problem);
  g_assert_true (part.is_cut);
  autoclose int head = part.fd;
  off_t bytes = lseek (head, 0, SEEK_END);
  g_assert_cmpint (bytes, <=, HEAD_BYTES);
  g_assert_cmpint (bytes, >, HEAD_BYTES - 11);
  g_assert_cmpint (bytes % 11, ==, 0);
  g_assert_cmpint (lseek (large, 0, SEEK_CUR), ==, before);
}

/* All of it is needed but for a CSV, and its name does not count. */
static void
test_other_formats_have_no_head (void)
{
  static const struct {
    const char *begins;
    gsize length; /* 0: that of the text */
    const char *ending;
  } rows[] = {
      {"PAR1\x15", 0, "parquet"},   {"PAR1,", 0, "csv"},
      {"PAR1\n", 0, "csv"},         {"PAR1", 0, "csv"},
      {"ARROW1\0\0", 8, "feather"}, {"ARROW1,b\n", 0, "csv"},
      {"PK\3\4", 0, "xlsx"},        {"SQLite format 3\0", 16, "sqlite"},
      {"\x1f\x8b\x08", 0, "gz"},    {"\x28\xb5\x2f\xfd", 0, "zst"},
      {"{\"a\": 1}\n", 0, "json"},  {"\xef\xbb\xbf \n\t[{\"a\": 1}]", 0, "json"},
      {"a,b\n", 0, "csv"},          {" \n", 0, "csv"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) problem = NULL;
    struct head head = {-1};
    autoclose int fd = memfd_create ("table", MFD_CLOEXEC);
    gsize length = rows[i].length > 0 ? rows[i].length : strlen (rows[i].begins);
    g_assert_cmpint (write (fd, rows[i].begins, length), ==, length);
    g_assert_true (head_open (fd, &head, &problem));
    g_assert_cmpstr (head.ending, ==, rows[i].ending);
    fd_close (&head.fd);
  }
  autoclose int large = file_of ("PAR1\x15 and on", HEAD_BYTES / 8);
  struct head head;
  g_assert_true (head_open (large, &head, NULL));
  g_assert_false (head.is_cut);
  autoclose int whole = head.fd;
  g_assert_cmpint (lseek (whole, 0, SEEK_END), >, HEAD_BYTES);
}

/* ---- the state ---- */

static void
test_state_and_back (void)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (analysis_auto) analysis = analysis_new ("why?");
  g_assert_true (
      analysis_add_table (analysis, "sales", "csv", "x.csv", "/data/sales.csv", 12, NULL, &problem));
  analysis->code = g_strdup ("result = 1");
  analysis->exit_code = 7;
  analysis->plan = json_pack ("{s:s}", "a", "b");
  json_array_append_new (analysis->assumed, json_string ("much"));
  g_autoptr (json_t) first = analysis_to_json (analysis);
  g_autoptr (analysis_auto) again = analysis_from_json (first, &problem);
  g_assert_no_error (problem);
  g_autoptr (json_t) second = analysis_to_json (again);
  g_assert_true (json_equal (first, second));
  g_assert_cmpstr (json_member_text (json_array_get (again->csv, 0), "file"), ==, "table-1.csv");

  analysis_forget_code (again);
  g_assert_null (again->code);
  g_assert_cmpint (again->exit_code, ==, 0);
  g_assert_cmpstr (again->question, ==, "why?");
  g_assert_cmpuint (json_array_size (again->assumed), ==, 1);
  g_assert_false (analysis_is_answered (again));
}

static void
test_states_that_are_none (void)
{
  static const char *const texts[] = {
      "{\"question\": 1}",      "{\"attempts\": {}}",    "{\"plan\": []}",
      "{\"exit_code\": \"0\"}", "{\"exit_code\": null}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (json_t) value = json_loads (texts[i], 0, NULL);
    g_assert_null (analysis_from_json (value, &problem));
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
}

static void
test_names_of_tables (void)
{
  static const char *const bad[] = {"", "sales", "a\nb", "\xff",
                                    "1234567890123456789012345678901234567890123456789012345678901234x"};
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  g_assert_true (analysis_add_table (analysis, "sales", "csv", "x.csv", NULL, 1, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) problem = NULL;
    g_assert_false (analysis_add_table (analysis, bad[i], "csv", "x.csv", NULL, 1, NULL, &problem));
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
  for (guint i = 1; i < ANALYSIS_TABLES_MAX; i++) {
    g_autofree char *name = g_strdup_printf ("t%u", i);
    g_assert_true (analysis_add_table (analysis, name, "csv", "x.csv", NULL, 1, NULL, NULL));
  }
  g_assert_false (analysis_add_table (analysis, "more", "csv", "x.csv", NULL, 1, NULL, NULL));
}

/* ---- what a model is told ---- */

static void
test_wide_tables_are_told_within_bounds (void)
{
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  json_t *columns = json_array (), *sample = json_array ();
  g_autofree char *cell = g_strnfill (5000, 'x');
  for (guint i = 0; i < 1500; i++) {
    g_autofree char *name = g_strdup_printf ("column_%u", i);
    json_array_append_new (columns,
                           json_pack ("{s:s, s:s, s:s}", "name", name, "dtype", "string", "kind", "text"));
  }
  for (guint i = 0; i < 20; i++) {
    json_t *row = json_array ();
    for (guint j = 0; j < 1500; j++)
      json_array_append_new (row, json_string (cell));
    json_array_append_new (sample, row);
  }
  json_array_append_new (analysis->schema, json_pack ("{s:s, s:I, s:o, s:o}", "name", "wide", "bytes",
                                                      (json_int_t)1, "columns", columns, "sample", sample));
  g_autofree char *text = describe_tables (analysis, ANALYSIS_SAMPLE_ROWS);
  g_assert_nonnull (strstr (text, "(and 1300 more columns)"));
  g_assert_cmpuint (strlen (text), <, 45000);
  g_assert_null (strstr (text, "sql("));
  json_object_set_new (json_array_get (analysis->schema, 0), "sql", json_true ());
  g_autofree char *small = describe_tables (analysis, ANALYSIS_SAMPLE_ROWS);
  g_assert_null (strstr (small, "sql("));
  json_object_set_new (json_array_get (analysis->schema, 0), "bytes", json_integer (1 << 24));
  g_autofree char *with_sql = describe_tables (analysis, ANALYSIS_SAMPLE_ROWS);
  g_assert_nonnull (strstr (with_sql, "sql(\"select ...\") is there"));
}

static void
test_scalars (void)
{
  static const struct {
    const char *json, *text;
  } rows[] = {
      {"null", ""},   {"true", "true"},         {"3", "3"},     {"3.0", "3"},
      {"0.1", "0.1"}, {"\"a\\nb\"", "a\\x0ab"}, {"[1]", "[1]"}, {"1234567.25", "1234567.25"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (json_t) value = json_loads (rows[i].json, JSON_DECODE_ANY, NULL);
    g_autofree char *text = describe_scalar (value, 0);
    g_assert_cmpstr (text, ==, rows[i].text);
  }
  g_autoptr (json_t) value = json_string ("äöüabc");
  g_autofree char *text = describe_scalar (value, 3);
  g_assert_cmpstr (text, ==, "äöü...");
}

static void
test_schemas_are_strict (void)
{
  g_autoptr (json_t) tools = prompt_tools ();
  gsize index;
  json_t *tool;
  g_assert_cmpuint (json_array_size (tools), ==, 3);
  json_array_foreach (tools, index, tool)
  {
    const json_t *parameters = json_object_get (tool, "parameters");
    g_assert_true (json_is_false (json_object_get (parameters, "additionalProperties")));
    g_assert_cmpuint (json_array_size (json_object_get (parameters, "required")), ==,
                      json_object_size (json_object_get (parameters, "properties")));
  }
}

/* ---- the controller ---- */

/* A host whose sandbox answers what the code is called: a word, and then nothing but results. */
struct bench {
  guint scans, checks, runs;
  guint steps[ANALYSIS_ANSWER + 1];
};

static json_t *
result_of (const char *outcome, int exit_code, json_t *violations, json_t *bundle)
{
  return json_pack ("{s:s, s:s, s:i, s:o, s:n, s:o, s:s, s:{s:f, s:f, s:i}}", "run_id", "r", "outcome",
                    outcome, "exit_code", exit_code, "violations", violations, "error", "displays",
                    bundle ? json_pack ("[{s:o}]", "application/vnd.adder.analysis+json", bundle)
                           : json_array (),
                    "stdout", "", "usage", "wall_ms", 1.0, "cpu_ms", 1.0, "peak_memory_bytes", 1);
}

static json_t *
report (double value, gboolean holds)
{
  return json_pack ("{s:[{s:s, s:i, s:[], s:[], s:[]}], s:{s:s, s:f, s:s}, s:[{s:{}, s:b, s:s}]}", "tables",
                    "name", "t", "bytes", 1, "columns", "sample", "assumed", "result", "kind", "number",
                    "value", value, "text", "n", "tests", "check", "ok", holds, "message", "it must hold");
}

static json_t *
bench_run (gpointer data, const struct analysis_run *run, G_GNUC_UNUSED GError **error)
{
  struct bench *bench = data;
  switch (run->kind) {
  case ANALYSIS_KIND_SCAN:
    bench->scans++;
    return result_of ("ok", 0, json_array (), report (0, TRUE));
  case ANALYSIS_KIND_CHECK:
    bench->checks++;
    if (strcmp (run->code, "refused") == 0)
      return result_of ("refused", 126,
                        json_pack ("[{s:s, s:i, s:i, s:s, s:s}]", "rule", "import", "line", 1, "column", 0,
                                   "text", "import os", "hint", "Nothing can be imported."),
                        NULL);
    return result_of ("ok", 0, json_array (), NULL);
  case ANALYSIS_KIND_RUN:
  default:
    bench->runs++;
    return result_of ("ok", 0, json_array (), report (42, strstr (run->code, "wrong") == NULL));
  }
}

static void
saw (gpointer data, G_GNUC_UNUSED const struct analysis *analysis, enum analysis_step step)
{
  ((struct bench *)data)->steps[step]++;
}

static void
test_code_alone (void)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  struct bench bench = {0};
  const struct analysis_means means = {.host = {bench_run, &bench}, .saw = saw, .saw_data = &bench};
  g_assert_true (analysis_add_table (analysis, "t", "csv", "x.csv", NULL, 1, NULL, NULL));
  analysis->code = g_strdup ("right");
  g_assert_true (analysis_solve (analysis, &means, &problem));
  g_assert_true (analysis_is_answered (analysis));
  g_assert_cmpstr (analysis->answer, ==, "The answer is 42.");
  g_assert_cmpuint (bench.scans + bench.checks + bench.runs, ==, 3);
  g_assert_cmpuint (bench.steps[ANALYSIS_PLAN] + bench.steps[ANALYSIS_CODE] + bench.steps[ANALYSIS_EXPECT],
                    ==, 0);
}

static void
test_code_alone_is_tried_once (void)
{
  static const struct {
    const char *code, *outcome;
    guint runs;
  } rows[] = {{"refused", "refused", 0}, {"wrong", "tests_failed", 1}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (analysis_auto) analysis = analysis_new ("?");
    struct bench bench = {0};
    const struct analysis_means means = {.host = {bench_run, &bench}};
    g_assert_true (analysis_add_table (analysis, "t", "csv", "x.csv", NULL, 1, NULL, NULL));
    analysis->code = g_strdup (rows[i].code);
    g_assert_true (analysis_solve (analysis, &means, &problem));
    g_assert_cmpstr (analysis->outcome, ==, rows[i].outcome);
    g_assert_false (analysis_is_answered (analysis));
    g_assert_cmpuint (json_array_size (analysis->attempts), ==, 1);
    g_assert_cmpuint (bench.runs, ==, rows[i].runs);
    g_assert_cmpuint (json_array_size (analysis->errors), ==, 1);
  }
}

/* A model that plays LINES. */
static struct model *
replay (const char *lines, char **ret_file)
{
  g_autoptr (GError) problem = NULL;
  int fd = g_file_open_tmp ("replay-XXXXXX.jsonl", ret_file, &problem);
  g_assert_cmpint (fd_write_all (fd, lines, strlen (lines)), ==, 0);
  fd_close (&fd);
  g_autofree char *name = g_strconcat ("replay:", *ret_file, NULL);
  struct model *model = model_open (name, &problem);
  g_assert_no_error (problem);
  return model;
}

#define CODE(text)                                                                                           \
  "{\"answer\": {\"calls\": [{\"name\": \"submit_code\", \"arguments\": {\"code\": \"" text "\"}}]}}\n"
#define PLAN                                                                                                 \
  "{\"answer\": {\"calls\": [{\"name\": \"submit_plan\", \"arguments\": {\"steps\": [{\"operation\": "       \
  "\"sort\", "                                                                                               \
  "\"detail\": \"it\"}], \"target\": {\"kind\": \"number\"}, \"time\": null}}]}}\n"

static void
solve_with (const char *lines, struct analysis *analysis, struct bench *bench, gboolean ok)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *file = NULL;
  struct model *model = replay (lines, &file);
  struct dialogue *dialogue = dialogue_new (model, -1);
  const struct analysis_means means = {
      .host = {bench_run, bench}, .dialogue = dialogue, .saw = saw, .saw_data = bench};
  g_assert_true (analysis_add_table (analysis, "t", "csv", "x.csv", NULL, 1, NULL, NULL));
  g_assert_cmpint (analysis_solve (analysis, &means, &problem), ==, ok);
  g_assert_cmpint (problem == NULL, ==, ok);
  dialogue_free (dialogue);
  model_free (model);
  unlink (file);
}

static void
test_code_goes_back (void)
{
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  struct bench bench = {0};
  solve_with (PLAN CODE ("refused") CODE ("wrong") CODE ("right") "{\"answer\": {\"text\": \"It is 42\"}}\n",
              analysis, &bench, TRUE);
  g_assert_true (analysis_is_answered (analysis));
  g_assert_cmpstr (analysis->answer, ==, "It is 42.");
  g_assert_cmpuint (bench.steps[ANALYSIS_CODE], ==, 3);
  g_assert_cmpuint (bench.runs, ==, 2);
  g_assert_true (json_is_true (json_object_get (analysis->model, "replay")));
}

#define WORDS "{\"answer\": {\"text\": \"I would rather not.\"}}\n"

/* A model that cannot make a call of its plan may still write code. */
static void
test_a_missing_plan_ends_nothing (void)
{
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  struct bench bench = {0};
  solve_with (WORDS WORDS WORDS "{\"ask\": {\"contains\": [\"Now the code\"]}, \"answer\": {\"text\": "
                                "\"```python\\nright\\n```\"}}\n{\"answer\": {\"text\": \"It is 42\"}}\n",
              analysis, &bench, TRUE);
  g_assert_true (analysis_is_answered (analysis));
  g_assert_null (analysis->plan);
}

/* What all of it is indented by is left out, and so are lines that bring what is there. */
static void
test_code_is_tidied (void)
{
  static const struct {
    const char *written, *code;
  } rows[] = {
      {"right", "right"},
      {"\\n    import pandas as pd\\n    import numpy as np \\n    for i in a:\\n        right\\n    ",
       "\nfor i in a:\n    right\n"},
      {"if a:\\n    import pandas as pd\\nright", "if a:\n    import pandas as pd\nright"},
      {"from scipy import stats\\nimport stats as scipy.stats\\nimport scipy.stats as stats\\nright",
       "right"},
      {"import pandas as pd # it\\ndf = pd.read_csv('a.csv')  # all\\nright",
       "df = dfs[\"t\"]  # all\nright"},
      {"df = pd.read_csv('a.csv', sep=';')\\nx = pd.read_csv('a.csv')\\nright",
       "df = pd.read_csv('a.csv', sep=';')\nx = dfs[\"t\"]\nright"},
      {"import pandas as pd, os\\nimport pandas\\nright", "import pandas as pd, os\npandas = pd\nright"},
      {"import stats as st\\nimport numpy\\nimport stats as stats # it\\nimport pandas.io\\nright",
       "st = stats\nnumpy = np\nimport pandas.io\nright"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (analysis_auto) analysis = analysis_new ("?");
    struct bench bench = {0};
    g_autofree char *lines = g_strconcat (
        PLAN "{\"answer\": {\"calls\": [{\"name\": \"submit_code\", \"arguments\": {\"code\": \"",
        rows[i].written, "\"}}]}}\n{\"answer\": {\"text\": \"It is 42\"}}\n", NULL);
    solve_with (lines, analysis, &bench, TRUE);
    g_assert_cmpstr (analysis->code, ==, rows[i].code);
  }
}

#define FAILED                                                                                               \
  "This is no answer yet:\\nit must hold\\n\\nChange the code so that it is, and call submit_code again "    \
  "with "                                                                                                    \
  "all of it."
#define TOLD(text)                                                                                           \
  "{\"ask\": {\"new\": [{\"role\": \"tool\", \"content\": [{\"type\": \"result\", \"id\": \"call_0_0\", "    \
  "\"name\": \"submit_code\", \"content\": [{\"type\": \"text\", \"text\": \"" text                          \
  "\"}], \"is_error\": true}]}]}, "
#define NEXT(code)                                                                                           \
  "\"answer\": {\"calls\": [{\"name\": \"submit_code\", \"arguments\": {\"code\": \"" code "\"}}]}}\n"

/* The third attempt after two that were the same is told so, and no other is. */
static void
test_the_same_code_again (void)
{
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  struct bench bench = {0};
  solve_with (PLAN CODE ("wrong") TOLD (FAILED) NEXT (" wrong\\n")
                  TOLD (FAILED "\\n\\nYou have submitted this very code before. Take another approach.")
                      NEXT ("wrong, otherwise") TOLD (FAILED)
                          NEXT ("right") "{\"answer\": {\"text\": \"It is 42\"}}\n",
              analysis, &bench, TRUE);
  g_assert_true (analysis_is_answered (analysis));
}

static void
test_code_goes_back_three_times (void)
{
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  struct bench bench = {0};
  solve_with (PLAN CODE ("refused") CODE ("wrong") CODE ("refused") CODE ("wrong"), analysis, &bench, TRUE);
  g_assert_false (analysis_is_answered (analysis));
  g_assert_cmpuint (json_array_size (analysis->attempts), ==, 4);
  g_assert_true (g_str_has_prefix (analysis->answer, "There is no answer after 4 attempts (tests_failed)"));
}

/* What ended a run before the code had errors of its own. */
static void
test_reasons_of_a_run (void)
{
  static const struct {
    const char *message, *hint, *answer;
  } rows[] = {
      {"It ran out of memory", "Use less.",
       "There is no answer (memory_limit); It ran out of memory. Use less."},
      {"It is over.", "Use less.", "There is no answer (memory_limit); It is over. Use less."},
      {"", "Use less.", "There is no answer (memory_limit); MemoryError. Use less."},
      {"", "", "There is no answer (memory_limit); MemoryError."},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (analysis_auto) analysis = analysis_new ("?");
    const struct analysis_means means = {0};
    analysis->outcome = g_strdup ("memory_limit");
    analysis->error = json_pack ("{s:s, s:s, s:s}", "type", "MemoryError", "message", rows[i].message, "hint",
                                 rows[i].hint);
    g_assert_true (analysis_answer (analysis, &means, &problem));
    g_assert_cmpstr (analysis->answer, ==, rows[i].answer);
  }
}

#define GREAT "\"usage\": {\"input_tokens\": 9223372036854775807, \"output_tokens\": 9223372036854775807}"

static void
test_a_server_that_counts_without_end (void)
{
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  struct bench bench = {0};
  solve_with (
      "{\"answer\": {\"calls\": [{\"name\": \"submit_plan\", \"arguments\": {\"steps\": [{\"operation\": "
      "\"sort\", \"detail\": \"it\"}], \"target\": {\"kind\": \"number\"}, \"time\": null}}], " GREAT "}}\n"
      "{\"answer\": {\"calls\": [{\"name\": \"submit_code\", \"arguments\": {\"code\": \"right\"}}], " GREAT
      "}}\n{\"answer\": {\"text\": \"It is 42\", " GREAT "}}\n",
      analysis, &bench, TRUE);
  g_assert_cmpint (json_integer_value (json_object_get (analysis->usage, "input_tokens")), ==,
                   3 * MODEL_TOKENS_MAX);
}

static void
test_a_replay_that_is_over (void)
{
  g_autoptr (analysis_auto) analysis = analysis_new ("?");
  struct bench bench = {0};
  solve_with (PLAN, analysis, &bench, FALSE);
  g_assert_cmpuint (bench.checks, ==, 0);
}

/* ---- whether words agree with the result ---- */

#define NUMBER "{\"kind\": \"number\", \"value\": 910.25, \"text\": \"910.25\"}"
#define TABLE                                                                                                \
  "{\"kind\": \"table\", \"shape\": [3, 3], \"hidden_rows\": 0, \"columns\": [{\"name\": \"category\"}, "    \
  "{\"name\": \"revenue\"}, {\"name\": \"growth\"}], \"rows\": [[\"Games\", 12345.5, 0.25], "                \
  "[\"Books\", 11000, -0.125], [\"Toys\", 7.5, 0.4]]}"

#define TIE                                                                                                  \
  "{\"kind\": \"table\", \"columns\": [{\"name\": \"category\"}, {\"name\": \"revenue\"}], "                 \
  "\"rows\": [[\"Games\", 2], [\"Books\", 1], [\"Toys\", 1]]}"

static const struct {
  const char *result, *said, *wrong; /* a word of the sentence; NULL: it agrees */
} words[] = {
    {NUMBER, "It is 910.25.", NULL},
    {NUMBER, "Es sind 910,25 im Jahr 2024.", NULL},
    {NUMBER, "It is about 910, or 0.91 thousand.", NULL},
    {NUMBER, "The top 5 make 910.3 (Q3, 2024-01-05, 3rd).", NULL},
    {NUMBER, "It is 911.", "911"},
    {NUMBER, "It is 910.2.", NULL},
    {NUMBER, "It is 910.4.", "910.4"},
    {NUMBER, "It is 1000.", "1000"},
    {NUMBER, "Plants make 910.", "Plants"},
    {NUMBER, "Books make 910.", NULL}, /* the question's */
    {TABLE, "Games lead with 12,345.5 and grew by 25 %.", NULL},
    {TABLE, "Games (12.346) vor Books (11.000) und Toys (7,5).", NULL},
    {TABLE, "Games lead with 12,300, Books have 11,000, Toys 7.5.", NULL},
    {TABLE, "Books fell by 12.5 percent; Games made 1,345.5 more.", NULL},
    {TABLE, "Of the 3 categories Games lead; together they make 23,353.", NULL},
    {TABLE, "12,345.5 for Games and 11,000 for Books.", NULL},
    {TABLE, "Games and Books made 12,345.5 and 11,000.", NULL},
    {TABLE, "Games have 12,345.5, Books and Toys less.", NULL},
    {TABLE, "Games lead with 12,543.5.", "12,543.5"},
    {TABLE, "Games grew by 26 %.", "26"},
    {TABLE, "Games lead with 11,000, before Books with 12,345.5.", "Games"},
    {TABLE, "Plants lead with 12,345.5.", "Plants"},
    {TABLE, "Games, then Books, then Toys.", NULL},
    {TABLE, "From the bottom: Toys, Books, Games.", NULL},
    {TABLE, "Games, then Toys, then Books.", "order"},
    {TIE, "Games, then Toys, then Books.", NULL},
};

static void
test_words_agree (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++) {
    g_autoptr (analysis_auto) analysis = analysis_new ("top 5 by revenue, with books?");
    analysis->result = json_loads (words[i].result, 0, NULL);
    analysis->plan = json_loads ("{\"target\": {\"order\": \"revenue, largest first\"}}", 0, NULL);
    json_array_append_new (
        analysis->schema,
        json_loads ("{\"sample\": [[\"2024-01-05\", \"Plants\", 3], [\"2024-01-06\", \"Books\", 4]]}", 0,
                    NULL));
    g_autofree char *wrong = analysis_disagreement (analysis, words[i].said);
    g_test_message ("%s: %s", words[i].said, wrong ? wrong : "agrees");
    g_assert_true (words[i].wrong ? wrong && strstr (wrong, words[i].wrong) : !wrong);
  }
}

/* What contradicts the result goes back once. */
static void
test_words_go_back (void)
{
  static const struct {
    const char *second, *answer;
  } rows[] = {
      {"It is 42", "It is 42."},
      {"It is 43", "The answer is 42. The model's own words contradicted the result."},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (analysis_auto) analysis = analysis_new ("?");
    struct bench bench = {0};
    g_autofree char *lines =
        g_strdup_printf (PLAN CODE ("right") "{\"answer\": {\"text\": \"It is 41\"}}\n"
                                             "{\"ask\": {\"contains\": [\"41 is no number of the result\"]}, "
                                             "\"answer\": {\"text\": \"%s\"}}\n",
                         rows[i].second);
    solve_with (lines, analysis, &bench, TRUE);
    g_assert_cmpstr (analysis->answer, ==, rows[i].answer);
  }
}

UNIT_SUITE (analysis)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/tidied-code", test_code_is_tidied);
  g_test_add_func ("/analysis/no-plan", test_a_missing_plan_ends_nothing);
  g_test_add_func ("/analysis/same-code", test_the_same_code_again);
  g_test_add_func ("/analysis/words-agree", test_words_agree);
  g_test_add_func ("/analysis/words-go-back", test_words_go_back);
  g_test_add_func ("/analysis/whole-lines", test_whole_lines);
  g_test_add_func ("/analysis/heads", test_heads);
  g_test_add_func ("/analysis/formats", test_other_formats_have_no_head);
  g_test_add_func ("/analysis/state-and-back", test_state_and_back);
  g_test_add_func ("/analysis/states-that-are-none", test_states_that_are_none);
  g_test_add_func ("/analysis/names-of-tables", test_names_of_tables);
  g_test_add_func ("/analysis/wide-tables", test_wide_tables_are_told_within_bounds);
  g_test_add_func ("/analysis/scalars", test_scalars);
  g_test_add_func ("/analysis/schemas-are-strict", test_schemas_are_strict);
  g_test_add_func ("/analysis/code-alone", test_code_alone);
  g_test_add_func ("/analysis/code-alone-is-tried-once", test_code_alone_is_tried_once);
  g_test_add_func ("/analysis/code-goes-back", test_code_goes_back);
  g_test_add_func ("/analysis/code-goes-back-three-times", test_code_goes_back_three_times);
  g_test_add_func ("/analysis/reasons-of-a-run", test_reasons_of_a_run);
  g_test_add_func ("/analysis/a-server-that-counts-without-end", test_a_server_that_counts_without_end);
  g_test_add_func ("/analysis/a-replay-that-is-over", test_a_replay_that_is_over);
  return g_test_run ();
}
