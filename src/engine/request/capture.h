/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of one output stream for the reply: its head and its tail, up to a cap that holds from birth,
 * however much is written. */
#pragma once

#include <glib.h>

/* Bytes are kept as they came and become text at the end: cleaning never makes a text shorter, so the raw
 * head and tail always hold enough, and a character that two reads tear apart needs no care. */
struct capture {
  gsize cap;
  guint64 total; /* bytes seen */
  GByteArray *head, *tail;
  gsize tail_at; /* where the oldest byte of a full tail is */
};

void capture_init (struct capture *capture, gsize cap);
void capture_clear (struct capture *capture);

void capture_add (struct capture *capture, const char *data, gsize length);

/* All bytes, in order, of a stream that is no longer than the cap. The caller's. */
GByteArray *capture_bytes (const struct capture *capture);

/* Whether the text for the reply lacks something. */
gboolean capture_is_cut (const struct capture *capture);

/* Under which the whole stream can be read. */
struct capture_kept {
  const char *result_id, *stream;
  gboolean for_tool; /* a model reads it, which has no command line */
};

/* The text for the reply, valid UTF-8 without zero bytes: whole, or head and tail with a line between them
 * that says how many bytes are missing; without that line never more than the cap. What is not UTF-8, and
 * each zero byte, is U+FFFD. The line says how to read on, where the stream is KEPT (else NULL). *RET_CUT
 * says whether something is missing. The caller's. */
char *capture_text (const struct capture *capture, const struct capture_kept *kept, gsize *ret_length,
                    gboolean *ret_cut);

/* How many bytes at the beginning of DATA, a piece of a stream, belong to a character that began before it.
 */
gsize capture_torn_start (const char *data, gsize length);
/* How many bytes of DATA there are without the beginning of a character that goes on after it. */
gsize capture_whole_length (const char *data, gsize length);

/* LENGTH bytes as valid UTF-8 without zero bytes, in the same manner. The caller's. */
char *capture_clean (const char *data, gsize length);
