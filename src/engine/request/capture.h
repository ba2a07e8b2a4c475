/* SPDX-License-Identifier: Apache-2.0 */
/* What the reply keeps of one output stream: its head and its tail, up to a cap that holds from the start,
 * however much is written. */
#pragma once

#include <glib.h>

/* Bytes are kept as they came and become text at the end: cleaning never makes a text shorter, so the raw
 * head and tail always hold enough, and a character split between two reads needs no special case. */
struct capture {
  gsize cap;
  guint64 total; /* bytes seen */
  GByteArray *head, *tail;
  gsize tail_at; /* where the oldest byte of a full tail is */
};

void capture_init (struct capture *capture, gsize cap);
void capture_clear (struct capture *capture);

void capture_add (struct capture *capture, const char *data, gsize length);

/* All bytes, in order, of a stream that fits the cap. The caller's. */
GByteArray *capture_bytes (const struct capture *capture);

/* Whether the text for the reply is incomplete. */
gboolean capture_is_cut (const struct capture *capture);

/* How the whole stream can be read. */
struct capture_kept {
  const char *result_id, *stream;
  gboolean for_tool; /* a model reads it, without a command line */
};

/* The text for the reply, valid UTF-8 without zero bytes: whole, or head and tail with a line between them
 * that says how many bytes are missing; apart from that line never more than the cap. Invalid UTF-8 and zero
 * bytes become U+FFFD. The line says how to read on, if the stream is KEPT (else NULL). *RET_CUT says whether
 * something is missing. The caller's. */
char *capture_text (const struct capture *capture, const struct capture_kept *kept, gsize *ret_length,
                    gboolean *ret_cut);

/* How many bytes at the beginning of DATA, a piece of a stream, belong to a character that began before it.
 */
gsize capture_torn_start (const char *data, gsize length);
/* How many bytes of DATA remain without an incomplete character at its end. */
gsize capture_whole_length (const char *data, gsize length);

/* LENGTH bytes as valid UTF-8 without zero bytes, converted the same way. The caller's. */
char *capture_clean (const char *data, gsize length);
