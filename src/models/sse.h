/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events out of bytes, however they were cut on their way. Lines end with LF, CRLF or CR; a line
 * that begins with "{" is an event of its own, since some servers write errors between events as bare JSON.
 */
#pragma once

#include <glib.h>

struct sse;

/* An event: its NAME ("" without one) and its data, whose lines are joined by LF. FALSE: no more of them. */
typedef gboolean (*sse_event_f) (gpointer data, const char *name, const char *text, gsize length);

struct sse *sse_new (sse_event_f event, gpointer data);
/* NULL is allowed. */
void sse_free (struct sse *sse);

/* Goes on with LENGTH bytes. FALSE: an event was refused, or is longer than 256 MiB; nothing more is read. */
gboolean sse_take (struct sse *sse, const char *bytes, gsize length);

/* There is no more: an event that lacks only its empty line counts, as servers forget it. */
gboolean sse_end (struct sse *sse);
