/* SPDX-License-Identifier: Apache-2.0 */
/* A list of parts: consecutive output is one part, and each display is its own, so that an update finds
 * it. */
#include "tools/transcript.h"

#include <string.h>

#include "common/json.h"
#include "library/library.h"

struct part {
  char *display_id; /* of a display that has one */
  gboolean display;
  GString *text;
  char *picture; /* base64, or NULL */
};

struct transcript {
  gsize most, bytes; /* bytes: of all texts; nothing is added beyond most */
  GPtrArray *parts;
};

static void
transcript_part_free (gpointer data)
{
  struct part *part = data;
  g_free (part->display_id);
  g_string_free (part->text, TRUE);
  g_free (part->picture);
  g_free (part);
}

struct transcript *
transcript_new (gsize most)
{
  struct transcript *transcript = g_new0 (struct transcript, 1);
  transcript->most = most;
  transcript->parts = g_ptr_array_new_with_free_func (transcript_part_free);
  return transcript;
}

void
transcript_free (struct transcript *transcript)
{
  g_ptr_array_unref (transcript->parts);
  g_free (transcript);
}

/* ---- adding ---- */

static struct part *
part_new (struct transcript *transcript, gboolean display)
{
  struct part *part = g_new0 (struct part, 1);
  part->display = display;
  part->text = g_string_new (NULL);
  g_ptr_array_add (transcript->parts, part);
  return part;
}

static struct part *
part_last (const struct transcript *transcript)
{
  guint count = transcript->parts->len;
  return count > 0 ? g_ptr_array_index (transcript->parts, count - 1) : NULL;
}

/* One extra byte shows that there was more. */
static void
append (struct transcript *transcript, struct part *part, const char *data, gsize length)
{
  gsize room = transcript->most + 1 - MIN (transcript->bytes, transcript->most + 1);
  gsize taken = MIN (length, room);
  g_string_append_len (part->text, data, (gssize)taken);
  transcript->bytes += taken;
}

static void
add_output (struct transcript *transcript, const char *data, gsize length)
{
  struct part *last = part_last (transcript);
  append (transcript, last && !last->display ? last : part_new (transcript, FALSE), data, length);
}

/* TEXT on lines of its own. */
static void
append_lines (struct transcript *transcript, struct part *part, const char *text)
{
  append (transcript, part, text, strlen (text));
  if (text[0] != '\0' && !g_str_has_suffix (text, "\n"))
    append (transcript, part, "\n", 1);
}

/* The text of a bundle: tables as Markdown, nothing for a picture. */
static const char *
transcript_words_of (const json_t *bundle)
{
  const char *markdown = json_string_value (json_object_get (bundle, "text/markdown"));
  const char *plain = json_string_value (json_object_get (bundle, "text/plain"));
  if (json_object_get (bundle, "image/png"))
    return "";
  return markdown ? markdown : plain ? plain : "";
}

static struct part *
find_display (const struct transcript *transcript, const char *id)
{
  for (guint i = 0; id && i < transcript->parts->len; i++) {
    struct part *part = g_ptr_array_index (transcript->parts, i);
    if (g_strcmp0 (part->display_id, id) == 0)
      return part;
  }
  return NULL;
}

static void
add_display (struct transcript *transcript, const AdderRun *run, const AdderEvent *event)
{
  g_autoptr (json_t) bundle = library_display (run);
  struct part *part = event->update ? find_display (transcript, event->display_id) : NULL;
  if (!part)
    part = part_new (transcript, TRUE);
  transcript->bytes -= part->text->len;
  g_string_truncate (part->text, 0);
  g_free (part->picture);
  part->picture = g_strdup (json_string_value (json_object_get (bundle, "image/png")));
  if (!part->display_id)
    part->display_id = g_strdup (event->display_id);
  append_lines (transcript, part, transcript_words_of (bundle));
}

void
transcript_add (struct transcript *transcript, const AdderRun *run, const AdderEvent *event)
{
  if (event->kind == ADDER_EVENT_STDOUT || event->kind == ADDER_EVENT_STDERR)
    add_output (transcript, event->data, event->length);
  else if (event->kind == ADDER_EVENT_DISPLAY)
    add_display (transcript, run, event);
}

/* A value that is a picture was displayed already. */
static gboolean
transcript_is_shown (const json_t *result)
{
  const json_t *displays = json_object_get (result, "displays");
  const json_t *last = json_array_get (displays, json_array_size (displays) - 1);
  const char *words = json_string_value (json_object_get (last, "text/plain"));
  return json_object_get (last, "image/png") && words &&
         g_strcmp0 (words, json_string_value (
                               json_object_get (json_object_get (result, "value"), "text/plain"))) == 0;
}

void
transcript_end (struct transcript *transcript, const json_t *result, const char *tail)
{
  if (!transcript_is_shown (result))
    append_lines (transcript, part_new (transcript, TRUE),
                  transcript_words_of (json_object_get (result, "value")));
  if (tail)
    append_lines (transcript, part_new (transcript, TRUE), tail);
}

/* ---- the results ---- */

char *
transcript_text (const struct transcript *transcript, gboolean *ret_cut)
{
  g_autoptr (GString) whole = g_string_new (NULL);
  for (guint i = 0; i < transcript->parts->len; i++) {
    const struct part *part = g_ptr_array_index (transcript->parts, i);
    if (part->display && part->text->len > 0 && whole->len > 0 && whole->str[whole->len - 1] != '\n')
      g_string_append_c (whole, '\n');
    g_string_append_len (whole, part->text->str, (gssize)part->text->len);
  }
  g_autofree char *text = g_utf8_make_valid (whole->str, (gssize)whole->len);
  *ret_cut = strlen (text) > transcript->most;
  if (*ret_cut) {
    const char *end = text + transcript->most;
    /* Back to where a character begins. */
    while ((*end & 0xc0) == 0x80)
      end--;
    text[end - text] = '\0';
  }
  return g_steal_pointer (&text);
}

json_t *
transcript_pictures (const struct transcript *transcript)
{
  json_t *pictures = json_array ();
  for (guint i = 0; i < transcript->parts->len; i++) {
    const struct part *part = g_ptr_array_index (transcript->parts, i);
    if (part->picture)
      json_array_append_new (pictures, json_string (part->picture));
  }
  return pictures;
}
