/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation as Markdown, kept while it goes on. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define CHAT_TRANSCRIPT_BYTES (64 << 20) /* more is not kept, and the file says so */

struct chat_transcript {
  GString *text;
  gboolean cut;
};
void chat_transcript_init (struct chat_transcript *transcript);
void chat_transcript_clear (struct chat_transcript *transcript);

/* WHO said TEXT. */
void chat_transcript_say (struct chat_transcript *transcript, const char *who, const char *text);

/* STEP, of agent.h, that is over. */
void chat_transcript_step (struct chat_transcript *transcript, const json_t *step);

/* Writes it to FILE, which must not be there, with mode 0600. */
gboolean chat_transcript_save (const struct chat_transcript *transcript, const char *file, GError **error);
