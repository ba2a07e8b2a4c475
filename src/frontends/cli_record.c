/* SPDX-License-Identifier: Apache-2.0 */
/* `adder record`: what was run, by whom, and how it ended. */
#include <stdio.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "frontends/call_target.h"
#include "frontends/cli.h"
#include "frontends/record_export.h"
#include "frontends/record_view.h"

#define NOT_AS_WRITTEN 1 /* exit code where rows are not as they were written */
#define PAGE_MOST      1000
#define LIMIT_STANDARD 50

struct options {
  char *since, *until, *outcome, *tool, *profile, *environment, *session, *conversation, *front_end, *node;
  char *code, *owner, *format, *out, *head;
  int limit;
  gboolean all, json, no_daemon;
};

static void
options_clear (struct options *options)
{
  char **texts[] = {&options->since,        &options->until,     &options->outcome,     &options->tool,
                    &options->profile,      &options->session,   &options->environment, &options->code,
                    &options->conversation, &options->front_end, &options->node,        &options->owner,
                    &options->format,       &options->out,       &options->head};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_clear_pointer (texts[i], g_free);
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

/* GROUPS of them; the array is the caller's (g_free). */
static GOptionEntry *
make_entries (struct options *options, guint groups)
{
  const struct {
    enum option_group group;
    GOptionEntry entry;
  } rows[] = {
      {OPTIONS_FILTER,
       {"since", 0, 0, G_OPTION_ARG_FILENAME, &options->since,
        "Only those that began at TIME or later: a day, a moment, or how long ago (2h)", "TIME"}},
      {OPTIONS_FILTER,
       {"until", 0, 0, G_OPTION_ARG_FILENAME, &options->until, "Only those before TIME", "TIME"}},
      {OPTIONS_FILTER,
       {"outcome", 0, 0, G_OPTION_ARG_FILENAME, &options->outcome, "Only those that ended so", "OUTCOME"}},
      {OPTIONS_FILTER,
       {"tool", 0, 0, G_OPTION_ARG_FILENAME, &options->tool, "Only calls of the tool", "TOOL"}},
      {OPTIONS_FILTER,
       {"profile", 'p', 0, G_OPTION_ARG_FILENAME, &options->profile, "Only those with the profile",
        "PROFILE"}},
      {OPTIONS_FILTER,
       {"env", 'e', 0, G_OPTION_ARG_FILENAME, &options->environment, "Only those in the environment",
        "NAME"}},
      {OPTIONS_FILTER,
       {"session", 's', 0, G_OPTION_ARG_FILENAME, &options->session, "Only cells of the session", "ID"}},
      {OPTIONS_FILTER,
       {"conversation", 0, 0, G_OPTION_ARG_FILENAME, &options->conversation, "Only those of the conversation",
        "ID"}},
      {OPTIONS_FILTER,
       {"front-end", 0, 0, G_OPTION_ARG_FILENAME, &options->front_end, "Only those that came in there",
        "NAME"}},
      {OPTIONS_FILTER,
       {"node", 0, 0, G_OPTION_ARG_FILENAME, &options->node, "Only those that ran on the machine", "NAME"}},
      {OPTIONS_FILTER,
       {"code", 'c', 0, G_OPTION_ARG_FILENAME, &options->code, "Only those whose code holds TEXT", "TEXT"}},
      {OPTIONS_OWNER,
       {"owner", 0, 0, G_OPTION_ARG_FILENAME, &options->owner,
        "Those of OWNER instead of your own; all: everybody's", "OWNER"}},
      {OPTIONS_LIST,
       {"limit", 'n', 0, G_OPTION_ARG_INT, &options->limit, "Show so many (50, at most 1000)", "N"}},
      {OPTIONS_LIST, {"all", 'a', 0, G_OPTION_ARG_NONE, &options->all, "Show all of them", NULL}},
      {OPTIONS_EXPORT,
       {"format", 0, 0, G_OPTION_ARG_FILENAME, &options->format, "jsonl (the default) or csv", "FORMAT"}},
      {OPTIONS_EXPORT,
       {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out, "Write to FILE, whole or not at all", "FILE"}},
      {OPTIONS_VERIFY,
       {"head", 0, 0, G_OPTION_ARG_FILENAME, &options->head,
        "The head that was written down once: the chain must still come by there", "[NODE:]SEQ:DIGEST"}},
      {OPTIONS_JSON, {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL}},
  };
  GArray *entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].group & groups)
      g_array_append_val (entries, rows[i].entry);
  const GOptionEntry no_daemon = {
      "no-daemon", 0, 0, G_OPTION_ARG_NONE, &options->no_daemon, "Read them in this very process", NULL};
  g_array_append_val (entries, no_daemon);
  return (GOptionEntry *)(void *)g_array_free (entries, FALSE);
}

/* ---- asking ---- */

static gboolean
set_text (json_t *object, const char *name, const char *text, GError **error)
{
  if (!text || json_object_set_new (object, name, json_string (text)) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the value of %s is not UTF-8", name);
  return FALSE;
}

static gboolean
set_filters (json_t *filters, const struct options *options, GError **error)
{
  const struct {
    const char *name, *text;
  } texts[] = {
      {"since", options->since},         {"until", options->until},
      {"outcome", options->outcome},     {"tool", options->tool},
      {"profile", options->profile},     {"environment", options->environment},
      {"session", options->session},     {"conversation", options->conversation},
      {"front_end", options->front_end}, {"node", options->node},
      {"code", options->code},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (!set_text (filters, texts[i].name, texts[i].text, error))
      return FALSE;
  if (options->all)
    json_object_set_new (filters, "limit", json_integer (PAGE_MOST));
  else
    json_object_set_new (filters, "limit", json_integer (options->limit));
  return TRUE;
}

/* The question OP with what OPTIONS say; the caller's. */
static json_t *
make_question (const char *op, const struct options *options, gboolean filtered, GError **error)
{
  g_autoptr (json_t) question = json_pack ("{s:s}", "op", op);
  json_t *filters = filtered ? json_object () : NULL;
  if (filters)
    json_object_set_new (question, "filters", filters);
  if (!set_text (question, "owner", options->owner, error) ||
      (filters && !set_filters (filters, options, error)))
    return NULL;
  return g_steal_pointer (&question);
}

/* A command: its options, and what it does with a target. */
struct command {
  guint groups;
  int arguments;
  int (*run) (struct call_target *target, const struct options *options, const char *argument,
              GError **error);
};

/* The exit code. RUN gives -1 with an error. */
static int
carry_out (const struct command *command, int argc, char **argv)
{
  struct options options = {.limit = LIMIT_STANDARD};
  g_autofree GOptionEntry *entries = make_entries (&options, command->groups);
  g_autoptr (GError) problem = NULL;
  int code = -1;
  if (!cli_parse (entries, command->arguments, command->arguments, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    struct call_target *target = call_target_new (options.no_daemon, &problem);
    if (target)
      code = command->run (target, &options, command->arguments > 0 ? argv[1] : NULL, &problem);
    if (code < 0)
      code = cli_fail (problem);
    call_target_free (target);
  }
  options_clear (&options);
  return code;
}

/* ---- commands ---- */

/* All pages that are wanted as one; NULL with ERROR. */
static json_t *
gather (struct call_target *target, const struct options *options, GError **error)
{
  g_autoptr (json_t) question = make_question ("record.list", options, TRUE, error);
  json_t *filters = json_object_get (question, "filters");
  json_t *whole = question ? call_target_ask_store (target, question, NULL, 0, NULL, error) : NULL;
  while (whole && options->all && json_is_string (json_object_get (whole, "next"))) {
    json_object_set (filters, "before", json_object_get (whole, "next"));
    g_autoptr (json_t) page = call_target_ask_store (target, question, NULL, 0, NULL, error);
    if (!page) {
      json_decref (whole);
      return NULL;
    }
    json_array_extend (json_object_get (whole, "records"), json_object_get (page, "records"));
    json_object_set (whole, "next", json_object_get (page, "next"));
  }
  return whole;
}

/* The exit code of what showed COUNT records that somebody damaged. */
static int
warn_damaged (json_int_t count)
{
  if (count == 0)
    return 0;
  fprintf (stderr,
           "adder: warning: %" JSON_INTEGER_FORMAT
           " record%s in the database %s damaged, not as Adder writes "
           "them: adder record verify says which\n",
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

static int
run_list (struct call_target *target, const struct options *options, G_GNUC_UNUSED const char *argument,
          GError **error)
{
  g_autoptr (json_t) answer = gather (target, options, error);
  if (!answer)
    return -1;
  const json_t *records = json_object_get (answer, "records");
  if (options->json)
    cli_print_json (answer);
  else
    record_view_list (records);
  if (!options->json && json_is_string (json_object_get (answer, "next")))
    fprintf (stderr, "%sthe newest %zu; --all shows the others too%s\n", cli_colour (stderr, CLI_DIM),
             json_array_size (records), cli_colour (stderr, CLI_PLAIN));
  return warn_damaged (count_damaged (records));
}

/* Prints what TARGET answers to QUESTION, which is taken (NULL: ERROR is set). */
static int
tell (struct call_target *target, json_t *question, const struct options *options,
      void (*view) (const json_t *answer), GError **error)
{
  g_autoptr (json_t) owned = question;
  g_autoptr (json_t) answer = owned ? call_target_ask_store (target, owned, NULL, 0, NULL, error) : NULL;
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
run_show (struct call_target *target, const struct options *options, const char *argument, GError **error)
{
  g_autoptr (json_t) question = make_question ("record.show", options, FALSE, error);
  if (!question || !set_text (question, "run", argument, error))
    return -1;
  return tell (target, g_steal_pointer (&question), options, record_view_one, error);
}

static int
run_stats (struct call_target *target, const struct options *options, G_GNUC_UNUSED const char *argument,
           GError **error)
{
  return tell (target, make_question ("record.stats", options, TRUE, error), options, record_view_stats,
               error);
}

static int
run_export (struct call_target *target, const struct options *options, G_GNUC_UNUSED const char *argument,
            GError **error)
{
  g_autoptr (json_t) question = make_question ("record.export", options, TRUE, error);
  if (!question || !set_text (question, "form", options->format ? options->format : "jsonl", error))
    return -1;
  g_autoptr (json_t) answer = record_export (target, question, options->out, error);
  if (!answer)
    return -1;
  json_int_t records = json_integer_value (json_object_get (answer, "records"));
  if (options->out)
    printf ("%" JSON_INTEGER_FORMAT " record%s\n", records, records == 1 ? "" : "s");
  return warn_damaged (json_integer_value (json_object_get (answer, "damaged")));
}

static int
run_verify (struct call_target *target, const struct options *options, G_GNUC_UNUSED const char *argument,
            GError **error)
{
  g_autoptr (json_t) question = make_question ("record.verify", options, FALSE, error);
  if (!question || !set_text (question, "head", options->head, error))
    return -1;
  return tell (target, g_steal_pointer (&question), options, record_view_verify, error);
}

static int
record_list (int argc, char **argv)
{
  static const struct command command = {OPTIONS_FILTER | OPTIONS_OWNER | OPTIONS_LIST | OPTIONS_JSON, 0,
                                         run_list};
  return carry_out (&command, argc, argv);
}

static int
record_show (int argc, char **argv)
{
  static const struct command command = {OPTIONS_OWNER | OPTIONS_JSON, 1, run_show};
  return carry_out (&command, argc, argv);
}

static int
record_stats (int argc, char **argv)
{
  static const struct command command = {OPTIONS_FILTER | OPTIONS_OWNER | OPTIONS_JSON, 0, run_stats};
  return carry_out (&command, argc, argv);
}

static int
record_write (int argc, char **argv)
{
  static const struct command command = {OPTIONS_FILTER | OPTIONS_OWNER | OPTIONS_EXPORT, 0, run_export};
  return carry_out (&command, argc, argv);
}

static int
record_verify (int argc, char **argv)
{
  static const struct command command = {OPTIONS_VERIFY | OPTIONS_JSON, 0, run_verify};
  return carry_out (&command, argc, argv);
}

static const struct cli_command commands[] = {
    {"list", "[--since TIME] [--outcome OUTCOME] [--code TEXT] ...", "list what was run, the newest first",
     record_list},
    {"show", "ID [--json]", "show one record, with its code", record_show},
    {"stats", "[--since TIME] ...", "count records by outcome, tool, profile, owner and day", record_stats},
    {"export", "[--format jsonl|csv] [--out FILE] ...", "write records out, the oldest first", record_write},
    {"verify", "[--head SEQ:DIGEST]", "check the chain of digests: what was changed, what is missing",
     record_verify},
    {NULL, NULL, NULL, NULL},
};

int
cli_record (int argc, char **argv)
{
  return cli_dispatch ("adder record", "What was run, by whom, and how it ended.", commands, argc, argv);
}
