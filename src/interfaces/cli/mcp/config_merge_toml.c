/* SPDX-License-Identifier: Apache-2.0 */
/* One table into a TOML file. TOML is not parsed completely: the file is walked statement by statement (a
 * table's head, or a key with its value), which only needs to recognize strings, brackets and comments; whole
 * tables are removed and added. */
#include <string.h>

#include "adder.h"
#include "interfaces/cli/mcp/config_merge.h"

struct cursor {
  const char *text;
  gsize at;
};

static gboolean
malformed (const struct cursor *cursor, gsize at, GError **error)
{
  guint line = 1;
  for (gsize i = 0; i < at && cursor->text[i]; i++)
    line += cursor->text[i] == '\n' ? 1 : 0;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "line %u cannot be read as TOML", line);
  return FALSE;
}

static void
skip_blank (struct cursor *cursor)
{
  cursor->at += strspn (cursor->text + cursor->at, " \t");
}

/* A string of any of the four kinds, with the cursor at its first quote. */
static gboolean
config_merge_toml_skip_string (struct cursor *cursor, GError **error)
{
  const char *at = cursor->text + cursor->at;
  char quote = at[0];
  gsize marks = at[1] == quote && at[2] == quote ? 3 : 1;
  for (at += marks; *at != '\0'; at++) {
    if (*at == '\\' && quote == '"' && at[1] != '\0')
      at++;
    else if (marks == 1 && *at == '\n')
      break;
    else if (*at == quote && (marks == 1 || (at[1] == quote && at[2] == quote))) {
      at += marks;
      /* Up to two quotes may precede the closing ones of a long string. */
      for (guint more = 0; marks == 3 && more < 2 && *at == quote; more++)
        at++;
      cursor->at = (gsize)(at - cursor->text);
      return TRUE;
    }
  }
  return malformed (cursor, cursor->at, error);
}

/* The parts of a key: a.b."c d". Escapes stay as they are: such a name is not ours. */
static GStrv
config_merge_toml_read_key (struct cursor *cursor, GError **error)
{
  g_autoptr (GStrvBuilder) parts = g_strv_builder_new ();
  for (;;) {
    skip_blank (cursor);
    gsize begin = cursor->at;
    char first = cursor->text[begin];
    gboolean quoted = first == '"' || first == '\'';
    if (quoted) {
      if (!config_merge_toml_skip_string (cursor, error))
        return NULL;
    } else
      cursor->at += strspn (cursor->text + begin, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-");
    if (cursor->at == begin) {
      malformed (cursor, begin, error);
      return NULL;
    }
    g_autofree char *part =
        g_strndup (cursor->text + begin + (quoted ? 1 : 0), cursor->at - begin - (quoted ? 2 : 0));
    g_strv_builder_add (parts, part);
    skip_blank (cursor);
    if (cursor->text[cursor->at] != '.')
      return g_strv_builder_end (parts);
    cursor->at++;
  }
}

/* To the end of the line in which the value ends. */
static gboolean
config_merge_toml_skip_value (struct cursor *cursor, GError **error)
{
  gsize begin = cursor->at, depth = 0;
  for (;;) {
    char c = cursor->text[cursor->at];
    if (c == '"' || c == '\'') {
      if (!config_merge_toml_skip_string (cursor, error))
        return FALSE;
      continue;
    }
    if (c == '#') {
      cursor->at += strcspn (cursor->text + cursor->at, "\n");
      continue;
    }
    if (c == '\0' && depth > 0)
      return malformed (cursor, begin, error);
    if (c == '\0')
      return TRUE;
    cursor->at++;
    if (c == '\n' && depth == 0)
      return TRUE;
    if (c == '[' || c == '{')
      depth++;
    else if ((c == ']' || c == '}') && depth-- == 0)
      return malformed (cursor, begin, error);
  }
}

struct statement {
  gsize begin, end;
  gboolean is_table, is_list; /* [a.b] or [[a.b]] */
  GStrv key;
};

/* The next statement; ret->key NULL: there is none. */
static gboolean
next_statement (struct cursor *cursor, struct statement *ret, GError **error)
{
  *ret = (struct statement){0};
  const char *text = cursor->text;
  for (;;) {
    ret->begin = cursor->at;
    cursor->at += strspn (text + cursor->at, " \t\r");
    if (text[cursor->at] == '\0')
      return TRUE;
    if (text[cursor->at] != '\n' && text[cursor->at] != '#')
      break;
    cursor->at += strcspn (text + cursor->at, "\n");
    cursor->at += text[cursor->at] == '\n' ? 1 : 0;
  }
  gsize marks = text[cursor->at] != '[' ? 0 : text[cursor->at + 1] == '[' ? 2 : 1;
  ret->is_table = marks > 0;
  ret->is_list = marks == 2;
  cursor->at += marks;
  g_auto (GStrv) key = config_merge_toml_read_key (cursor, error);
  if (!key)
    return FALSE;
  if (strncmp (text + cursor->at, ret->is_list ? "]]" : ret->is_table ? "]" : "=", MAX (marks, 1)) != 0)
    return malformed (cursor, ret->begin, error);
  cursor->at += MAX (marks, 1);
  if (!config_merge_toml_skip_value (cursor, error))
    return FALSE;
  ret->end = cursor->at;
  ret->key = g_steal_pointer (&key);
  return TRUE;
}

static gboolean
begins_with (GStrv key, const char *first, const char *second)
{
  return key && key[0] && strcmp (key[0], first) == 0 &&
         (!second || (key[1] && strcmp (key[1], second) == 0));
}

/* ---- writing ---- */

static void
config_merge_toml_write_text (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      g_string_append_printf (out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      g_string_append_printf (out, "\\u%04x", c);
    else
      g_string_append_c (out, (char)c);
  }
  g_string_append_c (out, '"');
}

static void
config_merge_toml_write_table (GString *out, const char *key, const char *name, const json_t *value)
{
  const char *member;
  json_t *each, *item;
  gsize i;
  g_string_append_printf (out, "[%s.%s]\n", key, name);
  json_object_foreach ((json_t *)value, member, each)
  {
    if (json_is_object (each))
      continue;
    g_string_append_printf (out, "%s = %s", member, json_is_array (each) ? "[" : "");
    json_array_foreach (each, i, item)
    {
      g_string_append (out, i > 0 ? ", " : "");
      config_merge_toml_write_text (out, json_string_value (item));
    }
    if (json_is_string (each))
      config_merge_toml_write_text (out, json_string_value (each));
    g_string_append (out, json_is_array (each) ? "]\n" : "\n");
  }
  json_object_foreach ((json_t *)value, member, each) if (json_is_object (each))
  {
    g_autofree char *below = g_strdup_printf ("%s.%s", name, member);
    g_string_append_c (out, '\n');
    config_merge_toml_write_table (out, key, below, each);
  }
}

/* ---- the file ---- */

struct piece {
  gsize begin, end;
};

/* Finds the tables [KEY.NAME] and [KEY.NAME.*]. The same in another form (a dotted key, an inline table, a
 * list) is an error: the owner must change such a file. */
static gboolean
find_tables (const char *text, const char *key, const char *name, GArray *ret_ours, GError **error)
{
  struct cursor cursor = {.text = text};
  g_auto (GStrv) table = NULL;
  for (;;) {
    struct statement statement;
    if (!next_statement (&cursor, &statement, error))
      return FALSE;
    g_auto (GStrv) found = statement.key;
    if (!found)
      return TRUE;
    gboolean ours = begins_with (statement.is_table ? found : table, key, name);
    gboolean in_root = !statement.is_table && !table && begins_with (found, key, NULL);
    gboolean in_key = !statement.is_table && table && !table[1] && begins_with (table, key, NULL) &&
                      strcmp (found[0], name) == 0;
    if (in_root || in_key || (statement.is_list && begins_with (found, key, NULL) && (!found[1] || ours))) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "it says %s in a way that cannot be changed from here: make it a table [%s.%s]", key, key,
                   name);
      return FALSE;
    }
    if (ours) {
      struct piece piece = {statement.begin, statement.end};
      g_array_append_val (ret_ours, piece);
    }
    if (statement.is_table) {
      g_strfreev (table);
      table = g_steal_pointer (&found);
    }
  }
}

char *
config_merge_toml (const char *text, const char *key, const char *name, const json_t *value, GError **error)
{
  text = text ? text : "";
  g_autoptr (GArray) ours = g_array_new (FALSE, FALSE, sizeof (struct piece));
  if (!g_utf8_validate (text, -1, NULL)) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, "it is no UTF-8");
    return NULL;
  }
  if (!find_tables (text, key, name, ours, error))
    return NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  gsize at = 0;
  for (guint i = 0; i < ours->len; i++) {
    const struct piece *piece = &g_array_index (ours, struct piece, i);
    /* Comments inside our old table stay; blank lines around it go. */
    if (i == 0 || at + strspn (text + at, " \t\r\n") < piece->begin)
      g_string_append_len (out, text + at, (gssize)(piece->begin - at));
    if (i == 0)
      config_merge_toml_write_table (out, key, name, value);
    at = piece->end;
  }
  g_string_append (out, text + at);
  if (ours->len == 0) {
    if (out->len > 0 && out->str[out->len - 1] != '\n')
      g_string_append_c (out, '\n');
    if (out->len > 0)
      g_string_append_c (out, '\n');
    config_merge_toml_write_table (out, key, name, value);
  }
  return g_string_free (g_steal_pointer (&out), FALSE);
}
