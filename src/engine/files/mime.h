/* SPDX-License-Identifier: Apache-2.0 */
/* The media type of a file that came out of a run, by its name's ending, else by its first bytes. */
#pragma once

#include <glib.h>

/* Enough of a file's beginning for mime_guess. */
#define MIME_HEAD_BYTES 512

/* LENGTH bytes of HEAD are the beginning of the file called NAME. Static. */
const char *mime_guess (const char *name, const guint8 *head, gsize length);
