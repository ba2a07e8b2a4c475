/* SPDX-License-Identifier: Apache-2.0 */
/* What a chat is sent: messages, pictures, files. What cannot be sent is logged, without its words. */
#pragma once

#include "apps/telegram/bot_api.h"
#include "apps/telegram/pages.h"

struct chat_line {
  struct bot_api *api; /* of the thread that sends */
  gint64 chat;
  gboolean *was_cut; /* becomes TRUE where something was not sent since all ends; or NULL */
};

/* Sends PAGES; more than PAGES_MAX of them go as the file "reply.txt", and where nothing in them can be
 * seen, that is said. KEYBOARD (NULL: none; borrowed) is under the last, if all before it was sent. The last
 * message's id; 0: it was not sent. */
gint64 send_pages (const struct chat_line *line, struct pages *pages, const json_t *keyboard);
/* The same for plain words. */
gint64 send_text (const struct chat_line *line, const char *text);

/* Replaces the message ID by TEXT, without buttons, if the server does so at once. */
void send_edit (const struct chat_line *line, gint64 id, const char *text);

/* "typing" in the chat's head, for about five seconds; the same. */
void send_typing (const struct chat_line *line);

/* Sends the pictures in the files PATHS (array of texts): as photos, several as an album, and as documents
 * where they are too large for one. */
void send_pictures (const struct chat_line *line, const json_t *paths);

/* Sends BYTES as a document. FALSE with ERROR. */
gboolean send_document (const struct chat_line *line, const char *name, const char *mime, GBytes *bytes,
                        GError **error);
