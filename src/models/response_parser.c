/* SPDX-License-Identifier: Apache-2.0 */
/* Whether it is a stream or one object is seen by its first byte, not by what was asked for or what a header
 * says: servers differ, and errors come in either. */
#include "models/response_parser.h"

#include <string.h>

#include "models/json_repair.h"
#include "models/sse.h"
#include "models/written.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* So much of a page that is none of JSON's is kept. */
#define PAGE_BYTES 4096

/* A text that may hold a call is looked at again when it has grown by this part of it, and this much: all
 * looks together take time in proportion to its length. */
#define LOOK_PART  8
#define LOOK_BYTES 64

enum shape { SHAPE_UNKNOWN, SHAPE_EVENTS, SHAPE_OBJECT, SHAPE_PAGE };

struct response_parser {
  const struct dialect_class *class;
  const struct model_question *question;
  struct response_builder builder;
  struct sse *sse;
  GString *text; /* of what is no stream */
  enum shape shape;
  gboolean is_ending; /* an event that is cut cannot be held against its server */
  gboolean is_wrong;  /* `error` is ours */
  gsize look_at;      /* the length of the text at which it is looked at next */
  json_t *error;
};

static void
response_parser_refuse (struct response_parser *parser, const char *what)
{
  if (parser->error)
    return;
  parser->is_wrong = TRUE;
  parser->error = json_string (what);
}

/* Whether the model wrote a call and goes on without end: nothing after it counts (written.h). */
static gboolean
is_enough (struct response_parser *parser)
{
  const struct response_builder *builder = &parser->builder;
  const struct response_part *said = NULL;
  for (guint i = 0; i < builder->parts->len && !said; i++)
    if (((struct response_part *)builder->parts->pdata[i])->kind == RESPONSE_TEXT)
      said = builder->parts->pdata[i];
  if (!said || said->text->len < parser->look_at || response_builder_has_calls (builder))
    return FALSE;
  parser->look_at = said->text->len + MAX (said->text->len / LOOK_PART, LOOK_BYTES);
  return written_is_over (parser->question, said->text->str);
}

static gboolean
response_parser_take_event (gpointer data, const char *name, const char *text, gsize length)
{
  struct response_parser *parser = data;
  g_autofree char *word = length <= 16 ? g_strstrip (g_strndup (text, length)) : NULL;
  if (word && strcmp (word, "[DONE]") == 0) {
    parser->builder.is_done = TRUE;
    return TRUE;
  }
  if (length == 0 || text[0] != '{')
    return TRUE;
  json_t *object = json_repair (text, length);
  if (!object) {
    if (!parser->is_ending)
      response_parser_refuse (parser, "an event of it is no JSON");
    return parser->is_ending;
  }
  parser->error = json_incref ((json_t *)dialect_error (object));
  if (!parser->error)
    parser->class->event (&parser->builder, name, object);
  json_decref (object);
  if (parser->error || !is_enough (parser))
    return !parser->error;
  parser->builder.is_over = TRUE;
  return FALSE;
}

struct response_parser *
response_parser_new (enum dialect dialect, const struct model_question *question)
{
  struct response_parser *parser = g_new0 (struct response_parser, 1);
  parser->class = dialect_of (dialect);
  parser->question = question;
  response_builder_init (&parser->builder, dialect);
  parser->builder.questions = (guint)json_array_size (question->messages);
  parser->builder.saw = question->saw;
  parser->builder.saw_data = question->saw_data;
  parser->sse = sse_new (response_parser_take_event, parser);
  parser->text = g_string_new (NULL);
  return parser;
}

void
response_parser_free (struct response_parser *parser)
{
  if (!parser)
    return;
  response_builder_clear (&parser->builder);
  sse_free (parser->sse);
  g_string_free (parser->text, TRUE);
  json_decref (parser->error);
  g_free (parser);
}

/* By the first byte that is neither blank nor a mark. */
static enum shape
shape_of (const char *bytes, gsize length)
{
  for (gsize i = 0; i < length; i++) {
    if (g_ascii_isspace (bytes[i]) || (bytes[i] && strchr (BYTE_ORDER_MARK, bytes[i])))
      continue;
    if (bytes[i] == '<')
      return SHAPE_PAGE;
    return bytes[i] == '{' || bytes[i] == '[' ? SHAPE_OBJECT : SHAPE_EVENTS;
  }
  return SHAPE_UNKNOWN;
}

gboolean
response_parser_feed (struct response_parser *parser, const char *bytes, gsize length)
{
  if (parser->shape == SHAPE_UNKNOWN)
    parser->shape = shape_of (bytes, length);
  if (parser->shape == SHAPE_EVENTS || parser->shape == SHAPE_UNKNOWN)
    return sse_take (parser->sse, bytes, length);
  gsize room = parser->shape == SHAPE_PAGE ? PAGE_BYTES - MIN (PAGE_BYTES, parser->text->len) : length;
  g_string_append_len (parser->text, bytes, (gssize)MIN (room, length));
  return TRUE;
}

gboolean
response_parser_is_over (const struct response_parser *parser)
{
  return parser->builder.is_over;
}

gboolean
response_parser_is_done (const struct response_parser *parser)
{
  return parser->builder.is_done;
}

static void
end_object (struct response_parser *parser)
{
  const char *from = parser->text->str;
  if (g_str_has_prefix (from, BYTE_ORDER_MARK))
    from += strlen (BYTE_ORDER_MARK);
  json_t *object = json_repair (from, parser->text->len - (gsize)(from - parser->text->str));
  const json_t *error = dialect_error (json_is_array (object) ? json_array_get (object, 0) : object);
  if (!object)
    response_parser_refuse (parser, "it is no JSON");
  else if (error)
    parser->error = json_incref ((json_t *)error);
  else if (!parser->class->body (&parser->builder, object))
    response_parser_refuse (parser, "it has nothing of an answer in it");
  parser->builder.is_over = TRUE;
  json_decref (object);
}

static void
response_parser_settle (const struct response_parser *parser, struct model_answer *ret_answer)
{
  const struct response_builder *builder = &parser->builder;
  ret_answer->message = response_builder_message (builder);
  ret_answer->usage = builder->usage;
  ret_answer->stop = builder->has_stop ? builder->stop : MODEL_STOP_END;
  /* Servers say "stop" with calls, and "tool_calls" without. */
  if (ret_answer->stop == MODEL_STOP_END && response_builder_has_calls (builder))
    ret_answer->stop = MODEL_STOP_CALLS;
}

enum response_end
response_parser_end (struct response_parser *parser, struct model_answer *ret_answer)
{
  const struct response_builder *builder = &parser->builder;
  parser->is_ending = TRUE;
  if (parser->shape == SHAPE_EVENTS && !parser->error)
    (void)sse_end (parser->sse);
  else if (parser->shape == SHAPE_OBJECT)
    end_object (parser);
  else if (parser->shape == SHAPE_PAGE)
    response_parser_refuse (parser, "it is a page for people");
  if (builder->is_crowded)
    response_parser_refuse (parser, "it has too many parts");
  if (parser->error)
    return parser->is_wrong ? RESPONSE_MALFORMED : RESPONSE_ERROR;
  /* "[DONE]" alone is believed where something was said. */
  if (!builder->is_over && !(builder->is_done && builder->parts->len > 0))
    return RESPONSE_CUT;
  response_parser_settle (parser, ret_answer);
  return RESPONSE_WHOLE;
}

const json_t *
response_parser_error (const struct response_parser *parser)
{
  return parser->error;
}
