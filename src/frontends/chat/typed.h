/* SPDX-License-Identifier: Apache-2.0 */
/* What was typed before: a line each in chat-history of the state folder, of mode 0600. */
#pragma once

#include <glib.h>

#define TYPED_LINES 1000 /* that are kept */

struct typed;

/* NULL with ERROR. */
struct typed *typed_open (GError **error);
/* NULL is allowed. */
void typed_close (struct typed *typed);

/* Those of earlier chats, the oldest first; the history's, and NULL after them. */
char *const *typed_lines (const struct typed *typed);

/* Keeps LINE, unless it begins with a blank or is as the last one. Chats that go on at once keep theirs side
 * by side. */
void typed_add (struct typed *typed, const char *line);
