/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a profile's file. */
#include "policy/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/text.h"
#include "policy/profile_groups.h"

/* ---- problems ---- */

static void
free_problem (gpointer data)
{
  struct profile_problem *problem = data;
  g_free (problem->group);
  g_free (problem->key);
  g_free (problem->what);
  g_free (problem);
}

static int
by_line (const void *left, const void *right)
{
  const struct profile_problem *const *one = left, *const *other = right;
  return (*one)->line < (*other)->line ? -1 : (*one)->line > (*other)->line;
}

char *
profile_problem_text (const char *file, const struct profile_problem *problem)
{
  g_autoptr (GString) text = g_string_new (file);
  if (problem->line > 0)
    g_string_append_printf (text, ":%u", problem->line);
  g_string_append (text, ":");
  if (problem->group)
    g_string_append_printf (text, " [%s]", problem->group);
  if (problem->key)
    g_string_append_printf (text, " %s", problem->key);
  if (problem->group)
    g_string_append (text, ":");
  g_string_append_printf (text, " %s", problem->what);
  return text_one_line (text->str, ERROR_SHOWN_BYTES);
}

/* ---- reading ---- */

struct reading {
  struct profile *profile;
  GPtrArray *problems;
  GHashTable *lines; /* "[group]" and "[group] key" -> the line that they stood in first */
  guint line;
  const struct profile_group *group; /* NULL: none yet, or one that is not known */
  gboolean skips;                    /* what follows stands in a group that is not known */
};

static void profile_file_complain (struct reading *reading, guint line, const char *key, const char *format,
                                   ...) G_GNUC_PRINTF (4, 5);

static void
profile_file_complain (struct reading *reading, guint line, const char *key, const char *format, ...)
{
  if (reading->problems->len >= PROFILE_PROBLEMS)
    return;
  va_list args;
  va_start (args, format);
  struct profile_problem *problem = g_new0 (struct profile_problem, 1);
  *problem = (struct profile_problem){
      .line = line,
      .group = reading->group ? g_strdup (reading->group->name) : NULL,
      .key = g_strdup (key),
      .what = g_strdup_vprintf (format, args),
  };
  va_end (args);
  g_ptr_array_add (reading->problems, problem);
}

static guint
line_of (const struct reading *reading, const char *group, const char *key)
{
  g_autofree char *place = key ? g_strdup_printf ("[%s] %s", group, key) : g_strdup_printf ("[%s]", group);
  return GPOINTER_TO_UINT (g_hash_table_lookup (reading->lines, place));
}

/* Notes where GROUP, or KEY of it, stands, unless it stands before; returns where. */
static guint
note_line (struct reading *reading, const char *group, const char *key)
{
  guint before = line_of (reading, group, key);
  if (before == 0)
    g_hash_table_insert (reading->lines,
                         key ? g_strdup_printf ("[%s] %s", group, key) : g_strdup_printf ("[%s]", group),
                         GUINT_TO_POINTER (reading->line));
  return before;
}

static void
begin_group (struct reading *reading, char *line)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  g_autoptr (GString) known = g_string_new (NULL);
  gsize length = strlen (line);
  reading->group = NULL;
  reading->skips = TRUE;
  if (line[length - 1] != ']') {
    profile_file_complain (reading, reading->line, NULL, "the name of the group does not end with \"]\"");
    return;
  }
  line[length - 1] = '\0';
  const char *name = g_strstrip (line + 1);
  reading->group = profile_group_find (name);
  reading->skips = !reading->group;
  if (reading->group) {
    (void)note_line (reading, name, NULL);
    return;
  }
  for (const struct profile_group *group = profile_groups; group->name; group++) {
    text_consider (&guess, name, group->name);
    g_string_append_printf (known, "%s[%s]", known->len > 0 ? ", " : "", group->name);
  }
  if (guess.best)
    profile_file_complain (reading, reading->line, NULL, "there is no group [%s]; did you mean [%s]?", name,
                           guess.best);
  else
    profile_file_complain (reading, reading->line, NULL, "there is no group [%s]; there are %s", name,
                           known->str);
}

static void
profile_file_take_key (struct reading *reading, char *line)
{
  char *equals = strchr (line, '=');
  if (reading->skips)
    return;
  if (!equals || equals == line) {
    profile_file_complain (reading, reading->line, NULL,
                           "the line is neither \"[group]\", \"key = value\" nor a comment");
    return;
  }
  *equals = '\0';
  const char *key = g_strchomp (line), *value = g_strchug (equals + 1);
  if (!reading->group) {
    profile_file_complain (reading, reading->line, NULL, "the key %s stands before any [group]", key);
    return;
  }
  guint before = note_line (reading, reading->group->name, key);
  g_autoptr (GError) problem = NULL;
  if (before > 0)
    profile_file_complain (reading, reading->line, key, "it is set twice; line %u has it as well", before);
  else if (!profile_group_set (reading->group, reading->profile, key, value, &problem))
    profile_file_complain (reading, reading->line, key, "%s", problem->message);
}

static void
profile_file_take_line (struct reading *reading, char *line)
{
  g_strstrip (line);
  for (const char *at = line; *at; at++)
    if (g_ascii_iscntrl (*at) && *at != '\t') {
      profile_file_complain (reading, reading->line, NULL, "the line has a control character");
      return;
    }
  if (line[0] == '[')
    begin_group (reading, line);
  else if (line[0] != '\0' && line[0] != '#')
    profile_file_take_key (reading, line);
}

static gboolean
has_problem (const struct reading *reading, const struct profile_group *group)
{
  for (guint i = 0; i < reading->problems->len; i++) {
    const struct profile_problem *problem = reading->problems->pdata[i];
    if (g_strcmp0 (problem->group, group->name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* A group with a line that was not taken is not looked at as a whole: what is missing may be what that line
 * would have said, and one mistake is told once. */
static void
check_whole (struct reading *reading)
{
  for (const struct profile_group *group = profile_groups; group->name; group++) {
    const char *key = NULL;
    g_autoptr (GError) problem = NULL;
    if (!group->check || has_problem (reading, group) || group->check (reading->profile, &key, &problem))
      continue;
    guint line = key ? line_of (reading, group->name, key) : 0;
    reading->group = group;
    profile_file_complain (reading, line > 0 ? line : line_of (reading, group->name, NULL), key, "%s",
                           problem->message);
  }
}

/* Bytes that are no text, or too many lines of it. */
static gboolean
profile_file_is_fit (struct reading *reading, const char *text, gsize length)
{
  const char *end;
  guint lines = 1;
  gboolean text_only = g_utf8_validate_len (text, length, &end);
  for (const char *at = text; at < end; at++)
    lines += *at == '\n';
  if (!text_only)
    profile_file_complain (reading, lines, NULL, "the line is not UTF-8 text");
  else if (lines > PROFILE_LINES_MAX)
    profile_file_complain (reading, 0, NULL, "it has more than %d lines", PROFILE_LINES_MAX);
  return reading->problems->len == 0;
}

struct profile *
profile_read_text (const char *name, const char *text, gsize length, GPtrArray **ret_problems)
{
  struct reading reading = {
      .profile = g_new0 (struct profile, 1),
      .problems = g_ptr_array_new_with_free_func (free_problem),
      .lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
  };
  reading.profile->name = g_strdup (name);
  profile_groups_init (reading.profile);
  if (profile_file_is_fit (&reading, text, length)) {
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
      reading.line = i + 1;
      profile_file_take_line (&reading, lines[i]);
    }
    check_whole (&reading);
  }
  g_ptr_array_sort (reading.problems, by_line);
  g_hash_table_unref (reading.lines);
  *ret_problems = reading.problems;
  return reading.profile;
}

static gboolean
read_bytes (int fd, const char *file, GByteArray *bytes, GError **error)
{
  guint8 block[16384];
  for (;;) {
    ssize_t got = read (fd, block, sizeof block);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_from_errno (error, errno, "cannot read the profile %s", file);
    if (got == 0)
      return TRUE;
    g_byte_array_append (bytes, block, (guint)got);
    if (bytes->len > PROFILE_FILE_BYTES) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the profile %s is longer than %d KiB", file,
                   PROFILE_FILE_BYTES / 1024);
      return FALSE;
    }
  }
}

struct profile *
profile_read_file (const char *name, const char *file, GPtrArray **ret_problems, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  struct stat info;
  /* A pipe that nobody writes to must not hold up a daemon: it is opened without waiting, and then refused.
   */
  autoclose int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0 || fstat (fd, &info) < 0) {
    error_from_errno (error, errno == ENOTDIR ? ENOENT : errno, "cannot open the profile %s", file);
    return NULL;
  }
  if (!S_ISREG (info.st_mode)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the profile %s is %s, not a file", file,
                 S_ISDIR (info.st_mode) ? "a directory" : "a device or a pipe");
    return NULL;
  }
  if (!read_bytes (fd, file, bytes, error))
    return NULL;
  g_byte_array_append (bytes, (const guint8 *)"", 1);
  struct profile *profile = profile_read_text (name, (const char *)bytes->data, bytes->len - 1, ret_problems);
  profile->file = g_strdup (file);
  return profile;
}
