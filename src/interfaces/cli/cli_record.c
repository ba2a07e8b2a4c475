/* SPDX-License-Identifier: Apache-2.0 */
/* `adder history`: what was run, by whom, and how it ended, also as it happens; and the contents of long
 * results. */
#include <stdio.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "engine/request/outcome.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/record_export.h"
#include "interfaces/cli/signal_handler.h"
#include "interfaces/cli/view/record_view.h"
#include "interfaces/socket/call_backend.h"
#include "store/record_fields.h"

#define NOT_AS_WRITTEN 1 /* exit code when rows were changed */

/* The waits that following consists of. */
#define FOLLOW_WAIT_MS 25000

/* A filter of records as an option. */
static const struct {
  const char *filter, *option;
  char letter;
  const char *text, *value;
  gboolean follows; /* works with --follow: the run in an event has a member of that name */
} filter_table[] = {
    {"since", "since", 0, "Only records from TIME on: a day, a time, or an age (2h)", "TIME"},
    {"until", "until", 0, "Only records before TIME", "TIME"},
    {"outcome", "outcome", 0, "Only runs with this outcome", "OUTCOME", TRUE},
    {"tool", "tool", 0, "Only calls of the tool", "TOOL"},
    {"profile", "profile", 'p', "Only runs with the profile", "PROFILE"},
    {"environment", "env", 'e', "Only runs in the environment", "NAME"},
    {"session", "session", 's', "Only cells of the session", "ID"},
    {"conversation", "conversation", 0, "Only objects of the conversation", "ID", TRUE},
    {"front_end", "front-end", 0, "Only runs of this front end", "NAME", TRUE},
    {"node", "node", 0, "Only runs on this machine", "NAME"},
    {"code", "code", 'c', "Only runs whose code contains TEXT", "TEXT"},
};

struct options {
  char *filters[G_N_ELEMENTS (filter_table)];
  char *owner, *format, *out, *head;
  int limit;
  gboolean all, follow, json, no_daemon;
};

static void
cli_record_options_clear (struct options *options)
{
  char **texts[] = {&options->owner, &options->format, &options->out, &options->head};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_clear_pointer (texts[i], g_free);
  for (gsize i = 0; i < G_N_ELEMENTS (filter_table); i++)
    g_clear_pointer (&options->filters[i], g_free);
}

/* ---- options ---- */

enum option_group {
  OPTIONS_FILTER = 1 << 0,
  OPTIONS_OWNER = 1 << 1,
  OPTIONS_LIST = 1 << 2,
  OPTIONS_EXPORT = 1 << 3,
  OPTIONS_VERIFY = 1 << 4,
  OPTIONS_JSON = 1 << 5,
};

static void
add_filters (GArray *entries, struct options *options)
{
  for (gsize i = 0; i < G_N_ELEMENTS (filter_table); i++) {
    const GOptionEntry entry = {filter_table[i].option, filter_table[i].letter, 0,
                                G_OPTION_ARG_FILENAME,  &options->filters[i],   filter_table[i].text,
                                filter_table[i].value};
    g_array_append_val (entries, entry);
  }
}

/* GROUPS of them; the array is the caller's (g_free). */
static GOptionEntry *
cli_record_make_entries (struct options *options, guint groups)
{
  const struct {
    enum option_group group;
    GOptionEntry entry;
  } rows[] = {
      {OPTIONS_OWNER,
       {"owner", 0, 0, G_OPTION_ARG_FILENAME, &options->owner,
        "Objects of OWNER instead of your own; all: everybody's", "OWNER"}},
      {OPTIONS_LIST,
       {"limit", 'n', 0, G_OPTION_ARG_INT, &options->limit,
        "Show at most N (default " G_STRINGIFY (RECORD_LIMIT_STANDARD) ", maximum " G_STRINGIFY (
            RECORD_LIMIT_MAX) ")",
        "N"}},
      {OPTIONS_LIST, {"all", 'a', 0, G_OPTION_ARG_NONE, &options->all, "Show all", NULL}},
      {OPTIONS_LIST,
       {"follow", 0, 0, G_OPTION_ARG_NONE, &options->follow,
        "Show new runs as they begin and end, until Ctrl-C; with --json an object a line", NULL}},
      {OPTIONS_EXPORT,
       {"format", 0, 0, G_OPTION_ARG_FILENAME, &options->format, "jsonl (the default) or csv", "FORMAT"}},
      {OPTIONS_EXPORT,
       {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out, "Write to FILE, completely or not at all",
        "FILE"}},
      {OPTIONS_VERIFY,
       {"head", 0, 0, G_OPTION_ARG_FILENAME, &options->head,
        "A head noted earlier, which the chain must still contain", "[NODE:]SEQ:DIGEST"}},
      {OPTIONS_JSON, {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL}},
  };
  GArray *entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  if (groups & OPTIONS_FILTER)
    add_filters (entries, options);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].group & groups)
      g_array_append_val (entries, rows[i].entry);
  const GOptionEntry no_daemon = {
      "no-daemon", 0, 0, G_OPTION_ARG_NONE, &options->no_daemon, "Work in this process, without a daemon",
      NULL};
  g_array_append_val (entries, no_daemon);
  return (GOptionEntry *)(void *)g_array_free (entries, FALSE);
}

/* ---- asking ---- */

static gboolean
cli_record_set_text (json_t *object, const char *name, const char *text, GError **error)
{
  if (!text || json_object_set_new (object, name, json_string (text)) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the value of %s is not UTF-8", name);
  return FALSE;
}

static gboolean
set_filters (json_t *object, const struct options *options, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (filter_table); i++)
    if (!cli_record_set_text (object, filter_table[i].filter, options->filters[i], error))
      return FALSE;
  return TRUE;
}

/* The owner, and the filters if FILTERED, as parameters; the caller's. */
static json_t *
make_params (const struct options *options, gboolean filtered, GError **error)
{
  g_autoptr (json_t) params = json_object ();
  if (!cli_record_set_text (params, "owner", options->owner, error) ||
      (filtered && !set_filters (params, options, error)))
    return NULL;
  return g_steal_pointer (&params);
}

/* A command: its options, and its function with a backend. */
struct command {
  guint groups;
  int arguments;
  int (*run) (struct call_backend *backend, const struct options *options, const char *argument,
              GError **error);
};

/* The exit code. RUN gives -1 with an error. */
static int
cli_record_carry_out (const struct command *command, int argc, char **argv)
{
  struct options options = {.limit = RECORD_LIMIT_STANDARD};
  g_autofree GOptionEntry *entries = cli_record_make_entries (&options, command->groups);
  g_autoptr (GError) problem = NULL;
  int code = -1;
  if (!cli_parse (entries, command->arguments, command->arguments, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    struct call_backend *backend = call_backend_new (options.no_daemon, &problem);
    if (backend)
      code = command->run (backend, &options, command->arguments > 0 ? argv[1] : NULL, &problem);
    if (code < 0)
      code = cli_fail (problem);
    call_backend_free (backend);
  }
  cli_record_options_clear (&options);
  return code;
}

/* ---- commands ---- */

/* All requested pages as one; NULL with ERROR. */
static json_t *
cli_record_gather (struct call_backend *backend, const struct options *options, GError **error)
{
  g_autoptr (json_t) params = make_params (options, TRUE, error);
  if (!params)
    return NULL;
  json_object_set_new (params, "limit", json_integer (options->all ? RECORD_LIMIT_MAX : options->limit));
  json_t *whole = call_backend_operation (backend, "record.list", json_incref (params), error);
  while (whole && options->all && json_is_string (json_object_get (whole, "next"))) {
    json_object_set (params, "before", json_object_get (whole, "next"));
    g_autoptr (json_t) page = call_backend_operation (backend, "record.list", json_incref (params), error);
    if (!page) {
      json_decref (whole);
      return NULL;
    }
    json_array_extend (json_object_get (whole, "records"), json_object_get (page, "records"));
    json_object_set (whole, "next", json_object_get (page, "next"));
  }
  return whole;
}

/* The exit code for output with COUNT damaged records. */
static int
warn_damaged (json_int_t count)
{
  if (count == 0)
    return 0;
  fprintf (stderr,
           "adder: warning: %" JSON_INTEGER_FORMAT
           " record%s in the database %s damaged, not as Adder writes "
           "them: adder history verify says which\n",
           count, count == 1 ? "" : "s", count == 1 ? "is" : "are");
  return NOT_AS_WRITTEN;
}

static json_int_t
count_damaged (const json_t *records)
{
  gsize i;
  json_t *record;
  json_int_t count = 0;
  json_array_foreach (records, i, record) count += json_is_true (json_object_get (record, "damaged"));
  return count;
}

/* ---- following ---- */

/* An outcome that no run has would be waited for without end. */
static gboolean
follow_check_outcome (const struct options *options, GError **error)
{
  const char *text = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (filter_table); i++)
    if (strcmp (filter_table[i].filter, "outcome") == 0)
      text = options->filters[i];
  if (!text || outcome_is_known (text))
    return TRUE;
  g_autofree char *known = outcome_list ();
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the filter \"outcome\" must be one of: %s", known);
  return FALSE;
}

/* That OPTIONS say nothing that only records have. */
static gboolean
follow_check (const struct options *options, GError **error)
{
  const struct {
    const char *option;
    gboolean given;
  } lists[] = {
      {"no-daemon", options->no_daemon},
      {"all", options->all},
      {"limit", options->limit != RECORD_LIMIT_STANDARD},
  };
  const char *other = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    if (lists[i].given)
      other = lists[i].option;
  for (gsize i = 0; i < G_N_ELEMENTS (filter_table); i++)
    if (options->filters[i] && !filter_table[i].follows)
      other = filter_table[i].option;
  if (other) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "--follow shows runs as they happen, and does not go with --%s", other);
    return FALSE;
  }
  return follow_check_outcome (options, error);
}

static gboolean
follow_wants (const struct options *options, const json_t *run)
{
  for (gsize i = 0; i < G_N_ELEMENTS (filter_table); i++)
    if (options->filters[i] &&
        strcmp (json_member_text (run, filter_table[i].filter), options->filters[i]) != 0)
      return FALSE;
  return TRUE;
}

static void
follow_show (const struct options *options, const json_t *answer)
{
  gsize i;
  json_t *event;
  json_array_foreach (json_object_get (answer, "events"), i, event)
  {
    if (!follow_wants (options, json_object_get (event, "object")))
      continue;
    if (options->json)
      cli_print_json (event);
    else
      record_view_event (event, g_strcmp0 (options->owner, "all") == 0);
  }
  fflush (stdout); /* before an incomplete list is told of */
  if (json_is_true (json_object_get (answer, "missed")))
    fputs ("adder: warning: more runs than the daemon holds began or ended meanwhile: some are not shown\n",
           stderr);
}

/* Until a signal ends the program, or nobody reads what it writes. */
static int
cli_record_follow (struct call_backend *backend, const struct options *options, GError **error)
{
  g_autoptr (json_t) filters = make_params (options, TRUE, error);
  if (!filters || !follow_check (options, error))
    return -1;
  signal_handler_set_idle (signal_handler_start ());
  g_autoptr (json_t) next = NULL;
  while (!ferror (stdout)) {
    json_t *params = json_pack ("{s:s, s:O*, s:O*, s:i}", "kinds", "run", "after", next, "owner",
                                json_object_get (filters, "owner"), "wait_ms", next ? FOLLOW_WAIT_MS : 0);
    g_autoptr (json_t) answer = call_backend_operation (backend, "event.list", params, error);
    if (!answer)
      return -1;
    if (!next)
      fprintf (stderr, "%sruns are shown as they begin and end; Ctrl-C ends this%s\n",
               cli_colour (stderr, CLI_DIM), cli_colour (stderr, CLI_PLAIN));
    follow_show (options, answer);
    json_decref (next);
    next = json_incref (json_object_get (answer, "next"));
  }
  return 0;
}

static int
cli_record_run_list (struct call_backend *backend, const struct options *options,
                     G_GNUC_UNUSED const char *argument, GError **error)
{
  if (options->follow)
    return cli_record_follow (backend, options, error);
  g_autoptr (json_t) answer = cli_record_gather (backend, options, error);
  if (!answer)
    return -1;
  const json_t *records = json_object_get (answer, "records");
  if (options->json)
    cli_print_json (answer);
  else
    record_view_list (records, g_strcmp0 (options->owner, "all") == 0);
  if (!options->json && json_is_string (json_object_get (answer, "next")))
    fprintf (stderr, "%sthe newest %zu; --all shows the others too%s\n", cli_colour (stderr, CLI_DIM),
             json_array_size (records), cli_colour (stderr, CLI_PLAIN));
  return warn_damaged (count_damaged (records));
}

/* Calls OPERATION with PARAMS, which are taken (NULL: ERROR is set), and prints the answer. */
static int
record_print (struct call_backend *backend, const char *operation, json_t *params,
              const struct options *options, void (*view) (const json_t *answer), GError **error)
{
  g_autoptr (json_t) answer = params ? call_backend_operation (backend, operation, params, error) : NULL;
  if (!answer)
    return -1;
  if (options->json)
    cli_print_json (answer);
  else
    view (answer);
  if (json_is_true (json_object_get (answer, "damaged")))
    return warn_damaged (1);
  return json_is_false (json_object_get (answer, "ok")) ? NOT_AS_WRITTEN : 0;
}

static int
cli_record_run_show (struct call_backend *backend, const struct options *options, const char *argument,
                     GError **error)
{
  g_autoptr (json_t) params = make_params (options, FALSE, error);
  if (!params || !cli_record_set_text (params, "run", argument, error))
    return -1;
  return record_print (backend, "record.show", g_steal_pointer (&params), options, record_view_one, error);
}

static int
run_stats (struct call_backend *backend, const struct options *options, G_GNUC_UNUSED const char *argument,
           GError **error)
{
  return record_print (backend, "record.stats", make_params (options, TRUE, error), options,
                       record_view_stats, error);
}

static int
cli_record_run_export (struct call_backend *backend, const struct options *options,
                       G_GNUC_UNUSED const char *argument, GError **error)
{
  g_autoptr (json_t) params = make_params (options, TRUE, error);
  if (!params || !cli_record_set_text (params, "format", options->format, error))
    return -1;
  g_autoptr (json_t) answer = record_export (backend, params, options->out, error);
  if (!answer)
    return -1;
  json_int_t records = json_integer_value (json_object_get (answer, "records"));
  if (options->out)
    printf ("%" JSON_INTEGER_FORMAT " record%s\n", records, records == 1 ? "" : "s");
  return warn_damaged (json_integer_value (json_object_get (answer, "damaged")));
}

static int
run_verify (struct call_backend *backend, const struct options *options, G_GNUC_UNUSED const char *argument,
            GError **error)
{
  g_autoptr (json_t) params = json_object ();
  if (!cli_record_set_text (params, "head", options->head, error))
    return -1;
  return record_print (backend, "record.verify", g_steal_pointer (&params), options, record_view_verify,
                       error);
}

static int
cli_record_list (int argc, char **argv)
{
  static const struct command command = {OPTIONS_FILTER | OPTIONS_OWNER | OPTIONS_LIST | OPTIONS_JSON, 0,
                                         cli_record_run_list};
  return cli_record_carry_out (&command, argc, argv);
}

static int
cli_record_show (int argc, char **argv)
{
  static const struct command command = {OPTIONS_OWNER | OPTIONS_JSON, 1, cli_record_run_show};
  return cli_record_carry_out (&command, argc, argv);
}

static int
cli_record_stats (int argc, char **argv)
{
  static const struct command command = {OPTIONS_FILTER | OPTIONS_OWNER | OPTIONS_JSON, 0, run_stats};
  return cli_record_carry_out (&command, argc, argv);
}

static int
record_write (int argc, char **argv)
{
  static const struct command command = {OPTIONS_FILTER | OPTIONS_OWNER | OPTIONS_EXPORT, 0,
                                         cli_record_run_export};
  return cli_record_carry_out (&command, argc, argv);
}

static int
cli_record_verify (int argc, char **argv)
{
  static const struct command command = {OPTIONS_VERIFY | OPTIONS_JSON, 0, run_verify};
  return cli_record_carry_out (&command, argc, argv);
}

static const struct cli_command commands[] = {
    {"list", "[--since TIME] [--outcome OUTCOME] [--code TEXT] [--follow] ...",
     "list records, newest first, or runs as they happen", cli_record_list,
     .examples = "adder history list --since 2h --outcome error\nadder history list -s lab --json\n"
                 "adder history list --follow --outcome error"},
    {"show", "ID [--json]", "show one record, with its code", cli_record_show,
     .examples = "adder history show 0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f"},
    {"output", "ID", "show all that a run printed, where its reply was cut", cli_result_output,
     .examples = "adder history output 0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f > output.txt"},
    {"peek", "ID [--offset N] [--grep PATTERN]", "show a part of it", cli_result_peek,
     .examples = "adder history peek 0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f --grep Error"},
    {"table", "ID [--table N] [--format FORMAT] [--out FILE]", "write a table that a run showed to a file",
     cli_result_export,
     .examples = "adder history table 0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f --format csv --out table.csv"},
    {"stats", "[--since TIME] ...", "count records by outcome, tool, profile, owner and day",
     cli_record_stats, .examples = "adder history stats --since 7d"},
    {"export", "[--format jsonl|csv] [--out FILE] ...", "export records, oldest first", record_write,
     .examples = "adder history export --format csv --out records.csv"},
    {"verify", "[--head SEQ:DIGEST]", "verify the chain of digests, and report changed and missing records",
     cli_record_verify, .examples = "adder history verify"},
    {0},
};

int
cli_history (int argc, char **argv)
{
  return cli_dispatch ("adder history",
                       "What was run, by whom, and how it ended; and output that was longer than its reply.",
                       commands, argc, argv);
}
