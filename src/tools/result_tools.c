/* SPDX-License-Identifier: Apache-2.0 */
/* peek_result, and previews. */
#include "tools/result_tools.h"
#include "operations/fields.h"

#include <string.h>

#include "tools/shapes.h"

#define HEAD_CHARACTERS 7000
#define TAIL_CHARACTERS 3000

const struct field peek_parameters[] = {
    FIELD_ID ("result_id", "The result_id that the reply had which was cut."),
    FIELDS_OF_READING ("Where to begin: next_offset of the part before.",
                       "How much of it, cut at a character."),
    {.name = "stream",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"stdout\"",
     .words = FIELD_WORDS ("stdout", "stderr"),
     .text = "Which output."},
    {.name = "grep",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .minimum = 1,
     .maximum = 1000,
     .text = "A regular expression: only lines in which it is found, such as (?i)error|warning."},
    {0},
};

static const struct field line_members[] = {
    {.name = "line", .types = FIELD_INTEGER, .text = "Its number, from 1."},
    {.name = "offset", .types = FIELD_INTEGER, .text = "Where the text begins, in bytes."},
    {.name = "text", .types = FIELD_TEXT, .text = "The line; of a long one what is around the match."},
    {0},
};

/* clang-format off */
#define FIELDS_OF_PART \
    {.name = "offset", .types = FIELD_INTEGER, .text = "Where it begins, in bytes."}, \
    {.name = "next_offset", .types = FIELD_INTEGER, .text = "Where to go on."}, \
    {.name = "total_bytes", .types = FIELD_INTEGER, .text = "How much there is in all."}, \
    {.name = "at_end", .types = FIELD_BOOLEAN, .text = "Whether there is no more."}, \
    {.name = "result_id", .types = FIELD_TEXT, .marks = FIELD_IN_FULL, .text = "As it was asked for."}, \
    {.name = "stream", .types = FIELD_TEXT, .marks = FIELD_IN_FULL, .text = "stdout or stderr."}
/* clang-format on */

static const struct field text_reply[] = {
    {.name = "text", .types = FIELD_TEXT, .text = "That part of the output."},
    FIELDS_OF_PART,
    {0},
};
static const struct field lines_reply[] = {
    {.name = "lines",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = line_members,
     .text = "With grep: the lines in which it is found, up to limit bytes of them."},
    FIELDS_OF_PART,
    {0},
};
const struct field *const peek_replies[] = {text_reply, lines_reply, NULL};

void
peek_result_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  json_t *params = json_pack ("{s:s, s:s, s:I, s:I, s:s*}", "result", call_text (call, "result_id"), "stream",
                              call_text (call, "stream"), "offset", call_integer (call, "offset"), "limit",
                              call_integer (call, "limit"), "grep", call_text (call, "grep"));
  json_t *part = call_operation (call, "result.peek", params, &problem);
  call_reply_value (call, part, problem);
}

/* ---- previews ---- */

const char *
ran_result_id (const struct ran *ran)
{
  return json_string_value (json_object_get (ran->result, "result_id"));
}

char *
ran_preview (const struct ran *ran, const char *stream, const char *text, glong most)
{
  const char *result_id = ran_result_id (ran);
  g_autofree char *counted = g_strconcat (stream, "_bytes", NULL);
  glong length = g_utf8_strlen (text, -1);
  if (!result_id || length <= most)
    return g_strdup (text);
  const char *rest = g_utf8_offset_to_pointer (text, HEAD_CHARACTERS);
  const char *tail = g_utf8_offset_to_pointer (text, length - TAIL_CHARACTERS);
  gboolean errors = strcmp (stream, "stderr") == 0;
  return g_strdup_printf ("%.*s\n[... cut here: %s has %" JSON_INTEGER_FORMAT
                          " bytes in all; peek_result(result_id=\"%s\", offset=%td%s) reads on, and with "
                          "grep=\"...\" it finds lines ...]\n%s",
                          (int)(rest - text), text, stream,
                          json_integer_value (json_object_get (ran->result, counted)), result_id, rest - text,
                          errors ? ", stream=\"stderr\"" : "", tail);
}
