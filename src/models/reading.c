/* SPDX-License-Identifier: Apache-2.0 */
/* Whether it is a stream or one object is seen by its first byte, not by what was asked for or what a header
 * says: servers differ, and errors come in either. */
#include "models/reading.h"

#include <string.h>

#include "models/mend.h"
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

struct reading {
  const struct dialect_class *class;
  const struct model_question *question;
  struct draft draft;
  struct sse *sse;
  GString *text; /* of what is no stream */
  enum shape shape;
  gboolean is_ending; /* an event that is cut cannot be held against its server */
  gboolean is_wrong;  /* `error` is ours */
  gsize look_at;      /* the length of the text at which it is looked at next */
  json_t *error;
};

static void
refuse (struct reading *reading, const char *what)
{
  if (reading->error)
    return;
  reading->is_wrong = TRUE;
  reading->error = json_string (what);
}

/* Whether the model wrote a call and goes on without end: nothing after it counts (written.h). */
static gboolean
is_enough (struct reading *reading)
{
  const struct draft *draft = &reading->draft;
  const struct draft_part *said = NULL;
  for (guint i = 0; i < draft->parts->len && !said; i++)
    if (((struct draft_part *)draft->parts->pdata[i])->kind == DRAFT_TEXT)
      said = draft->parts->pdata[i];
  if (!said || said->text->len < reading->look_at || draft_has_calls (draft))
    return FALSE;
  reading->look_at = said->text->len + MAX (said->text->len / LOOK_PART, LOOK_BYTES);
  return written_is_over (reading->question, said->text->str);
}

static gboolean
take_event (gpointer data, const char *name, const char *text, gsize length)
{
  struct reading *reading = data;
  g_autofree char *word = length <= 16 ? g_strstrip (g_strndup (text, length)) : NULL;
  if (word && strcmp (word, "[DONE]") == 0) {
    reading->draft.is_done = TRUE;
    return TRUE;
  }
  if (length == 0 || text[0] != '{')
    return TRUE;
  json_t *object = mend_json (text, length);
  if (!object) {
    if (!reading->is_ending)
      refuse (reading, "an event of it is no JSON");
    return reading->is_ending;
  }
  reading->error = json_incref ((json_t *)dialect_error (object));
  if (!reading->error)
    reading->class->event (&reading->draft, name, object);
  json_decref (object);
  if (reading->error || !is_enough (reading))
    return !reading->error;
  reading->draft.is_over = TRUE;
  return FALSE;
}

struct reading *
reading_new (enum dialect dialect, const struct model_question *question)
{
  struct reading *reading = g_new0 (struct reading, 1);
  reading->class = dialect_of (dialect);
  reading->question = question;
  draft_init (&reading->draft, dialect);
  reading->draft.questions = (guint)json_array_size (question->messages);
  reading->draft.saw = question->saw;
  reading->draft.saw_data = question->saw_data;
  reading->sse = sse_new (take_event, reading);
  reading->text = g_string_new (NULL);
  return reading;
}

void
reading_free (struct reading *reading)
{
  if (!reading)
    return;
  draft_clear (&reading->draft);
  sse_free (reading->sse);
  g_string_free (reading->text, TRUE);
  json_decref (reading->error);
  g_free (reading);
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
reading_take (struct reading *reading, const char *bytes, gsize length)
{
  if (reading->shape == SHAPE_UNKNOWN)
    reading->shape = shape_of (bytes, length);
  if (reading->shape == SHAPE_EVENTS || reading->shape == SHAPE_UNKNOWN)
    return sse_take (reading->sse, bytes, length);
  gsize room = reading->shape == SHAPE_PAGE ? PAGE_BYTES - MIN (PAGE_BYTES, reading->text->len) : length;
  g_string_append_len (reading->text, bytes, (gssize)MIN (room, length));
  return TRUE;
}

gboolean
reading_is_over (const struct reading *reading)
{
  return reading->draft.is_over;
}

gboolean
reading_is_done (const struct reading *reading)
{
  return reading->draft.is_done;
}

static void
end_object (struct reading *reading)
{
  const char *from = reading->text->str;
  if (g_str_has_prefix (from, BYTE_ORDER_MARK))
    from += strlen (BYTE_ORDER_MARK);
  json_t *object = mend_json (from, reading->text->len - (gsize)(from - reading->text->str));
  const json_t *error = dialect_error (json_is_array (object) ? json_array_get (object, 0) : object);
  if (!object)
    refuse (reading, "it is no JSON");
  else if (error)
    reading->error = json_incref ((json_t *)error);
  else if (!reading->class->body (&reading->draft, object))
    refuse (reading, "it has nothing of an answer in it");
  reading->draft.is_over = TRUE;
  json_decref (object);
}

static void
settle (const struct reading *reading, struct model_answer *ret_answer)
{
  const struct draft *draft = &reading->draft;
  ret_answer->message = draft_message (draft);
  ret_answer->usage = draft->usage;
  ret_answer->stop = draft->has_stop ? draft->stop : MODEL_STOP_END;
  /* Servers say "stop" with calls, and "tool_calls" without. */
  if (ret_answer->stop == MODEL_STOP_END && draft_has_calls (draft))
    ret_answer->stop = MODEL_STOP_CALLS;
}

enum reading_end
reading_end (struct reading *reading, struct model_answer *ret_answer)
{
  const struct draft *draft = &reading->draft;
  reading->is_ending = TRUE;
  if (reading->shape == SHAPE_EVENTS && !reading->error)
    (void)sse_end (reading->sse);
  else if (reading->shape == SHAPE_OBJECT)
    end_object (reading);
  else if (reading->shape == SHAPE_PAGE)
    refuse (reading, "it is a page for people");
  if (draft->is_crowded)
    refuse (reading, "it has too many parts");
  if (reading->error)
    return reading->is_wrong ? READING_MALFORMED : READING_ERROR;
  /* "[DONE]" alone is believed where something was said. */
  if (!draft->is_over && !(draft->is_done && draft->parts->len > 0))
    return READING_CUT;
  settle (reading, ret_answer);
  return READING_WHOLE;
}

const json_t *
reading_error (const struct reading *reading)
{
  return reading->error;
}
