/* SPDX-License-Identifier: Apache-2.0 */
/* A question as a person sees it: which step is taken, what each found (--explain), and the answer. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/describe.h"
#include "apps/ask/ask.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/terminal_text.h"

/* Of what is told here, nearly all comes from tables, code or a model: no terminal takes orders from it. */
static void view_say (FILE *stream, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
view_say (FILE *stream, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  terminal_text_write (text, -1, stream);
}

/* ---- progress ---- */

static gboolean
shows_progress (const struct ask_view *view)
{
  return !view->json && !view->explain && cli_is_screen (stderr);
}

void
ask_view_begins (gpointer data, const struct analysis *analysis, enum analysis_step step)
{
  const struct ask_view *view = data;
  gsize tried = json_array_size (analysis->attempts);
  if (!shows_progress (view))
    return;
  fprintf (stderr, "\r\033[K%s%s", cli_colour (stderr, CLI_DIM), analysis_step_texts[step]);
  if (tried > 0 && step != ANALYSIS_ANSWER)
    fprintf (stderr, " (attempt %zu)", tried + 1);
  fprintf (stderr, " ...%s", cli_colour (stderr, CLI_PLAIN));
}

void
ask_view_read (const struct ask_view *view, guint64 done, guint64 of)
{
  if (!shows_progress (view) || of == 0)
    return;
  g_autofree char *size = size_format (of);
  fprintf (stderr, "\r\033[K%sreading: %.0f %% of %s ...%s", cli_colour (stderr, CLI_DIM),
           100.0 * (double)done / (double)of, size, cli_colour (stderr, CLI_PLAIN));
}

void
ask_view_rest (const struct ask_view *view)
{
  if (shows_progress (view))
    fprintf (stderr, "\r\033[K");
}

/* ---- what each step found ---- */

static void
print_texts (const json_t *list)
{
  gsize index;
  json_t *text;
  json_array_foreach (list, index, text) view_say (stdout, "- %s\n", json_string_value (text));
}

static void
explain_scan (const struct analysis *analysis)
{
  g_autofree char *text = describe_tables (analysis, ANALYSIS_SAMPLE_ROWS);
  view_say (stdout, "%s", text);
}

static void
explain_plan (const struct analysis *analysis)
{
  static const char *const others[] = {"target", "time"};
  gsize index;
  json_t *step;
  json_array_foreach (json_object_get (analysis->plan, "steps"), index, step)
      view_say (stdout, "%zu. %s: %s\n", index + 1, json_member_text (step, "operation"),
                json_member_text (step, "detail"));
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++) {
    const json_t *value = json_object_get (analysis->plan, others[i]);
    g_autofree char *text = json_is_object (value) ? json_to_text (value) : NULL;
    if (text)
      view_say (stdout, "%s: %s\n", others[i], text);
  }
}

static void
explain_expect (const struct analysis *analysis)
{
  gsize index;
  json_t *check;
  json_array_foreach (analysis->expect, index, check)
  {
    g_autofree char *text = json_to_text (check);
    view_say (stdout, "- %s\n", text);
  }
}

static void
explain_code (const struct analysis *analysis)
{
  view_say (stdout, "%s%s", analysis->code, g_str_has_suffix (analysis->code, "\n") ? "" : "\n");
}

static void
explain_guard (const struct analysis *analysis)
{
  if (json_array_size (analysis->errors) == 0)
    printf ("nothing is refused\n");
  print_texts (analysis->errors);
}

static void
explain_run (const struct analysis *analysis)
{
  guint64 peak = (guint64)json_integer_value (json_object_get (analysis->usage, "peak_memory_bytes"));
  g_autofree char *memory = size_format (peak);
  view_say (stdout, "%s, %.0f ms, %s\n", analysis->outcome,
            json_number_value (json_object_get (analysis->usage, "wall_ms")), memory);
  print_texts (analysis->errors);
  if (analysis->result) {
    g_autofree char *text = describe_result (analysis);
    view_say (stdout, "%s", text);
  }
}

static void
explain_test (const struct analysis *analysis)
{
  gsize index, held = 0;
  json_t *test;
  json_array_foreach (analysis->tests, index, test) held += json_is_true (json_object_get (test, "ok"));
  if (json_array_size (analysis->tests) == 0)
    printf ("there are no checks\n");
  else
    printf ("%zu of %zu checks hold\n", held, json_array_size (analysis->tests));
  print_texts (analysis->errors);
}

static void (*const explanations[]) (const struct analysis *analysis) = {
    [ANALYSIS_SCAN] = explain_scan, [ANALYSIS_PLAN] = explain_plan,   [ANALYSIS_EXPECT] = explain_expect,
    [ANALYSIS_CODE] = explain_code, [ANALYSIS_GUARD] = explain_guard, [ANALYSIS_RUN] = explain_run,
    [ANALYSIS_TEST] = explain_test, [ANALYSIS_ANSWER] = NULL, /* it follows, with all that belongs to it */
};

void
ask_view_saw (gpointer data, const struct analysis *analysis, enum analysis_step step)
{
  const struct ask_view *view = data;
  if (!view->explain)
    return;
  if (view->json) {
    g_autoptr (json_t) object =
        json_pack ("{s:s, s:o}", "step", analysis_step_names[step], "state", analysis_to_json (analysis));
    cli_print_json (object);
  } else {
    printf ("%s== %s%s\n", cli_colour (stdout, CLI_DIM), analysis_step_texts[step],
            cli_colour (stdout, CLI_PLAIN));
    if (explanations[step]) {
      explanations[step](analysis);
      printf ("\n");
    }
  }
  fflush (stdout);
}

/* ---- the answer ---- */

/* As compilers say it, so that editors find the place: columns count from 1 here. */
static void
say_violation (const struct ask_view *view, const json_t *violation)
{
  const char *hint = json_member_text (violation, "hint");
  fprintf (stderr, "%s:%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT ": %s%s%s: ", view->code_name,
           json_integer_value (json_object_get (violation, "line")),
           json_integer_value (json_object_get (violation, "column")) + 1, cli_colour (stderr, CLI_RED),
           json_member_text (violation, "rule"), cli_colour (stderr, CLI_PLAIN));
  view_say (stderr, "%s%s%s%s\n", json_member_text (violation, "text"), hint[0] ? " (" : "", hint,
            hint[0] ? ")" : "");
}

/* A person's own code needs no listing of what was tried: what is wrong with it, and in one sentence what
 * came of it. */
static void
view_say_failure (const struct ask_view *view, const struct analysis *analysis)
{
  gsize index;
  json_t *item;
  if (analysis->stdout_text)
    view_say (stderr, "%s", analysis->stdout_text);
  json_array_foreach (analysis->violations, index, item) say_violation (view, item);
  json_array_foreach (analysis->errors, index, item)
  {
    if (json_array_size (analysis->violations) == 0)
      view_say (stderr, "%s\n", json_string_value (item));
  }
  fprintf (stderr, "%sadder: ", cli_colour (stderr, CLI_RED));
  if (json_array_size (analysis->errors) > 0)
    view_say (stderr, "there is no answer (%s)", analysis->outcome);
  else
    view_say (stderr, "%s", analysis->answer);
  fprintf (stderr, "%s\n", cli_colour (stderr, CLI_PLAIN));
}

/* What a limit's own hint cannot know: how it is raised here. */
static void
say_remedy (const struct analysis *analysis)
{
  static const struct {
    AdderOutcome outcome;
    const char *option;
  } rows[] = {
      {ADDER_OUTCOME_TIMEOUT, "--timeout"},
      {ADDER_OUTCOME_CPU_LIMIT, "--cpu"},
      {ADDER_OUTCOME_MEMORY_LIMIT, "--memory"},
      {ADDER_OUTCOME_OUTPUT_LIMIT, "--limit output_bytes=SIZE"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (analysis_ended_as (analysis, rows[i].outcome))
      fprintf (stderr, "%sadder: raise it with %s%s\n", cli_colour (stderr, CLI_YELLOW), rows[i].option,
               cli_colour (stderr, CLI_PLAIN));
}

void
ask_view_answer (const struct ask_view *view, const struct analysis *analysis, const char *const *pictures)
{
  if (!analysis_is_answered (analysis) && view->code_name)
    view_say_failure (view, analysis);
  else {
    g_autofree char *text = analysis_markdown (analysis, pictures);
    view_say (stdout, "%s", text);
  }
  say_remedy (analysis);
}
