/* SPDX-License-Identifier: Apache-2.0 */
/* One member into a JSON file. The text is parsed whole first, and edited as text then: jansson would rewrite
 * numbers, escapes, order and layout, which are not ours to change. At the end the new text is parsed and
 * compared with the expected value, so that the scanner below need not be trusted. */
#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/mcp/config_merge.h"

#define CONFIG_FLAGS (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL)

/* ---- positions, in text known to be JSON ---- */

struct span {
  gsize begin, end;
};

static gsize
skip_space (const char *text, gsize at)
{
  return at + strspn (text + at, " \t\r\n");
}

static gsize
config_merge_json_skip_string (const char *text, gsize at)
{
  for (at++; text[at] != '"'; at++)
    if (text[at] == '\\')
      at++;
  return at + 1;
}

static gsize
config_merge_json_skip_value (const char *text, gsize at)
{
  if (text[at] == '"')
    return config_merge_json_skip_string (text, at);
  if (text[at] != '{' && text[at] != '[')
    return at + strspn (text + at, "+-." G_CSET_DIGITS G_CSET_a_2_z G_CSET_A_2_Z);
  guint depth = 0;
  do {
    if (text[at] == '"') {
      at = config_merge_json_skip_string (text, at);
      continue;
    }
    depth += text[at] == '{' || text[at] == '[' ? 1 : 0;
    depth -= text[at] == '}' || text[at] == ']' ? 1 : 0;
    at++;
  } while (depth > 0);
  return at;
}

/* The key at AT, as text. The caller's. */
static char *
config_merge_json_read_key (const char *text, gsize at)
{
  g_autoptr (json_t) key = json_loadb (text + at, config_merge_json_skip_string (text, at) - at,
                                       JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
  return g_strdup (json_string_value (key));
}

struct members {
  struct span found; /* the value searched for; begin 0: not found */
  gsize first;       /* where the first member begins; 0: there is none */
  gsize end;         /* where the last one ends */
};

/* Scans the object or array that begins at AT; NAME NULL: searching for nothing. */
static struct members
config_merge_json_look_at (const char *text, gsize at, const char *name)
{
  struct members members = {.end = at + 1};
  gboolean is_object = text[at] == '{';
  at = skip_space (text, at + 1);
  while (text[at] != '}' && text[at] != ']') {
    if (members.first == 0)
      members.first = at;
    g_autofree char *key = is_object ? config_merge_json_read_key (text, at) : NULL;
    gsize value =
        is_object ? skip_space (text, skip_space (text, config_merge_json_skip_string (text, at)) + 1) : at;
    members.end = config_merge_json_skip_value (text, value);
    if (name && g_strcmp0 (key, name) == 0)
      members.found = (struct span){value, members.end};
    at = skip_space (text, members.end);
    if (text[at] == ',')
      at = skip_space (text, at + 1);
  }
  return members;
}

/* ---- layout ---- */

/* The indentation of the line of AT, if only white space precedes it; else NULL. The caller's. */
static char *
config_merge_json_indent_of (const char *text, gsize at)
{
  gsize line = at;
  while (line > 0 && text[line - 1] != '\n')
    line--;
  gsize space = strspn (text + line, " \t");
  return line > 0 && line + space == at ? g_strndup (text + line, space) : NULL;
}

/* VALUE with a line for each member of an object, indented by INDENT after the first and by UNIT more for
 * each level; lists of texts are on one line. */
static void
dump (GString *out, const json_t *value, const char *indent, const char *unit)
{
  gboolean is_object = json_is_object (value);
  if (!is_object && !(json_is_array (value) && json_is_object (json_array_get (value, 0)))) {
    char *plain = json_dumps (value, JSON_ENCODE_ANY);
    g_string_append (out, plain);
    free (plain);
    return;
  }
  g_autofree char *deeper = g_strconcat (indent, unit, NULL);
  const char *key, *comma = "";
  json_t *each;
  gsize i;
  g_string_append_c (out, is_object ? '{' : '[');
  json_object_foreach ((json_t *)value, key, each)
  {
    g_string_append_printf (out, "%s\n%s\"%s\": ", comma, deeper, key); /* our own keys: nothing to escape */
    dump (out, each, deeper, unit);
    comma = ",";
  }
  json_array_foreach (value, i, each)
  {
    g_string_append_printf (out, "%s\n%s", comma, deeper);
    dump (out, each, deeper, unit);
    comma = ",";
  }
  g_string_append_printf (out, "\n%s%c", indent, is_object ? '}' : ']');
}

static char *
dumped (const json_t *value, const char *indent, const char *unit)
{
  GString *out = g_string_new (NULL);
  dump (out, value, indent, unit);
  return g_string_free (out, FALSE);
}

static char *
on_one_line (const json_t *value)
{
  char *plain = json_dumps (value, JSON_ENCODE_ANY);
  char *own = g_strdup (plain);
  free (plain);
  return own;
}

struct edit {
  const char *text;
  char *unit; /* the file's indentation */
  gboolean one_line;
};

static char *
spliced (const struct edit *edit, struct span where, const char *with)
{
  return g_strdup_printf ("%.*s%s%s", (int)where.begin, edit->text, with, edit->text + where.end);
}

/* The text with VALUE (and NAME, in an object) after the last member of the container that begins at AT and
 * is DEPTH levels deep. */
static char *
appended (const struct edit *edit, gsize at, guint depth, const char *name, const json_t *value)
{
  struct members members = config_merge_json_look_at (edit->text, at, NULL);
  g_autofree char *found = members.first > 0 ? config_merge_json_indent_of (edit->text, members.first) : NULL;
  g_autoptr (GString) indent = g_string_new (found);
  for (guint d = 0; !found && d <= depth; d++)
    g_string_append (indent, edit->unit);
  gboolean broken = found || (members.first == 0 && !edit->one_line);
  g_autoptr (json_t) key = name ? json_string (name) : NULL;
  g_autofree char *shown = broken ? dumped (value, indent->str, edit->unit) : on_one_line (value);
  g_autofree char *label = key ? json_dumps (key, JSON_ENCODE_ANY) : NULL;
  g_autoptr (GString) out = g_string_new (members.first > 0 ? "," : NULL);
  if (broken)
    g_string_append_printf (out, "\n%s", indent->str);
  else if (members.first > 0)
    g_string_append_c (out, ' ');
  g_string_append_printf (out, "%s%s%s", label ? label : "", label ? ": " : "", shown);
  struct span where = {members.end, members.end};
  if (members.first == 0) {
    where = (struct span){at + 1, skip_space (edit->text, at + 1)};
    if (broken)
      g_string_append_printf (out, "\n%.*s", (int)(indent->len - MIN (indent->len, strlen (edit->unit))),
                              indent->str);
  }
  return spliced (edit, where, out->str);
}

static char *
replaced (const struct edit *edit, struct span old, const json_t *value)
{
  gsize line = old.begin;
  while (line > 0 && edit->text[line - 1] != '\n')
    line--;
  g_autofree char *indent = g_strndup (edit->text + line, strspn (edit->text + line, " \t"));
  g_autofree char *shown = edit->one_line ? on_one_line (value) : dumped (value, indent, edit->unit);
  return spliced (edit, old, shown);
}

/* ---- the file ---- */

static json_t *
config_merge_json_read_file (const char *text, GError **error)
{
  json_error_t problem;
  json_t *root = json_loads (text, CONFIG_FLAGS, &problem);
  if (json_is_object (root))
    return root;
  if (root)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, "it holds no JSON object");
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "it is not plain JSON (line %d: %s); comments and trailing commas are not understood here",
                 problem.line, problem.text);
  json_decref (root);
  return NULL;
}

static void
look_at_layout (struct edit *edit)
{
  struct members root = config_merge_json_look_at (edit->text, skip_space (edit->text, 0), NULL);
  edit->unit = root.first > 0 ? config_merge_json_indent_of (edit->text, root.first) : NULL;
  gsize begin = skip_space (edit->text, 0);
  edit->one_line = root.first > 0 && !memchr (edit->text + begin, '\n',
                                              config_merge_json_skip_value (edit->text, begin) - begin);
  if (!edit->unit || edit->unit[0] == '\0') {
    g_free (edit->unit);
    edit->unit = g_strdup ("  ");
  }
}

/* TEXT is taken; NULL stays. */
static char *
checked (char *text, const json_t *expected, GError **error)
{
  g_autoptr (json_t) now = json_loads (text, CONFIG_FLAGS, NULL);
  if (json_equal (now, expected))
    return text;
  g_free (text);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, "it could not be edited without harm");
  return NULL;
}

static gboolean
config_merge_json_is_blank (const char *text)
{
  return !text || text[strspn (text, " \t\r\n")] == '\0';
}

char *
config_merge_json (const char *text, const char *key, const char *name, const json_t *value, GError **error)
{
  struct edit edit = {.text = config_merge_json_is_blank (text) ? "{}\n" : text};
  g_autoptr (json_t) root = config_merge_json_read_file (edit.text, error);
  if (!root)
    return NULL;
  json_t *list = json_object_get (root, key);
  if (list && !json_is_object (list)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "its \"%s\" is no object", key);
    return NULL;
  }
  if (json_equal (json_object_get (list, name), value))
    return g_strdup (edit.text);
  look_at_layout (&edit);
  gsize top = skip_space (edit.text, 0);
  struct members members = config_merge_json_look_at (edit.text, top, key);
  char *made;
  if (!list) {
    g_autoptr (json_t) fresh = json_object ();
    json_object_set (fresh, name, (json_t *)value);
    json_object_set (root, key, fresh);
    made = appended (&edit, top, 0, key, fresh);
  } else {
    struct members inner = config_merge_json_look_at (edit.text, members.found.begin, name);
    made = inner.found.begin > 0 ? replaced (&edit, inner.found, value)
                                 : appended (&edit, members.found.begin, 1, name, value);
    json_object_set (list, name, (json_t *)value);
  }
  g_free (edit.unit);
  return checked (made, root, error);
}

char *
config_merge_json_item (const char *text, const char *key, const char *id, const json_t *item, GError **error)
{
  struct edit edit = {.text = config_merge_json_is_blank (text) ? "{}\n" : text};
  g_autoptr (json_t) root = config_merge_json_read_file (edit.text, error);
  if (!root)
    return NULL;
  json_t *list = json_object_get (root, key), *each;
  if (list && !json_is_array (list)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "its \"%s\" is no list", key);
    return NULL;
  }
  gsize i;
  json_array_foreach (list, i, each) if (strcmp (json_member_text (each, id), json_member_text (item, id)) ==
                                         0) return g_strdup (edit.text);
  look_at_layout (&edit);
  gsize top = skip_space (edit.text, 0);
  char *made;
  if (!list) {
    g_autoptr (json_t) fresh = json_array ();
    json_array_append (fresh, (json_t *)item);
    json_object_set (root, key, fresh);
    made = appended (&edit, top, 0, key, fresh);
  } else {
    made = appended (&edit, config_merge_json_look_at (edit.text, top, key).found.begin, 1, NULL, item);
    json_array_append (list, (json_t *)item);
  }
  g_free (edit.unit);
  return checked (made, root, error);
}
