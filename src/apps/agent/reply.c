/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/reply.h"

#include <string.h>

#include "apps/agent/prompts.h"
#include "common/json.h"
#include "interfaces/cli/view/pictures.h"
#include "interfaces/mcp/reply.h"
#include "models/message.h"

#define HEAD_CHARACTERS 20000
#define TAIL_CHARACTERS 8000

static const char *const kinds[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};

void
reply_clear (struct reply *reply)
{
  g_clear_pointer (&reply->text, g_free);
  g_clear_pointer (&reply->images, json_decref);
  g_clear_pointer (&reply->pictures, json_decref);
}

/* ---- pictures ---- */

/* One display is one picture: its first form of these. */
static void
take_display (json_t *found, json_t *display)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++) {
    json_t *data = json_object_get (display, kinds[i]);
    if (!json_is_string (data))
      continue;
    json_array_append_new (found, json_pack ("{s:O}", kinds[i], data));
    json_object_del (display, kinds[i]);
    return;
  }
}

/* [{MIME: base64}], which VALUE has no more. The caller's. */
static json_t *
reply_take_pictures (json_t *value)
{
  json_t *found = json_array (), *item, *pictures = json_object_get (value, "pictures");
  gsize index;
  json_array_foreach (json_object_get (value, "displays"), index, item) take_display (found, item);
  json_array_foreach (pictures, index, item)
  {
    if (json_is_string (item))
      json_array_append_new (found, json_pack ("{s:O}", kinds[0], item));
  }
  json_object_del (value, "pictures");
  return found;
}

/* Their names in the directory, or NULL where they are not saved. */
static GPtrArray *
reply_save (const json_t *pictures, const struct reply_place *place, char **ret_warning)
{
  g_autoptr (GError) problem = NULL;
  if (place->out_fd < 0 || json_array_size (pictures) == 0)
    return NULL;
  g_autoptr (json_t) shown = json_pack ("{s:O}", "displays", pictures);
  GPtrArray *saved = pictures_take (shown, place->out_fd, NULL, &problem);
  if (problem)
    *ret_warning = g_strdup (problem->message);
  return saved;
}

static void
append_words (GString *text, enum prompt prompt, const char *path)
{
  g_autofree char *where = path ? g_strdup_printf (", saved as %s", path) : g_strdup ("");
  g_autofree char *words = prompt_fill (prompt, where, NULL);
  g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", words);
}

static void
tell_picture (struct reply *reply, const json_t *picture, const struct reply_place *place, const char *path,
              GString *text)
{
  json_t *data = json_object_iter_value (json_object_iter ((json_t *)(guintptr)picture));
  const char *mime = json_object_iter_key (json_object_iter ((json_t *)(guintptr)picture));
  gboolean fits = json_string_length (data) / 4 * 3 <= REPLY_PICTURE_BYTES &&
                  json_array_size (reply->images) < REPLY_PICTURES;
  if (place->sees && fits)
    json_array_append_new (reply->images, message_image (mime, json_string_value (data)));
  append_words (text,
                !place->sees ? PROMPT_PICTURE_UNSEEN
                : fits       ? PROMPT_PICTURE_SHOWN
                             : PROMPT_PICTURE_LARGE,
                path);
}

static void
tell_pictures (struct reply *reply, const json_t *pictures, const struct reply_place *place, GString *text,
               char **ret_warning)
{
  g_autoptr (GPtrArray) saved = reply_save (pictures, place, ret_warning);
  gsize index;
  json_t *item;
  json_array_foreach ((json_t *)(guintptr)pictures, index, item)
  {
    const struct picture *picture = saved && index < saved->len ? g_ptr_array_index (saved, index) : NULL;
    g_autofree char *path = picture ? g_build_filename (place->out, picture->name, NULL) : NULL;
    if (path)
      json_array_append_new (reply->pictures, json_text_or_null (path));
    else
      reply->unsaved++;
    tell_picture (reply, item, place, path, text);
  }
}

/* ---- words ---- */

static void
reply_cut (GString *text, const char *result_id, gboolean reads_on)
{
  glong length = g_utf8_strlen (text->str, (gssize)text->len);
  if (length <= REPLY_CHARACTERS)
    return;
  const char *from = g_utf8_offset_to_pointer (text->str, HEAD_CHARACTERS);
  const char *to = g_utf8_offset_to_pointer (text->str, length - TAIL_CHARACTERS);
  g_autofree char *bytes = g_strdup_printf ("%td", to - from);
  g_autofree char *how = result_id[0] && reads_on ? prompt_fill (PROMPT_READ_ON, result_id, NULL)
                                                  : g_strdup (prompt_text (PROMPT_ASK_FOR_LESS));
  g_autofree char *gap = prompt_fill (PROMPT_CUT, bytes, how);
  g_autofree char *tail = g_strdup (to);
  g_string_truncate (text, (gsize)(from - text->str));
  g_string_append (text, gap);
  g_string_append (text, tail);
}

void
reply_make (json_t *value, const struct reply_place *place, struct reply *ret_reply, char **ret_warning)
{
  *ret_reply = (struct reply){.images = json_array (), .pictures = json_array ()};
  *ret_warning = NULL;
  g_autoptr (json_t) pictures = reply_take_pictures (value);
  g_autofree char *words = mcp_reply_text (value);
  g_autoptr (GString) text = g_string_new (words);
  reply_cut (text, json_member_text (value, "result_id"), place->reads_on);
  tell_pictures (ret_reply, pictures, place, text, ret_warning);
  ret_reply->text = g_strdup (text->str);
}

json_t *
reply_parts (const struct reply *reply)
{
  json_t *parts = json_pack ("[o]", message_text (reply->text));
  json_array_extend (parts, reply->images);
  return parts;
}
