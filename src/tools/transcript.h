/* SPDX-License-Identifier: Apache-2.0 */
/* A run as one text in chronological order: standard output and standard error together, displays as Markdown
 * or plain text, the value; and its pictures beside it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"

struct transcript;

/* Keeps MOST bytes of text, or a little more. */
struct transcript *transcript_new (gsize most);
void transcript_free (struct transcript *transcript);

/* Takes an event other than the result. */
void transcript_add (struct transcript *transcript, const AdderRun *run, const AdderEvent *event);

/* Ends the text with the result's value and TAIL (NULL: nothing), each on lines of their own. */
void transcript_end (struct transcript *transcript, const json_t *result, const char *tail);

/* At most MOST bytes of the text, cut before a character that does not fit. *RET_CUT: whether there was more.
 * The caller's. */
char *transcript_text (const struct transcript *transcript, gboolean *ret_cut);

/* [base64 of a PNG]: the pictures shown, in their latest form. The caller's. */
json_t *transcript_pictures (const struct transcript *transcript);
