/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/file_view.h"

#include <string.h>

#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/text_table.h"

#define CELL_BYTES  80 /* of a text in a table */
#define LABEL_WIDTH 14

static char *
file_view_plain (const json_t *object, const char *name)
{
  return text_one_line (json_member_text (object, name), CELL_BYTES);
}

static guint64
file_view_number_of (const json_t *object, const char *name)
{
  return (guint64)MAX (json_integer_value (json_object_get (object, name)), 0);
}

/* "2026-11-22 05:09" */
static char *
file_view_moment_of (const json_t *object, const char *name)
{
  char *moment = file_view_plain (object, name);
  if (strlen (moment) > strlen ("2026-11-22T05:09"))
    moment[strlen ("2026-11-22T05:09")] = '\0';
  return g_strdelimit (moment, "T", ' ');
}

/* ---- files ---- */

void
file_view_list (const json_t *files, gboolean owners)
{
  static const char *const heads[] = {"FILE", "NAME", "SIZE", "MADE (UTC)", "KIND", "EXPIRES", "OWNER"};
  gsize i;
  json_t *file;
  if (json_array_size (files) == 0) {
    cli_say_none ("files", "adder file put FILE");
    return;
  }
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads) - (owners ? 0 : 1));
  json_array_foreach (files, i, file)
  {
    text_table_add (&table, file_view_plain (file, "file_id"));
    text_table_add (&table, file_view_plain (file, "name"));
    text_table_add (&table, size_format (file_view_number_of (file, "bytes")));
    text_table_add_coloured (&table, file_view_moment_of (file, "created"), CLI_DIM);
    text_table_add_coloured (&table, file_view_plain (file, "kind"), CLI_DIM);
    text_table_add_coloured (&table, file_view_moment_of (file, "expires"), CLI_DIM);
    if (owners)
      text_table_add (&table, file_view_plain (file, "owner"));
  }
  text_table_print (&table);
}

static void
file_view_show (const char *label, const char *text)
{
  if (text[0] != '\0')
    cli_print_labelled (LABEL_WIDTH, label, text);
}

void
file_view_one (const json_t *file)
{
  static const struct {
    const char *label, *name;
  } rows[] = {
      {"file", "file_id"}, {"name", "name"},       {"kind", "kind"},     {"type", "mime"},
      {"made", "created"}, {"expires", "expires"}, {"sha256", "sha256"}, {"owner", "owner"},
      {"run", "run_id"},   {"session", "session"}, {"url", "url"},       {"conversation", "conversation"},
  };
  g_autofree char *size = size_format (file_view_number_of (file, "bytes"));
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = text_one_line (json_member_text (file, rows[i].name), -1);
    file_view_show (rows[i].label, text);
    if (strcmp (rows[i].name, "kind") == 0)
      file_view_show ("size", size);
  }
}

/* ---- the store ---- */

static void
show_place (const char *label, const json_t *place)
{
  gboolean reachable = json_is_true (json_object_get (place, "reachable"));
  const char *problem = json_member_text (place, "problem");
  g_autofree char *where = text_one_line (json_member_text (place, "where"), -1);
  file_view_show (label, where);
  g_autofree char *said = text_one_line (problem, -1);
  if (problem[0])
    printf ("%*s %s%s%s\n", LABEL_WIDTH, "", cli_colour (stdout, CLI_RED), said,
            cli_colour (stdout, CLI_PLAIN));
  else if (!reachable)
    printf ("%*s %snothing is kept%s\n", LABEL_WIDTH, "", cli_colour (stdout, CLI_YELLOW),
            cli_colour (stdout, CLI_PLAIN));
}

void
file_view_store (const json_t *store)
{
  const json_t *limits = json_object_get (store, "limits");
  show_place ("records in", json_object_get (store, "records_at"));
  show_place ("files in", json_object_get (store, "files_at"));
  g_autofree char *node = file_view_plain (store, "node");
  file_view_show ("node", node);
  if (!json_is_true (json_object_get (json_object_get (store, "records_at"), "reachable")))
    return; /* nobody could count them */
  g_autofree char *records =
      g_strdup_printf ("%" G_GUINT64_FORMAT " (at most %" G_GUINT64_FORMAT ")",
                       file_view_number_of (store, "records"), file_view_number_of (limits, "max_records"));
  file_view_show ("records", records);
  g_autofree char *bytes = size_format (file_view_number_of (store, "bytes"));
  g_autofree char *most = size_format (file_view_number_of (limits, "max_bytes_per_owner"));
  guint64 owners = file_view_number_of (store, "owners");
  g_autofree char *files =
      g_strdup_printf ("%" G_GUINT64_FORMAT " with %s, of %" G_GUINT64_FORMAT
                       " owner%s (each at most %" G_GUINT64_FORMAT " with %s)",
                       file_view_number_of (store, "files"), bytes, owners, owners == 1 ? "" : "s",
                       file_view_number_of (limits, "max_files_per_owner"), most);
  file_view_show ("files", files);
}

/* COUNT things, with WHAT became of them, where there are any. */
static void
say_count (const json_t *found, const char *name, enum cli_colour colour, const char *one, const char *many)
{
  guint64 count = file_view_number_of (found, name);
  if (count > 0)
    printf ("%s%" G_GUINT64_FORMAT " %s%s\n", cli_colour (stdout, colour), count, count == 1 ? one : many,
            cli_colour (stdout, CLI_PLAIN));
}

void
file_view_check (const json_t *found)
{
  gsize i;
  json_t *one;
  g_autofree char *bytes = size_format (file_view_number_of (found, "bytes"));
  guint64 files = file_view_number_of (found, "files");
  printf ("%" G_GUINT64_FORMAT " %s with %s %s looked at%s\n", files, files == 1 ? "file" : "files", bytes,
          files == 1 ? "was" : "were", json_is_true (json_object_get (found, "deep")) ? ", and read" : "");
  json_array_foreach (json_object_get (found, "problems"), i, one)
  {
    g_autofree char *problem = text_one_line (json_string_value (one), -1);
    printf ("%s%s%s\n", cli_colour (stdout, CLI_RED), problem, cli_colour (stdout, CLI_PLAIN));
  }
  say_count (found, "unknown_removed", CLI_YELLOW, "unknown file was removed", "unknown files were removed");
  say_count (found, "swept", CLI_YELLOW, "content that no file had was removed",
             "contents that no file had were removed");
  say_count (found, "foreign", CLI_DIM, "unrelated file was left alone",
             "files that are none of ours were left alone");
  say_count (
      found, "unknown_left", CLI_RED,
      "file that the database does not know was left: is it the right database? --force removes it",
      "files that the database does not know were left: is it the right database? --force removes them");
  say_count (found, "lost_count", CLI_RED, "file is lost:", "files are lost:");
  json_array_foreach (json_object_get (found, "lost"), i, one)
  {
    g_autofree char *id = file_view_plain (one, "file_id"), *name = file_view_plain (one, "name"),
                    *why = file_view_plain (one, "why");
    printf ("  %s  %s  %s\n", id, name, why);
  }
  say_count (found, "forgotten", CLI_YELLOW, "of them was forgotten", "of them were forgotten");
  if (json_is_true (json_object_get (found, "healthy")))
    printf ("%swhole%s\n", cli_colour (stdout, CLI_GREEN), cli_colour (stdout, CLI_PLAIN));
  else if (file_view_number_of (found, "lost_count") > file_view_number_of (found, "forgotten"))
    printf ("--force forgets those that are lost\n");
}
