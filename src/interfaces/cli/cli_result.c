/* SPDX-License-Identifier: Apache-2.0 */
/* `adder history peek` and `output`: the kept output of results that were too long for their reply. */
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/terminal_text.h"
#include "interfaces/socket/call_backend.h"

#define WHOLE_PART_BYTES (1 << 20)

struct peek_options {
  char *stream, *grep, *owner;
  gint64 offset, limit;
  gboolean json, local;
  struct call_backend *backend;
};

static void
peek_options_clear (struct peek_options *options)
{
  g_free (options->stream);
  g_free (options->grep);
  g_free (options->owner);
  call_backend_free (options->backend);
}

/* One part; NULL with ERROR. */
static json_t *
cli_result_ask (struct peek_options *options, const char *result_id, const char *stream, guint64 offset,
                guint64 limit, GError **error)
{
  if (!options->backend)
    options->backend = call_backend_new (options->local, error);
  if (!options->backend)
    return NULL;
  json_t *params = json_pack ("{s:s, s:s, s:s*, s:s*, s:I}", "result", result_id, "stream", stream, "grep",
                              options->grep, "owner", options->owner, "offset", (json_int_t)offset);
  if (limit > 0)
    json_object_set_new (params, "limit", json_integer ((json_int_t)limit));
  return call_backend_operation (options->backend, "result.peek", params, error);
}

static guint64
cli_result_number_of (const json_t *part, const char *name)
{
  return (guint64)json_integer_value (json_object_get (part, name));
}

/* TEXT is the code's own: as it is, but for a terminal, which it must not drive. */
static void
cli_result_print_text (FILE *to, const json_t *text)
{
  struct terminal_text screen = {.stream = to, .redraws = TRUE};
  if (isatty (fileno (to)))
    terminal_text_add (&screen, json_string_value (text), json_string_length (text));
  else
    (void)fwrite (json_string_value (text), 1, json_string_length (text), to);
}

static void
cli_result_print_part (FILE *to, const json_t *part)
{
  const json_t *text = json_object_get (part, "text");
  gsize index;
  json_t *line;
  if (text)
    cli_result_print_text (to, text);
  json_array_foreach (json_object_get (part, "lines"), index, line)
  {
    fprintf (to, "%" G_GUINT64_FORMAT ":", cli_result_number_of (line, "line"));
    cli_result_print_text (to, json_object_get (line, "text"));
    fputc ('\n', to);
  }
}

/* On standard error, since standard output may go to a file. */
static void
cli_result_print_place (const json_t *part)
{
  if (json_is_true (json_object_get (part, "at_end")))
    return;
  fflush (stdout);
  fprintf (stderr,
           "[... bytes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
           "; go on with --offset %" G_GUINT64_FORMAT " ...]\n",
           cli_result_number_of (part, "offset"), cli_result_number_of (part, "next_offset"),
           cli_result_number_of (part, "total_bytes"), cli_result_number_of (part, "next_offset"));
}

int
cli_result_peek (int argc, char **argv)
{
  struct peek_options options = {0};
  const GOptionEntry entries[] = {
      {"stream", 0, 0, G_OPTION_ARG_FILENAME, &options.stream, "stdout (default) or stderr", "STREAM"},
      {"offset", 0, 0, G_OPTION_ARG_INT64, &options.offset, "Start at this byte", "N"},
      {"limit", 0, 0, G_OPTION_ARG_INT64, &options.limit, "Maximum number of bytes (default 16384)", "N"},
      {"grep", 0, 0, G_OPTION_ARG_FILENAME, &options.grep,
       "Only lines that match this regular expression, with their numbers", "PATTERN"},
      {"owner", 0, 0, G_OPTION_ARG_FILENAME, &options.owner,
       "The result's owner (default: you; all: anybody)", "NAME"},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.local, "Read it in this process", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print the answer as one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (options.offset < 0 || options.limit < 0) {
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "--offset and --limit are not below 0");
    return cli_fail_usage (problem);
  }
  g_autoptr (json_t) part = cli_result_ask (&options, argv[1], options.stream ? options.stream : "stdout",
                                            (guint64)options.offset, (guint64)options.limit, &problem);
  if (part && options.json)
    cli_print_json (part);
  else if (part) {
    cli_result_print_part (stdout, part);
    cli_result_print_place (part);
  }
  peek_options_clear (&options);
  return part ? 0 : cli_fail (problem);
}

/* All of STREAM, part by part. FALSE with ERROR. */
static gboolean
cli_result_print_whole (struct peek_options *options, const char *result_id, const char *stream, FILE *to,
                        GError **error)
{
  gboolean more = TRUE;
  for (guint64 offset = 0; more;) {
    g_autoptr (json_t) part = cli_result_ask (options, result_id, stream, offset, WHOLE_PART_BYTES, error);
    if (!part)
      return FALSE;
    cli_result_print_part (to, part);
    more = !json_is_true (json_object_get (part, "at_end")) &&
           cli_result_number_of (part, "next_offset") > offset;
    offset = cli_result_number_of (part, "next_offset");
  }
  return TRUE;
}

int
cli_result_output (int argc, char **argv)
{
  struct peek_options options = {0};
  const GOptionEntry entries[] = {
      {"owner", 0, 0, G_OPTION_ARG_FILENAME, &options.owner,
       "The result's owner (default: you; all: anybody)", "NAME"},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.local, "Read it in this process", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL, no_errors = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  gboolean output = cli_result_print_whole (&options, argv[1], "stdout", stdout, &problem);
  gboolean looked = output || g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
  gboolean errors = looked && cli_result_print_whole (&options, argv[1], "stderr", stderr, &no_errors);
  peek_options_clear (&options);
  /* One of the two is enough. */
  if (output && !errors && !g_error_matches (no_errors, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
    return cli_fail (no_errors);
  return output || errors ? 0 : cli_fail (problem);
}
