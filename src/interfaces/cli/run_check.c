/* SPDX-License-Identifier: Apache-2.0 */
/* Code is checked in a sandbox, because hostile text can attack the parser. */
#include "interfaces/cli/run_check.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/request/outcome.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/terminal_text.h"
#include "interfaces/socket/event_source.h"

/* The result, the caller's. */
static json_t *
run_check_take_result (const struct run_options *options, GError **error)
{
  struct submission request;
  struct run_event event = {.kind = ADDER_EVENT_STARTED};
  struct event_source *source = NULL;
  json_t *result = NULL;
  submission_init (&request);
  if (run_options_fill (&request, options, error) &&
      (source = event_source_open (!options->no_daemon, &request, error))) {
    gboolean well = TRUE;
    while (well && event.kind != ADDER_EVENT_RESULT)
      well = source->next (source, &event, error);
    result = well ? json_incref (event.result) : NULL;
    source->free (source);
  }
  submission_clear (&request);
  return result;
}

/* ---- telling ---- */

/* On one line; NULL: there is none. The caller's. */
static char *
run_check_member (const json_t *object, const char *name)
{
  const char *text = json_string_value (json_object_get (object, name));
  return text ? text_one_line (text, -1) : NULL;
}

/* In the format of compilers, so that editors find the place: columns count from 1 here. */
static void
print_violation (const char *file, const json_t *violation)
{
  g_autofree char *hint = run_check_member (violation, "hint");
  g_autofree char *rule = run_check_member (violation, "rule"), *text = run_check_member (violation, "text");
  printf ("%s:%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT ": %s%s%s: %s", file,
          json_integer_value (json_object_get (violation, "line")),
          json_integer_value (json_object_get (violation, "column")) + 1, cli_colour (stdout, CLI_RED), rule,
          cli_colour (stdout, CLI_PLAIN), text);
  if (hint)
    printf (" %s(%s)%s", cli_colour (stdout, CLI_DIM), hint, cli_colour (stdout, CLI_PLAIN));
  printf ("\n");
}

static void
print_violations (const struct run_options *options, const json_t *result)
{
  g_autofree char *file = text_one_line (options->code                      ? "-c"
                                         : strcmp (options->file, "-") == 0 ? "-"
                                                                            : options->file,
                                         -1);
  gsize index;
  json_t *violation;
  json_array_foreach (json_object_get (result, "violations"), index, violation)
      print_violation (file, violation);
}

static void
run_check_print_json (const struct run_options *options, const json_t *result)
{
  g_autoptr (json_t) object = json_pack (
      "{s:s, s:O, s:O, s:O, s:O}", "profile", options->profile, "outcome",
      json_object_get (result, "outcome"), "exit_code", json_object_get (result, "exit_code"), "violations",
      json_object_get (result, "violations"), "error", json_object_get (result, "error"));
  cli_print_json (object);
}

/* Neither a violation nor success: Python cannot parse the code, or there was no sandbox. */
static void
print_error (const json_t *result)
{
  const json_t *error = json_object_get (result, "error");
  const char *traceback = json_string_value (json_object_get (error, "traceback"));
  g_autofree char *message = run_check_member (error, "message");
  if (traceback)
    terminal_text_write (traceback, -1, stderr);
  else
    fprintf (stderr, "%sadder: %s%s\n", cli_colour (stderr, CLI_RED), message,
             cli_colour (stderr, CLI_PLAIN));
}

int
run_check (const struct run_options *options, GError **error)
{
  g_autoptr (json_t) result = run_check_take_result (options, error);
  if (!result)
    return -1;
  const char *outcome = json_member_text (result, "outcome");
  if (options->json)
    run_check_print_json (options, result);
  else if (json_array_size (json_object_get (result, "violations")) > 0)
    print_violations (options, result);
  else if (strcmp (outcome, adder_outcome_name (ADDER_OUTCOME_OK)) != 0)
    print_error (result);
  return (int)json_integer_value (json_object_get (result, "exit_code"));
}
