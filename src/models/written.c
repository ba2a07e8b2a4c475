/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the text, item by item. What cannot be known yet, since the text ends in the middle of it,
 * ends the pass: the same is done with a text that is complete and with one that is still coming. */
#include "models/written.h"

#include <string.h>

#include "common/json.h"
#include "models/json_repair.h"

#define OPENS   "<tool_call>"
#define CLOSES  "</tool_call>"
#define FENCE   "```"
#define THINKS  "<think>"
#define THOUGHT "</think>"

/* More than an agent carries out of one answer (AGENT_CALLS): the agent has the word on how many it does. */
#define CALLS_MAX 33

/* What no code that anybody writes has at its end: a line or two, so many times. Shorter ones, and those
 * without the end of a line, are tables and lists of numbers. */
#define LOOPS      24
#define LOOP_LEAST 12
#define LOOP_MAX   256

enum item { ITEM_PROSE, ITEM_MARK, ITEM_CALL, ITEM_OPEN };

struct pass {
  const struct model_question *question;
  const char *text, *at;
  GString *given;    /* the messages, folded; NULL: not needed yet */
  json_t *calls;     /* {"name", "arguments"} each */
  const char *mark;  /* the first of the marks that stand directly before `at`, or NULL */
  const char *begin; /* of the first call, its marks included */
  gboolean in_block, has_prose;
  gboolean in_tag; /* of those marks, one is a tag that begins a line */
  gboolean in_row; /* calls count in a row, and nothing after it */
  gboolean is_over;
};

/* ---- quotations ---- */

/* Appends what is left of TEXT without what is written in one place and left out or escaped in another:
 * blanks, quotes, brackets, escapes, and all that is not ASCII. */
static void
fold (GString *folded, const char *text)
{
  for (const char *at = text; *at; at++) {
    gboolean is_escaped = *at == '\\';
    while (*at == '\\')
      at++;
    if (is_escaped && *at == 'u')
      for (gsize i = 0; i < 4 && g_ascii_isxdigit (at[1]); i++)
        at++;
    else if (!(is_escaped && *at && strchr ("bfnrt", *at)) && g_ascii_isalnum (*at))
      g_string_append_c (folded, *at);
    if (*at == '\0')
      return;
  }
}

static void fold_content (GString *folded, const json_t *content);

static void
fold_part (GString *folded, const json_t *part)
{
  fold (folded, json_member_text (part, "text"));
  fold_content (folded, json_object_get (part, "content"));
}

static void
fold_content (GString *folded, const json_t *content)
{
  gsize index;
  json_t *part;
  json_array_foreach (content, index, part) fold_part (folded, part);
}

static GString *
fold_given (const json_t *messages)
{
  GString *folded = g_string_new (NULL);
  gsize index;
  json_t *message;
  json_array_foreach (messages, index, message)
  {
    if (strcmp (json_member_text (message, "role"), "assistant") != 0)
      fold_content (folded, json_object_get (message, "content"));
    g_string_append_c (folded, '\n');
  }
  return folded;
}

static gboolean
is_quoted (struct pass *pass, const char *from, const char *to)
{
  g_autofree char *text = g_strndup (from, (gsize)(to - from));
  g_autoptr (GString) folded = g_string_new (NULL);
  if (!pass->given)
    pass->given = fold_given (pass->question->messages);
  fold (folded, text);
  return strstr (pass->given->str, folded->str) != NULL;
}

/* ---- objects ---- */

/* Past the object at FROM, or NULL where TEXT ends before it does. */
static const char *
object_end (const char *from)
{
  gsize depth = 0;
  gboolean in_string = FALSE;
  for (const char *at = from; *at; at++) {
    if (in_string && *at == '\\' && at[1])
      at++;
    else if (!in_string && g_str_has_prefix (at, JSON_REPAIR_LONG_QUOTE)) {
      const char *end = strstr (at + strlen (JSON_REPAIR_LONG_QUOTE), JSON_REPAIR_LONG_QUOTE);
      if (!end)
        return NULL;
      at = end + strlen (JSON_REPAIR_LONG_QUOTE) - 1;
    } else if (*at == '"')
      in_string = !in_string;
    else if (!in_string && *at == '{')
      depth++;
    else if (!in_string && *at == '}' && --depth == 0)
      return at + 1;
  }
  return NULL;
}

static gboolean
written_has_tool (const struct pass *pass, const char *name)
{
  gsize index;
  json_t *tool;
  json_array_foreach (pass->question->tools, index, tool)
  {
    if (strcmp (json_member_text (tool, "name"), name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* A definition or a record of a call has more members than one. */
static gboolean
has_others (const json_t *object)
{
  static const char *const members[] = {"name", "arguments", "function", "id", "type", NULL};
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)object, name, value)
  {
    if (!g_strv_contains (members, name))
      return TRUE;
  }
  return FALSE;
}

static json_t *
written_arguments_of (json_t *written)
{
  if (json_is_string (written))
    return json_repair_arguments (json_string_value (written), json_string_length (written));
  return json_is_object (written) ? json_incref (written) : NULL;
}

/* {"name", "arguments"} of what OBJECT calls, or NULL. */
static json_t *
written_call_of (const struct pass *pass, json_t *object)
{
  json_t *function = json_object_get (object, "function"), *named = function ? function : object;
  const char *name = json_member_text (named, "name"), *tool = pass->question->tool;
  json_t *written = json_object_get (named, "arguments");
  if (written && written_has_tool (pass, name)) {
    json_t *arguments = has_others (object) || has_others (named) ? NULL : written_arguments_of (written);
    return arguments ? json_pack ("{s:s, s:o}", "name", name, "arguments", arguments) : NULL;
  }
  gboolean is_bare = tool && tool[0] && (pass->mark || !pass->has_prose) && !json_object_get (object, "name");
  return is_bare ? json_pack ("{s:s, s:O}", "name", tool, "arguments", object) : NULL;
}

/* ---- items ---- */

static gboolean
begins_line (const struct pass *pass)
{
  const char *at = pass->at;
  while (at > pass->text && (at[-1] == ' ' || at[-1] == '\t'))
    at--;
  return at == pass->text || at[-1] == '\n';
}

/* Whether the text ends in the midst of WORD. */
static gboolean
may_become (const char *at, const char *word)
{
  return strnlen (at, strlen (word)) < strlen (word) && g_str_has_prefix (word, at);
}

static enum item
read_object (struct pass *pass, const char **ret_end, json_t **ret_call)
{
  const char *inner = pass->at + 1, *end;
  while (g_ascii_isspace (*inner))
    inner++;
  if (*inner && *inner != '"')
    return ITEM_PROSE;
  if (!(end = object_end (pass->at)))
    return ITEM_OPEN;
  *ret_end = end;
  g_autoptr (json_t) object = json_repair (pass->at, (gsize)(end - pass->at));
  *ret_call =
      json_is_object (object) && !is_quoted (pass, pass->at, end) ? written_call_of (pass, object) : NULL;
  return *ret_call ? ITEM_CALL : ITEM_PROSE;
}

/* A block of another language is passed over: what it shows is not meant. */
static enum item
written_read_block (struct pass *pass, const char **ret_end)
{
  static const char *const languages[] = {"", "json", "tool_call", NULL};
  const char *after = pass->at + strlen (FENCE), *line = after + strcspn (after, "\n`");
  g_autofree char *language = g_strstrip (g_strndup (after, (gsize)(line - after)));
  gboolean is_json = pass->in_block || (*line == '\n' && g_strv_contains (languages, language));
  const char *end = is_json ? NULL : strstr (after, FENCE);
  if (!is_json && !end)
    return ITEM_OPEN;
  *ret_end = is_json ? after + (pass->in_block ? 0 : line - after) : end + strlen (FENCE);
  pass->in_block = is_json && !pass->in_block;
  return is_json ? ITEM_MARK : ITEM_PROSE;
}

/* So is a span of code, which ends where its line does. */
static enum item
written_read_code (struct pass *pass, const char **ret_end)
{
  if (g_str_has_prefix (pass->at, FENCE))
    return written_read_block (pass, ret_end);
  const char *end = pass->at + 1 + strcspn (pass->at + 1, "`\n");
  *ret_end = *end == '`' ? end + 1 : pass->at + 1;
  return *end ? ITEM_PROSE : ITEM_OPEN;
}

static enum item
read_tag (struct pass *pass, const char **ret_end)
{
  gboolean opens = g_str_has_prefix (pass->at, OPENS);
  if (!opens && !g_str_has_prefix (pass->at, CLOSES))
    return may_become (pass->at, OPENS) || may_become (pass->at, CLOSES) ? ITEM_OPEN : ITEM_PROSE;
  *ret_end = pass->at + strlen (opens ? OPENS : CLOSES);
  pass->in_tag = opens && begins_line (pass);
  return ITEM_MARK;
}

static enum item
written_read_item (struct pass *pass, const char **ret_end, json_t **ret_call)
{
  *ret_end = pass->at + 1;
  switch (*pass->at) {
  case '{':
    return read_object (pass, ret_end, ret_call);
  case '`':
    return may_become (pass->at, FENCE) ? ITEM_OPEN : written_read_code (pass, ret_end);
  case '<':
    return read_tag (pass, ret_end);
  default:
    *ret_end = pass->at + strcspn (pass->at, "{`<");
    return ITEM_PROSE;
  }
}

/* ---- the pass ---- */

static gboolean
written_is_repeated (const struct pass *pass, const json_t *call)
{
  return json_equal (call, json_array_get (pass->calls, json_array_size (pass->calls) - 1));
}

/* Takes CALL. FALSE: nothing more counts. */
static gboolean
written_take_call (struct pass *pass, json_t *call)
{
  g_autoptr (json_t) taken = call;
  gsize count = json_array_size (pass->calls);
  if (count == 0) {
    pass->begin = pass->mark ? pass->mark : pass->at;
    pass->in_row = !pass->has_prose || pass->in_tag;
  } else if (!pass->in_row) {
    json_array_clear (pass->calls);
    return FALSE;
  } else if (count == CALLS_MAX || written_is_repeated (pass, call)) {
    pass->is_over = TRUE;
    return FALSE;
  }
  json_array_append (pass->calls, taken);
  return TRUE;
}

static gboolean
written_take_item (struct pass *pass, enum item item, json_t *call)
{
  switch (item) {
  case ITEM_CALL: {
    gboolean goes_on = written_take_call (pass, call);
    pass->mark = NULL;
    return goes_on;
  }
  case ITEM_MARK:
    if (!pass->mark)
      pass->mark = pass->at;
    return TRUE;
  case ITEM_PROSE:
    pass->has_prose = TRUE;
    pass->in_tag = FALSE;
    pass->mark = NULL;
    pass->is_over = pass->in_row;
    return !pass->in_row;
  case ITEM_OPEN:
  default:
    return FALSE;
  }
}

static gboolean
written_skip_blanks (struct pass *pass)
{
  const char *from = pass->at;
  while (g_ascii_isspace (*pass->at))
    pass->at++;
  pass->is_over = pass->in_row && pass->at - from > WRITTEN_BLANKS_MAX;
  return *pass->at && !pass->is_over;
}

/* What follows the thoughts in TEXT; NULL: the model is still thinking. */
static const char *
after_thoughts (const char *text)
{
  const char *thought = strstr (text, THOUGHT);
  if (thought)
    return thought + strlen (THOUGHT);
  while (g_ascii_isspace (*text))
    text++;
  return g_str_has_prefix (text, THINKS) ? NULL : text;
}

/* Finds the calls in TEXT. */
static void
written_look (struct pass *pass, const struct model_question *question, const char *text)
{
  const char *from = after_thoughts (text), *end = NULL;
  *pass = (struct pass){
      .question = question,
      .text = text,
      .at = from ? from : "",
      .calls = json_array (),
  };
  gboolean goes_on = json_array_size (question->tools) > 0;
  while (goes_on && written_skip_blanks (pass)) {
    json_t *call = NULL;
    enum item item = written_read_item (pass, &end, &call);
    goes_on = written_take_item (pass, item, call);
    pass->at = end;
  }
}

static void
pass_clear (struct pass *pass)
{
  if (pass->given)
    g_string_free (pass->given, TRUE);
  json_decref (pass->calls);
}

/* ---- from outside ---- */

/* Of how many bytes the unit is that TEXT ends with LOOPS times in a row, at most LOOP_MAX; 0: there is none.
 */
static gsize
find_loop (const char *text, gsize length)
{
  const char *end = text + length;
  for (gsize bytes = 1; bytes <= LOOP_MAX && bytes * LOOPS <= length; bytes++) {
    gsize compared = bytes * (LOOPS - 1);
    if (memcmp (end - compared, end - compared - bytes, compared) == 0)
      return bytes;
  }
  return 0;
}

static gboolean
is_looping (const char *text, gsize length)
{
  gsize bytes = find_loop (text, length);
  const char *unit = text + length - bytes;
  return bytes >= LOOP_LEAST && (strchr (unit, '\n') || strstr (unit, "\\n"));
}

/* Where a tool must be called, blanks without end and one thing again and again are no call: small models end
 * so. */
static gboolean
written_is_lost (const struct model_question *question, const char *text)
{
  gsize length = strlen (text), end = length;
  while (end > 0 && g_ascii_isspace (text[end - 1]))
    end--;
  return question->tool && question->tool[0] &&
         (length - end > WRITTEN_BLANKS_MAX || is_looping (text, length));
}

gboolean
written_is_over (const struct model_question *question, const char *text)
{
  struct pass pass;
  if (written_is_lost (question, text))
    return TRUE;
  written_look (&pass, question, text);
  pass_clear (&pass);
  return pass.is_over;
}

/* The parts of MESSAGE that are neither text nor come after it, the TEXT before the calls, and the calls. */
static json_t *
content_of (const struct pass *pass, const json_t *message)
{
  g_autofree char *before = g_strndup (pass->text, (gsize)(pass->begin - pass->text));
  json_t *content = json_array (), *part;
  gsize index;
  json_array_foreach (json_object_get (message, "content"), index, part)
  {
    if (strcmp (json_member_text (part, "type"), "text") != 0)
      json_array_append (content, part);
  }
  if (g_strstrip (before)[0])
    json_array_append_new (content, message_text (before));
  json_array_foreach (pass->calls, index, part)
  {
    json_t *call =
        json_pack ("{s:s, s:o}", "type", "call", "id",
                   json_sprintf ("call_%zu_%zu", json_array_size (pass->question->messages), index));
    json_object_update (call, part);
    json_array_append_new (content, call);
  }
  return content;
}

json_t *
written_message (const struct model_question *question, const json_t *message)
{
  g_autofree char *text = message_all_text (message);
  g_autoptr (json_t) made = message_calls (message);
  struct pass pass;
  json_t *written = NULL;
  written_look (&pass, question, text);
  if (json_array_size (made) == 0 && json_array_size (pass.calls) > 0)
    written = json_pack ("{s:s, s:o}", "role", "assistant", "content", content_of (&pass, message));
  pass_clear (&pass);
  return written;
}

char *
written_block (const char *text)
{
  for (const char *begin = text; (begin = strstr (begin, FENCE));) {
    const char *line = strchr (begin, '\n');
    const char *end = line ? strstr (line + 1, FENCE) : NULL;
    if (!end)
      return NULL;
    if (line[1 + strspn (line + 1, " \t\n")] != '{')
      return g_strndup (line + 1, (gsize)(end - line - 1));
    begin = end + strlen (FENCE);
  }
  return NULL;
}
