/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/record_view.h"

#include <string.h>

#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/python_text.h"
#include "interfaces/cli/view/text_table.h"

#define CELL_BYTES  60 /* of a text in a table */
#define GROUP_SHOWN 12 /* lines of each group in statistics; --json has all */
#define LABEL_WIDTH 14
#define WIDE        120 /* columns of a terminal that has room for whole ids */
#define SHORT_ID    18  /* tells those of one moment apart */

static char *
record_view_plain (const json_t *object, const char *name)
{
  return text_one_line (json_member_text (object, name), CELL_BYTES);
}

/* Milliseconds as people read them: "0.8 ms", "1.5 s". */
static char *
ms_text (const json_t *value)
{
  if (!json_is_number (value))
    return g_strdup ("-");
  double ms = json_number_value (value);
  return ms < 100 ? g_strdup_printf ("%.1f ms", ms) : duration_format ((guint64)MIN (ms, 1e15));
}

static enum cli_colour
outcome_colour (const char *outcome)
{
  static const struct {
    const char *outcome;
    enum cli_colour colour;
  } colours[] = {
      {"ok", CLI_GREEN}, {"refused", CLI_YELLOW}, {"approval_required", CLI_YELLOW}, {"cancelled", CLI_DIM}};
  for (gsize i = 0; i < G_N_ELEMENTS (colours); i++)
    if (strcmp (colours[i].outcome, outcome) == 0)
      return colours[i].colour;
  return CLI_RED;
}

/* "2026-11-22 05:09:51" */
static char *
record_view_moment_of (const json_t *object, const char *name)
{
  char *moment = record_view_plain (object, name);
  char *t = strchr (moment, 'T'), *point = strchr (moment, '.');
  if (t)
    *t = ' ';
  if (point)
    *point = '\0';
  return moment;
}

/* ---- list ---- */

/* Its run, or, where that was damaged, its place. */
static void
record_view_add_run (struct text_table *table, const json_t *record)
{
  const json_t *seq = json_object_get (record, "seq");
  if (json_member_text (record, "run_id")[0] != '\0' || !json_is_integer (seq)) {
    text_table_add_id (table, record_view_plain (record, "run_id"));
    return;
  }
  g_autofree char *node = record_view_plain (record, "node");
  text_table_add (table, g_strdup_printf ("row %s:%" JSON_INTEGER_FORMAT, node, json_integer_value (seq)));
}

/* The first line of WHOLE, code, that is no comment; if all are, the first. */
static char *
first_line (const char *whole)
{
  const char *code = whole + strspn (whole, " \t\r\n");
  while (*code == '#') {
    code += strcspn (code, "\r\n");
    code += strspn (code, " \t\r\n");
  }
  if (*code == '\0')
    code = whole + strspn (whole, " \t\r\n");
  g_autofree char *line = g_strndup (code, strcspn (code, "\r\n"));
  return text_one_line (line, -1);
}

static char *
record_view_by (const json_t *run)
{
  return record_view_plain (run, json_member_text (run, "tool")[0] ? "tool" : "front_end");
}

void
record_view_list (const json_t *records, gboolean owners)
{
  static const char *const heads[] = {"OWNER", "STARTED (UTC)", "RUN", "OUTCOME", "TIME", "BY", "CODE"};
  gsize i;
  json_t *record;
  if (json_array_size (records) == 0) {
    cli_say_none ("records", NULL);
    return;
  }
  struct text_table table;
  gsize first = owners ? 0 : 1;
  text_table_init (&table, heads + first, G_N_ELEMENTS (heads) - first);
  json_array_foreach (records, i, record)
  {
    if (owners)
      text_table_add (&table, record_view_plain (record, "owner"));
    text_table_add_coloured (&table, record_view_moment_of (record, "started"), CLI_DIM);
    record_view_add_run (&table, record);
    if (json_is_true (json_object_get (record, "damaged")))
      text_table_add_coloured (&table, g_strdup ("damaged"), CLI_RED);
    else
      text_table_add_coloured (&table, record_view_plain (record, "outcome"),
                               outcome_colour (json_member_text (record, "outcome")));
    text_table_add (&table, ms_text (json_object_get (json_object_get (record, "usage"), "wall_ms")));
    text_table_add (&table, record_view_by (record));
    text_table_add (&table, first_line (json_member_text (record, "code_start")));
  }
  text_table_print (&table);
}

/* ---- events ---- */

void
record_view_event (const json_t *event, gboolean owners)
{
  const json_t *run = json_object_get (event, "object");
  gboolean has_ended = strcmp (json_member_text (event, "change"), "ended") == 0;
  g_autofree char *owner = owners ? record_view_plain (run, "owner") : NULL;
  g_autofree char *moment = record_view_moment_of (event, "time");
  guint width = cli_width (stdout);
  g_autofree char *whole_id = record_view_plain (event, "id");
  g_autofree char *id = g_strndup (whole_id, width > 0 && width < WIDE ? SHORT_ID : strlen (whole_id));
  g_autofree char *outcome = has_ended ? record_view_plain (run, "outcome") : g_strdup ("began");
  g_autofree char *took = ms_text (json_object_get (run, "wall_ms"));
  g_autofree char *by = record_view_by (run);
  g_autofree char *code = first_line (json_member_text (run, "code"));
  g_autofree char *line = g_strdup_printf ("%s%s%s  %s  %-17s  %8s  %-10s  %s", owners ? owner : "",
                                           owners ? "  " : "", moment, id, outcome, took, by, code);
  gsize fits = width > 0 ? cli_text_fit (line, width) : strlen (line);
  const char *colour =
      cli_colour (stdout, has_ended ? outcome_colour (json_member_text (run, "outcome")) : CLI_DIM);
  printf ("%s%.*s%s\n", colour, (int)fits, line, colour[0] ? cli_colour (stdout, CLI_PLAIN) : "");
}

/* ---- one ---- */

static void
record_view_show (const char *label, const char *text)
{
  if (text[0] != '\0')
    cli_print_labelled (LABEL_WIDTH, label, text);
}

static void
show_member (const json_t *record, const char *label, const char *name)
{
  const json_t *value = json_object_get (record, name);
  if (json_is_null (value) || !value)
    return;
  g_autofree char *text =
      json_is_string (value) ? text_one_line (json_string_value (value), -1) : json_to_text (value);
  record_view_show (label, text);
}

static void
show_usage (const json_t *usage)
{
  g_autofree char *wall = ms_text (json_object_get (usage, "wall_ms"));
  g_autofree char *cpu = ms_text (json_object_get (usage, "cpu_ms"));
  g_autofree char *queue = ms_text (json_object_get (usage, "queue_ms"));
  const json_t *bytes = json_object_get (usage, "peak_memory_bytes");
  g_autofree char *peak =
      json_is_integer (bytes) ? size_format ((guint64)json_integer_value (bytes)) : g_strdup ("-");
  g_autofree char *text = g_strdup_printf ("%s, processor %s, waited %s, memory %s", wall, cpu, queue, peak);
  record_view_show ("took", text);
}

void
record_view_one (const json_t *record)
{
  static const struct {
    const char *label, *name;
  } members[] = {
      {"run", "run_id"},
      {"started", "started"},
      {"outcome", "outcome"},
      {"exit code", "exit_code"},
      {"owner", "owner"},
      {"conversation", "conversation"},
      {"front end", "front_end"},
      {"role", "role"},
      {"tool", "tool"},
      {"session", "session_id"},
      {"cell", "cell"},
      {"profile", "profile"},
      {"environment", "environment"},
      {"isolation", "isolation_level"},
      {"approval", "approval"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    show_member (record, members[i].label, members[i].name);
  show_member (record, "damaged", "damaged_columns");
  show_usage (json_object_get (record, "usage"));
  const char *name;
  json_t *value;
  json_object_foreach (json_object_get (record, "more"), name, value)
  {
    g_autofree char *label = text_one_line (name, LABEL_WIDTH);
    show_member (json_object_get (record, "more"), label, name);
  }
  show_member (record, "code sha256", "code_sha256");
  g_autofree char *place = g_strdup_printf (
      "%s:%" JSON_INTEGER_FORMAT ":%s", json_member_text (record, "node"),
      json_integer_value (json_object_get (record, "seq")), json_member_text (record, "digest"));
  record_view_show ("in the chain", place);
  if (json_member_text (record, "code")[0] == '\0')
    return;
  guint width = cli_width (stdout);
  const struct python_text how = {.width = width > 0 ? MAX (width, 40) : 100,
                                  .colour = cli_colour (stdout, CLI_GREEN)[0] != '\0'};
  printf ("\n");
  python_text_write (json_member_text (record, "code"), &how, stdout);
}

/* ---- statistics ---- */

static void
show_group (const char *head, const json_t *groups, json_int_t all)
{
  const char *const heads[] = {head, "RECORDS", "SHARE", "WALL TIME", "PROCESSOR"};
  gsize i;
  json_t *group;
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (groups, i, group)
  {
    json_int_t records = json_integer_value (json_object_get (group, "records"));
    if (i == GROUP_SHOWN)
      break;
    const char *name = json_member_text (group, "name");
    text_table_add (&table, name[0] ? record_view_plain (group, "name") : g_strdup ("-"));
    text_table_add (&table, g_strdup_printf ("%" JSON_INTEGER_FORMAT, records));
    text_table_add (&table, g_strdup_printf ("%.1f %%", 100.0 * (double)records / (double)MAX (all, 1)));
    text_table_add (&table, ms_text (json_object_get (group, "wall_ms")));
    text_table_add (&table, ms_text (json_object_get (group, "cpu_ms")));
  }
  printf ("\n");
  text_table_print (&table);
  if (json_array_size (groups) > GROUP_SHOWN)
    printf ("... and %zu more\n", json_array_size (groups) - GROUP_SHOWN);
}

void
record_view_stats (const json_t *stats)
{
  static const char *const names[] = {"p50", "p90", "p99", "max"};
  json_int_t records = json_integer_value (json_object_get (stats, "records"));
  if (records == 0) {
    cli_say_none ("records", NULL);
    return;
  }
  g_autofree char *first = record_view_moment_of (stats, "first");
  g_autofree char *last = record_view_moment_of (stats, "last");
  printf ("%" JSON_INTEGER_FORMAT " records from %s to %s (UTC)\n", records, first, last);
  printf ("wall time of %" JSON_INTEGER_FORMAT " runs:", json_integer_value (json_object_get (stats, "ran")));
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *text = ms_text (json_object_get (json_object_get (stats, "wall_ms"), names[i]));
    printf ("%s %s %s", i > 0 ? "," : "", names[i], text);
  }
  printf ("\n");
  const char *name;
  json_t *groups;
  json_object_foreach (json_object_get (stats, "by"), name, groups)
  {
    g_autofree char *head = g_ascii_strup (name, -1);
    show_group (g_strdelimit (head, "_", ' '), groups, records);
  }
}

/* ---- verifying ---- */

static void
show_problems (const json_t *node)
{
  gsize i;
  json_t *problem;
  const json_t *problems = json_object_get (node, "problems");
  json_int_t count = json_integer_value (json_object_get (node, "problem_count"));
  json_array_foreach (problems, i, problem)
  {
    g_autofree char *text = text_one_line (json_member_text (problem, "text"), -1);
    g_autofree char *run = text_one_line (json_member_text (problem, "run_id"), -1);
    printf ("  %s%s%s%s%s%s\n", cli_colour (stdout, CLI_RED), text, run[0] ? " (run " : "", run,
            run[0] ? ")" : "", cli_colour (stdout, CLI_PLAIN));
  }
  if (count > (json_int_t)json_array_size (problems))
    printf ("  ... and %" JSON_INTEGER_FORMAT " more\n", count - (json_int_t)json_array_size (problems));
}

static void
show_node (const json_t *node)
{
  json_int_t count = json_integer_value (json_object_get (node, "problem_count"));
  const json_t *anchor = json_object_get (node, "anchor");
  g_autofree char *name = record_view_plain (node, "node");
  g_autofree char *head = text_one_line (json_member_text (node, "head"), -1);
  printf ("%s: %" JSON_INTEGER_FORMAT " records, %s%s%s\n", name,
          json_integer_value (json_object_get (node, "records")),
          cli_colour (stdout, count == 0 ? CLI_GREEN : CLI_RED),
          count == 0 ? "all as they were written" : "not as they were written",
          cli_colour (stdout, CLI_PLAIN));
  show_problems (node);
  if (json_is_object (anchor)) {
    g_autofree char *when = record_view_moment_of (anchor, "last_removed");
    printf ("  %" JSON_INTEGER_FORMAT " older ones were removed as the configuration says, the last at %s\n",
            json_integer_value (json_object_get (anchor, "removed")), when);
  }
  if (strcmp (json_member_text (node, "written_head"), "removed") == 0)
    printf ("  the row that was written down is among them\n");
  if (head[0] != '\0')
    printf ("  head %s:%s\n", name, head);
}

void
record_view_verify (const json_t *answer)
{
  gsize i;
  json_t *node;
  const json_t *nodes = json_object_get (answer, "nodes");
  if (json_array_size (nodes) == 0)
    cli_say_none ("records", NULL);
  json_array_foreach (nodes, i, node) show_node (node);
}
