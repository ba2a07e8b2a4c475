/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/mcp/room.h"

#include <string.h>

#include "common/config.h"
#include "common/json.h"

#define AROUND_BYTES 2048 /* of a message beside its result and its id, and of its event */
#define LONG_BYTES   1024 /* shorter texts are not shortened */

gsize
mcp_room_of (const json_t *value)
{
  g_autofree char *text = value ? json_to_text (value) : NULL;
  return text ? strlen (text) : 0;
}

gsize
mcp_room (const struct mcp_request *request)
{
  gsize most = mcp_server_service (request->server)->config->mcp_reply_bytes;
  gsize around = AROUND_BYTES + mcp_room_of (request->id);
  return most > 2 * around ? most - around : most / 2;
}

/* The longest text: the member NAME of an object, or the item INDEX of an array. */
struct place_of_text {
  json_t *holder;
  const char *name;
  gsize index, bytes;
};

static void
room_find (json_t *value, struct place_of_text *longest)
{
  const char *name;
  json_t *item;
  gsize index = 0;
  if (json_is_object (value))
    json_object_foreach (value, name, item)
    {
      if (json_string_length (item) > longest->bytes)
        *longest = (struct place_of_text){value, name, 0, json_string_length (item)};
      room_find (item, longest);
    }
  else
    json_array_foreach (value, index, item)
    {
      if (json_string_length (item) > longest->bytes)
        *longest = (struct place_of_text){value, NULL, index, json_string_length (item)};
      room_find (item, longest);
    }
}

/* TEXT without its middle, cut between characters. The caller's. */
static json_t *
room_cut (const char *text, gsize bytes)
{
  const char *head = g_utf8_find_prev_char (text, text + bytes / 3);
  const char *tail = g_utf8_find_next_char (text + bytes - bytes / 6, NULL);
  g_autofree char *cut = g_strdup_printf ("%.*s\n[... %td bytes are left out here: the reply has no room for "
                                          "them ...]\n%s",
                                          (int)(head - text), text, tail - head, tail);
  return json_text_or_null (cut);
}

gboolean
mcp_room_shorten (json_t *value)
{
  struct place_of_text longest = {.bytes = LONG_BYTES};
  room_find (value, &longest);
  if (!longest.holder)
    return FALSE;
  json_t *held = longest.name ? json_object_get (longest.holder, longest.name)
                              : json_array_get (longest.holder, longest.index);
  json_t *cut = room_cut (json_string_value (held), longest.bytes);
  if (longest.name) {
    g_autofree char *name = g_strdup (longest.name); /* is the object's own */
    json_object_set_new (longest.holder, name, cut);
  } else
    json_array_set_new (longest.holder, longest.index, cut);
  return TRUE;
}
