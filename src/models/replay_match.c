/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides are made lists of items, one for each text, result and picture, in which what changes by itself
 * is replaced by a word; the first item that is different is what is told. */
#include "models/replay_match.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"

/* Of a text in a sentence, with so much before the place where it is different. */
#define SHOWN_CHARACTERS  60
#define BEFORE_CHARACTERS 20

/* ---- what changes by itself ---- */

#define URL_CHARACTER "[^\\s\"'<>()\\[\\]]"

/* Each run of a pattern is bounded, since tools' results are anybody's text. */
static const struct rule {
  gboolean of_results; /* only there: a person means the times and durations that they write */
  const char *pattern, *word;
} rules[] = {
    {FALSE, "(?:https?://" URL_CHARACTER "{1,300})?/v1/files/" URL_CHARACTER "{1,1000}", "<file>"},
    {FALSE, "\\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\b", "<id>"},
    {FALSE, "(?:\\b127\\.0\\.0\\.1|\\blocalhost|\\[::1\\]):\\d{1,5}\\b", "<here>"},
    {TRUE, "\\b\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?Z\\b", "<time>"},
    {TRUE, "\\b\\d{1,12}(?:\\.\\d{1,9})? ?(?:ms|s|min)\\b", "<duration>"},
    {TRUE, "\\b0x[0-9a-f]{6,16}\\b", "<address>"},
};

char *
replay_settle (const char *text, gboolean of_result)
{
  char *settled = g_utf8_make_valid (text, -1);
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++) {
    if (rules[i].of_results && !of_result)
      continue;
    g_autoptr (GError) problem = NULL;
    g_autoptr (GRegex) regex = g_regex_new (rules[i].pattern, 0, 0, &problem);
    if (!regex)
      g_error ("a pattern of replays is wrong: %s", problem->message);
    char *next = g_regex_replace_literal (regex, settled, -1, 0, rules[i].word, 0, NULL);
    if (next) { /* NULL: it gave up on the text, which then stays as it is */
      g_free (settled);
      settled = next;
    }
  }
  return settled;
}

/* Members of results: ids, measurements, and what depends on the host. */
static const char *const volatile_members[] = {
    "run_id", "session_id", "file_id",   "result_id", "approval_id", "conversation", "url",
    "usage",  "limits",     "isolation", "created",   "expires",     "modified",     NULL,
};

static gboolean
is_volatile (const char *member)
{
  return g_strv_contains (volatile_members, member) || g_str_has_suffix (member, "_ms") ||
         g_str_has_suffix (member, "_at");
}

/* A copy of VALUE as it is compared. The depth is bounded by jansson's parser. */
static json_t *
settle_json (const json_t *value)
{
  if (json_is_string (value)) {
    g_autofree char *text = replay_settle (json_string_value (value), TRUE);
    return json_string (text);
  }
  if (json_is_array (value)) {
    json_t *array = json_array ();
    gsize index;
    json_t *item;
    json_array_foreach (value, index, item) json_array_append_new (array, settle_json (item));
    return array;
  }
  if (!json_is_object (value))
    return json_deep_copy (value);
  json_t *object = json_object ();
  const char *key;
  json_t *member;
  json_object_foreach ((json_t *)(guintptr)value, key, member) if (!is_volatile (key))
      json_object_set_new (object, key, settle_json (member));
  return object;
}

/* A result is often JSON, and then its members are what is compared. */
static char *
settle_result (const char *text)
{
  g_autoptr (json_t) value = json_loads (text, 0, NULL);
  if (!value)
    return replay_settle (text, TRUE);
  g_autoptr (json_t) settled = settle_json (value);
  return json_dumps (settled, JSON_COMPACT | JSON_SORT_KEYS);
}

/* ---- items ---- */

struct item {
  char *what; /* "the text of new message 1 (user)" */
  char *text;
};

static void
replay_match_item_free (gpointer data)
{
  struct item *item = data;
  g_free (item->what);
  g_free (item->text);
  g_free (item);
}

/* Takes both. */
static void
add_item (GPtrArray *items, char *what, char *text)
{
  struct item *item = g_new0 (struct item, 1);
  *item = (struct item){what, text};
  g_ptr_array_add (items, item);
}

static void
add_result (GPtrArray *items, const json_t *result)
{
  const char *name = json_member_text (result, "name");
  const json_t *content = json_object_get (result, "content");
  g_autoptr (json_t) message = json_pack ("{s:O?}", "content", content);
  g_autofree char *text = message_all_text (message);
  gboolean failed = json_is_true (json_object_get (result, "is_error"));
  add_item (items, g_strdup_printf ("the %s of %s", failed ? "error" : "result", name), settle_result (text));
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part) if (strcmp (json_member_text (part, "type"), "image") == 0)
      add_item (items, g_strdup_printf ("a picture in the result of %s", name),
                g_strdup (json_member_text (part, "mime")));
}

static void
replay_match_add_part (GPtrArray *items, gsize number, const char *role, const json_t *part)
{
  const char *type = json_member_text (part, "type");
  if (strcmp (type, "text") == 0)
    add_item (items, g_strdup_printf ("the text of new message %" G_GSIZE_FORMAT " (%s)", number, role),
              replay_settle (json_member_text (part, "text"), FALSE));
  else if (strcmp (type, "image") == 0)
    add_item (items, g_strdup_printf ("a picture in new message %" G_GSIZE_FORMAT, number),
              g_strdup (json_member_text (part, "mime")));
  else if (strcmp (type, "result") == 0)
    add_result (items, part);
}

/* Of MESSAGES. The caller's. */
static GPtrArray *
items_of (const json_t *messages)
{
  GPtrArray *items = g_ptr_array_new_with_free_func (replay_match_item_free);
  gsize index, inner;
  json_t *message, *part;
  json_array_foreach (messages, index, message)
      json_array_foreach (json_object_get (message, "content"), inner, part)
          replay_match_add_part (items, index + 1, json_member_text (message, "role"), part);
  return items;
}

/* ---- what is asked ---- */

/* MESSAGE without the data of pictures, also those in results. */
static json_t *
without_pixels (const json_t *message)
{
  json_t *copy = json_deep_copy (message);
  gsize index, inner;
  json_t *part, *piece;
  json_array_foreach (json_object_get (copy, "content"), index, part)
  {
    json_object_del (part, strcmp (json_member_text (part, "type"), "image") == 0 ? "data" : "");
    json_array_foreach (json_object_get (part, "content"), inner, piece) json_object_del (piece, "data");
  }
  return copy;
}

/* Those since the model's last answer. */
static json_t *
new_messages (const json_t *messages)
{
  gsize first = json_array_size (messages);
  while (first > 0 &&
         strcmp (json_member_text (json_array_get (messages, first - 1), "role"), "assistant") != 0)
    first--;
  json_t *new = json_array ();
  for (gsize i = first; i < json_array_size (messages); i++)
    json_array_append_new (new, without_pixels (json_array_get (messages, i)));
  return new;
}

static json_t *
tool_names (const json_t *tools)
{
  json_t *names = json_array ();
  gsize index;
  json_t *tool;
  json_array_foreach (tools, index, tool) json_array_append (names, json_object_get (tool, "name"));
  return names;
}

json_t *
replay_ask (const struct model_question *question)
{
  return json_pack ("{s:o, s:o, s:o}", "new", new_messages (question->messages), "tools",
                    tool_names (question->tools), "tool", json_text_or_null (question->tool));
}

/* ---- differences ---- */

static char *
excerpt (const char *text, glong from)
{
  glong length = g_utf8_strlen (text, -1), begin = MAX (0, MIN (from, length) - BEFORE_CHARACTERS);
  glong end = MIN (length, begin + SHOWN_CHARACTERS);
  g_autofree char *part = g_utf8_substring (text, begin, end);
  g_autofree char *line = text_one_line (part, -1);
  return g_strdup_printf ("\"%s%s%s\"", begin > 0 ? "…" : "", line, end < length ? "…" : "");
}

static char *
text_difference (const char *what, const char *now, const char *then)
{
  if (strcmp (now, then) == 0)
    return NULL;
  glong from = 0;
  const char *left = now, *right = then;
  for (; *left && g_utf8_get_char (left) == g_utf8_get_char (right);
       left = g_utf8_next_char (left), right = g_utf8_next_char (right))
    from++;
  g_autofree char *shown_now = excerpt (now, from);
  g_autofree char *shown_then = excerpt (then, from);
  return g_strdup_printf ("%s is %s, and was %s", what, shown_now, shown_then);
}

static char *
item_difference (const struct item *now, const struct item *then)
{
  if (strcmp (now->what, then->what) != 0)
    return g_strdup_printf ("there is %s where there was %s", now->what, then->what);
  return text_difference (now->what, now->text, then->text);
}

static char *
new_difference (const json_t *then, const json_t *now)
{
  g_autoptr (GPtrArray) before = items_of (then);
  g_autoptr (GPtrArray) items = items_of (now);
  guint both = MIN (before->len, items->len);
  for (guint i = 0; i < both; i++) {
    char *found = item_difference (items->pdata[i], before->pdata[i]);
    if (found)
      return found;
  }
  if (before->len == items->len)
    return NULL;
  const struct item *odd = (before->len > both ? before : items)->pdata[both];
  return g_strdup_printf ("%s is %s", odd->what, before->len > both ? "missing" : "new");
}

/* Every text is looked for as it is. */
static char *
contains_difference (const json_t *texts, const json_t *now)
{
  g_autoptr (GString) all = g_string_new (NULL);
  gsize index, inner;
  json_t *message, *part, *text;
  json_array_foreach (now, index, message)
      json_array_foreach (json_object_get (message, "content"), inner, part)
  {
    g_autofree char *result = message_all_text (part);
    g_string_append_printf (all, "%s%s\n", json_member_text (part, "text"), result);
  }
  json_array_foreach (texts, index, text) if (!strstr (all->str, json_string_value (text)))
  {
    g_autofree char *looked_for = excerpt (json_string_value (text), 0);
    g_autofree char *valid = g_utf8_make_valid (g_strstrip (all->str), -1);
    g_autofree char *there = excerpt (valid, 0);
    return g_strdup_printf ("%s does not occur in %s", looked_for, there);
  }
  return NULL;
}

static gint
replay_match_by_text (gconstpointer left, gconstpointer right)
{
  return strcmp (*(char *const *)left, *(char *const *)right);
}

/* "a, b": in any order. */
static char *
sorted_names (const json_t *names)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  gsize index;
  json_t *name;
  json_array_foreach (names, index, name)
      g_ptr_array_add (sorted, (char *)(guintptr)json_string_value (name));
  g_ptr_array_sort (sorted, replay_match_by_text);
  g_ptr_array_add (sorted, NULL);
  return g_strjoinv (", ", (GStrv)sorted->pdata);
}

static char *
tools_difference (const json_t *then, const json_t *now)
{
  g_autofree char *before = sorted_names (then);
  g_autofree char *names = sorted_names (now);
  return text_difference ("the list of tools", names, before);
}

static const char *
forced_tool (const json_t *tool)
{
  if (!json_is_string (tool))
    return "as it likes";
  return json_string_length (tool) > 0 ? json_string_value (tool) : "any";
}

static char *
tool_difference (const json_t *then, const json_t *now)
{
  return text_difference ("the tool that must be called", forced_tool (now), forced_tool (then));
}

/* ---- members of "ask" ---- */

static gboolean
are_texts (const json_t *value)
{
  gsize index;
  json_t *item;
  json_array_foreach (value, index, item) if (!json_is_string (item)) return FALSE;
  return json_is_array (value);
}

static gboolean
are_messages (const json_t *value)
{
  gsize index;
  json_t *message;
  json_array_foreach (value, index,
                      message) if (!json_is_string (json_object_get (message, "role")) ||
                                   !json_is_array (json_object_get (message, "content"))) return FALSE;
  return json_is_array (value);
}

static gboolean
is_tool (const json_t *value)
{
  return json_is_string (value) || json_is_null (value);
}

static const struct member {
  const char *name, *of; /* what it is compared with in replay_ask's */
  const char *form;
  gboolean (*check) (const json_t *value);
  char *(*difference) (const json_t *then, const json_t *now);
} members[] = {
    {"tools", "tools", "a list of names", are_texts, tools_difference},
    {"tool", "tool", "a name, \"\" or null", is_tool, tool_difference},
    {"contains", "new", "a list of texts", are_texts, contains_difference},
    {"new", "new", "a list of messages", are_messages, new_difference},
};

static const struct member *
replay_match_find_member (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (strcmp (members[i].name, name) == 0)
      return &members[i];
  return NULL;
}

gboolean
replay_ask_check (const json_t *ask, GError **error)
{
  if (!ask)
    return TRUE;
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)ask, name, value)
  {
    const struct member *member = replay_match_find_member (name);
    if (!member || !member->check (value)) {
      g_autofree char *shown = text_one_line (name, 40);
      g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "\"%s\" of its \"ask\" %s %s", shown,
                   member ? "must be" : "is",
                   member ? member->form : "not known: it may have new, contains, tools and tool");
      return FALSE;
    }
  }
  if (json_is_object (ask))
    return TRUE;
  g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_INVALID, "its \"ask\" is no object");
  return FALSE;
}

char *
replay_difference (const json_t *ask, const struct model_question *question)
{
  g_autoptr (json_t) now = replay_ask (question);
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++) {
    const json_t *then = json_object_get (ask, members[i].name);
    char *found = then ? members[i].difference (then, json_object_get (now, members[i].of)) : NULL;
    if (found)
      return found;
  }
  return NULL;
}
