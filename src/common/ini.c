/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of "[group]" and "key = value". */
#include "common/ini.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/text.h"

#define INI_TOLD 5 /* problems that a sentence about the file has */

/* ---- problems ---- */

static void
ini_problem_free (gpointer data)
{
  struct ini_problem *problem = data;
  g_free (problem->group);
  g_free (problem->key);
  g_free (problem->what);
  g_free (problem);
}

void
ini_complain (struct ini *ini, guint line, const char *group, const char *key, const char *format, ...)
{
  if (ini->problems->len >= INI_PROBLEMS_MAX)
    return;
  va_list args;
  va_start (args, format);
  struct ini_problem *problem = g_new0 (struct ini_problem, 1);
  *problem = (struct ini_problem){.line = line,
                                  .group = g_strdup (group),
                                  .key = g_strdup (key),
                                  .what = g_strdup_vprintf (format, args)};
  va_end (args);
  g_ptr_array_add (ini->problems, problem);
}

static void
ini_append_problem (GString *text, const struct ini_problem *problem)
{
  if (problem->group)
    g_string_append_printf (text, " [%s]", problem->group);
  if (problem->key)
    g_string_append_printf (text, " %s", problem->key);
  if (problem->group)
    g_string_append (text, ":");
  g_string_append_printf (text, " %s", problem->what);
}

char *
ini_problem_text (const char *file, const struct ini_problem *problem)
{
  g_autoptr (GString) text = g_string_new (file);
  if (problem->line > 0)
    g_string_append_printf (text, ":%u", problem->line);
  g_string_append (text, ":");
  ini_append_problem (text, problem);
  return text_one_line (text->str, ERROR_SHOWN_BYTES);
}

static int
ini_by_line (const void *left, const void *right)
{
  const struct ini_problem *const *one = left, *const *other = right;
  return (*one)->line < (*other)->line ? -1 : (*one)->line > (*other)->line;
}

void
ini_sort_problems (struct ini *ini)
{
  g_ptr_array_sort (ini->problems, ini_by_line);
}

void
ini_fail (const GPtrArray *problems, const char *file, GError **error)
{
  g_autofree char *first = ini_problem_text (file, problems->pdata[0]);
  g_autoptr (GString) text = g_string_new (first);
  for (guint i = 1; i < problems->len && i < INI_TOLD; i++) {
    const struct ini_problem *problem = problems->pdata[i];
    g_string_append_printf (text, "; line %u:", problem->line);
    ini_append_problem (text, problem);
  }
  if (problems->len > INI_TOLD)
    g_string_append_printf (text, "; and %u more", problems->len - INI_TOLD);
  g_autofree char *shown = text_one_line (text->str, ERROR_SHOWN_BYTES * 2);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, shown);
}

/* ---- lines ---- */

/* What is read. */
struct ini_reader {
  struct ini *ini;
  GHashTable *keys;  /* "group]key" -> the number of its line */
  const char *group; /* NULL: none yet, or one whose line was no beginning */
  gboolean skips;    /* what follows stands in such a group */
  guint number;
};

static void
ini_add (struct ini_reader *reader, const char *key, const char *value)
{
  struct ini_line *line = g_new0 (struct ini_line, 1);
  *line = (struct ini_line){.number = reader->number, .group = reader->group, .key = key, .value = value};
  g_ptr_array_add (reader->ini->lines, line);
}

static void
ini_take_group (struct ini_reader *reader, char *line)
{
  gsize length = strlen (line);
  reader->skips = line[length - 1] != ']';
  reader->group = NULL;
  if (reader->skips) {
    ini_complain (reader->ini, reader->number, NULL, NULL, "the name of the group does not end with \"]\"");
    return;
  }
  line[length - 1] = '\0';
  reader->group = g_strstrip (line + 1);
  ini_add (reader, NULL, NULL);
}

static void
ini_take_key (struct ini_reader *reader, char *line)
{
  char *equals = strchr (line, '=');
  if (reader->skips)
    return;
  if (!equals || equals == line) {
    ini_complain (reader->ini, reader->number, reader->group, NULL,
                  "the line is neither \"[group]\", \"key = value\" nor a comment");
    return;
  }
  *equals = '\0';
  const char *key = g_strchomp (line), *value = g_strchug (equals + 1);
  if (!reader->group) {
    ini_complain (reader->ini, reader->number, NULL, NULL, "the key %s is before the first [group]", key);
    return;
  }
  g_autofree char *place = g_strconcat (reader->group, "]", key, NULL);
  guint before = GPOINTER_TO_UINT (g_hash_table_lookup (reader->keys, place));
  if (before > 0) {
    ini_complain (reader->ini, reader->number, reader->group, key, "it is set twice; line %u has it as well",
                  before);
    return;
  }
  g_hash_table_insert (reader->keys, g_steal_pointer (&place), GUINT_TO_POINTER (reader->number));
  ini_add (reader, key, value);
}

static void
ini_take_line (struct ini_reader *reader, char *line)
{
  g_strstrip (line);
  for (const char *at = line; *at; at++)
    if (g_ascii_iscntrl (*at) && *at != '\t') {
      ini_complain (reader->ini, reader->number, reader->group, NULL, "the line has a control character");
      return;
    }
  if (line[0] == '[')
    ini_take_group (reader, line);
  else if (line[0] != '\0' && line[0] != '#')
    ini_take_key (reader, line);
}

/* Bytes that are no text, or too many lines of it. */
static gboolean
ini_is_fit (struct ini *ini, const char *text, gsize length)
{
  const char *end;
  guint lines = 1;
  gboolean text_only = g_utf8_validate_len (text, length, &end);
  for (const char *at = text; at < end; at++)
    lines += *at == '\n';
  if (!text_only)
    ini_complain (ini, lines, NULL, NULL, "the line %s",
                  *end == '\0' ? "has a zero byte: save the file as UTF-8" : "is not UTF-8 text");
  else if (lines > INI_LINES_MAX)
    ini_complain (ini, 0, NULL, NULL, "it has more than %d lines", INI_LINES_MAX);
  else if (g_str_has_prefix (text, "\xef\xbb\xbf"))
    ini_complain (ini, 1, NULL, NULL, "the file begins with a byte order mark: save it as UTF-8 without one");
  return ini->problems->len == 0;
}

struct ini *
ini_read_text (const char *text, gsize length)
{
  struct ini *ini = g_new0 (struct ini, 1);
  ini->lines = g_ptr_array_new_with_free_func (g_free);
  ini->problems = g_ptr_array_new_with_free_func (ini_problem_free);
  if (!ini_is_fit (ini, text, length))
    return ini;
  struct ini_reader reader = {.ini = ini,
                              .keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL)};
  ini->text = g_strsplit (text, "\n", -1);
  for (gsize i = 0; ini->text[i]; i++) {
    reader.number = (guint)i + 1;
    ini_take_line (&reader, ini->text[i]);
  }
  g_hash_table_unref (reader.keys);
  return ini;
}

static gboolean
ini_read_bytes (int fd, const char *what, const char *file, GByteArray *bytes, GError **error)
{
  guint8 block[16384];
  for (;;) {
    ssize_t got = read (fd, block, sizeof block);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_from_errno (error, errno, "cannot read %s %s", what, file);
    if (got == 0)
      return TRUE;
    g_byte_array_append (bytes, block, (guint)got);
    if (bytes->len > INI_FILE_BYTES) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s %s is longer than %d KiB", what, file,
                   INI_FILE_BYTES / 1024);
      return FALSE;
    }
  }
}

struct ini *
ini_read_file (const char *what, const char *file, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  struct stat info;
  /* A pipe without a writer must not block a daemon: it is opened without waiting, and then refused. */
  autoclose int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0 || fstat (fd, &info) < 0) {
    error_from_errno (error, errno == ENOTDIR ? ENOENT : errno, "cannot open %s %s", what, file);
    return NULL;
  }
  if (!S_ISREG (info.st_mode)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s %s is %s, not a file", what, file,
                 S_ISDIR (info.st_mode) ? "a directory" : "a device or a pipe");
    return NULL;
  }
  if (!ini_read_bytes (fd, what, file, bytes, error))
    return NULL;
  g_byte_array_append (bytes, (const guint8 *)"", 1);
  return ini_read_text ((const char *)bytes->data, bytes->len - 1);
}

guint
ini_line_of (const struct ini *ini, const char *group, const char *key)
{
  for (guint i = 0; i < ini->lines->len; i++) {
    const struct ini_line *line = ini->lines->pdata[i];
    if (strcmp (line->group, group) == 0 && g_strcmp0 (line->key, key) == 0)
      return line->number;
  }
  return 0;
}

void
ini_free (struct ini *ini)
{
  if (!ini)
    return;
  g_ptr_array_unref (ini->lines);
  g_ptr_array_unref (ini->problems);
  g_strfreev (ini->text);
  g_free (ini);
}
