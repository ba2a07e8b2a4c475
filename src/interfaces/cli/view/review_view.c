/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/review_view.h"

#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/cli_terminal.h"
#include "interfaces/cli/view/text_table.h"

/* The whole diff is in the result; nobody reads what scrolls by. */
#define LINES_SHOWN 60

static const char *
review_view_member (const json_t *object, const char *name)
{
  return json_string_value (json_object_get (object, name));
}

static char *
size_of (const json_t *change, const char *name)
{
  const json_t *value = json_object_get (change, name);
  return json_is_integer (value) ? size_format ((guint64)json_integer_value (value)) : g_strdup ("");
}

struct kind {
  const char *change;
  char sign;
  enum cli_colour colour;
};

static const struct kind kinds[] = {
    {"created", '+', CLI_GREEN},
    {"deleted", '-', CLI_RED},
    {"replaced", '!', CLI_YELLOW},
    {"changed", '~', CLI_YELLOW},
};

static const struct kind *
review_view_kind_of (const json_t *change)
{
  const char *word = review_view_member (change, "change");
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_strcmp0 (kinds[i].change, word) == 0)
      return &kinds[i];
  return &kinds[G_N_ELEMENTS (kinds) - 1];
}

/* Unremarkable modes of new files: neither executable nor world-writable. */
static gboolean
is_usual (const char *type, const char *mode)
{
  static const struct {
    const char *type, *modes;
  } usual[] = {
      {"file", "0600 0640 0644 0660 0664"},
      {"directory", "0700 0750 0755 0770 0775"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (usual); i++)
    if (g_strcmp0 (usual[i].type, type) == 0)
      return strstr (usual[i].modes, mode) != NULL;
  return FALSE;
}

static void
show_modes (FILE *stream, const json_t *change)
{
  const char *before = review_view_member (change, "mode_before"),
             *after = review_view_member (change, "mode");
  const char *type = review_view_member (change, "type");
  if (!after || (before ? strcmp (before, after) == 0 : is_usual (type, after)))
    return;
  gboolean runs = g_strcmp0 (type, "file") == 0 && (g_ascii_strtoull (after, NULL, 8) & 0111) != 0;
  cli_write_part (stream, ", mode %s%s%s%s", before ? before : "", before ? " to " : "", after,
                  runs ? " (executable)" : "");
}

/* "12 B to 14 B", or the one size that exists. */
static void
show_sizes (FILE *stream, const json_t *change)
{
  g_autofree char *before = size_of (change, "bytes_before");
  g_autofree char *after = size_of (change, "bytes");
  if (before[0] && after[0])
    fprintf (stream, ", %s to %s", before, after);
  else if (before[0] || after[0])
    fprintf (stream, ", %s", before[0] ? before : after);
}

static void
show_head (FILE *stream, const json_t *change)
{
  const struct kind *kind = review_view_kind_of (change);
  const char *type = review_view_member (change, "type"), *was = review_view_member (change, "type_before");
  const char *path = review_view_member (change, "path"), *target = review_view_member (change, "target");
  g_autofree char *shown = text_one_line (path ? path : "", -1);
  fprintf (stream, "%s%c %s%s  %s", cli_colour (stream, kind->colour), kind->sign, shown,
           cli_colour (stream, CLI_PLAIN), kind->change);
  if (type && was && strcmp (type, was) != 0)
    cli_write_part (stream, ", %s by %s", was, type);
  else if (g_strcmp0 (type ? type : was, "file") != 0)
    cli_write_part (stream, ", %s", type ? type : was);
  if (target)
    cli_write_part (stream, " to %s", target);
  show_sizes (stream, change);
  show_modes (stream, change);
  if (json_is_true (json_object_get (change, "binary")))
    fprintf (stream, ", binary");
  fputc ('\n', stream);
}

static void
show_diff (FILE *stream, const json_t *change)
{
  const char *diff = review_view_member (change, "diff");
  g_auto (GStrv) lines = g_strsplit (diff ? diff : "", "\n", -1);
  guint count = g_strv_length (lines);
  if (count > 0 && lines[count - 1][0] == '\0')
    count--;
  for (guint i = 0; i < MIN (count, LINES_SHOWN); i++) {
    enum cli_colour colour = lines[i][0] == '+'   ? CLI_GREEN
                             : lines[i][0] == '-' ? CLI_RED
                             : lines[i][0] == '@' ? CLI_DIM
                                                  : CLI_PLAIN;
    g_autofree char *shown = text_one_line (g_strdelimit (lines[i], "\t", ' '), -1);
    fprintf (stream, "    %s%s%s\n", cli_colour (stream, colour), shown, cli_colour (stream, CLI_PLAIN));
  }
  if (count > LINES_SHOWN)
    fprintf (stream, "    ... %u more lines\n", count - LINES_SHOWN);
  else if (json_is_true (json_object_get (change, "truncated")))
    fprintf (stream, "    ... more differs\n");
}

void
review_view_changes (FILE *stream, const json_t *changes)
{
  gsize i;
  json_t *change;
  json_array_foreach (changes, i, change)
  {
    show_head (stream, change);
    show_diff (stream, change);
  }
}

void
review_view_list (const json_t *reviews)
{
  static const char *const heads[] = {"REVIEW", "STATE", "FILES", "MADE (UTC)", "DIRECTORY"};
  static const char *const members[] = {"review_id", "state", NULL, "created", "directory"};
  struct text_table table;
  gsize i;
  json_t *review;
  if (json_array_size (reviews) == 0)
    return;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (reviews, i, review)
  {
    for (gsize k = 0; k < G_N_ELEMENTS (members); k++)
      text_table_add (&table, members[k]
                                  ? text_one_line (json_member_text (review, members[k]), -1)
                                  : g_strdup_printf ("%" JSON_INTEGER_FORMAT,
                                                     json_integer_value (json_object_get (review, "files"))));
  }
  text_table_print (&table);
}

gboolean
review_view_can_ask (void)
{
  return isatty (STDIN_FILENO) && isatty (STDERR_FILENO);
}

gboolean
review_view_ask (gsize count)
{
  char answer[16];
  fprintf (stderr, "Make %s? [y/N] ", count == 1 ? "this change" : "these changes");
  fflush (stderr);
  return review_view_can_ask () && fgets (answer, sizeof answer, stdin) &&
         (g_ascii_strcasecmp (answer, "y\n") == 0 || g_ascii_strcasecmp (answer, "yes\n") == 0);
}
