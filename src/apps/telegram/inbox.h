/* SPDX-License-Identifier: Apache-2.0 */
/* What came and is not done, on disk: an update is written down before Telegram is told that it arrived, so
 * that the end of this program loses none; and marked before it is worked on, so that none is worked on
 * twice. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define INBOX_MAX 1000 /* updates; when so many wait, no more are fetched */

struct inbox;

/* PATH is made with mode 0600 where it is not there. NULL with ERROR, also where another process has it. */
struct inbox *inbox_open (const char *path, GError **error);
/* NULL is allowed. */
void inbox_close (struct inbox *inbox);

/* The first update that is to be asked for; 0: whatever there is. */
gint64 inbox_offset (struct inbox *inbox);
/* Steps over the update ID, which cannot be read. */
void inbox_skip (struct inbox *inbox, gint64 id);

/* Keeps those of UPDATES (getUpdates' result) that IS_WANTED and did not come before, and moves the offset
 * behind all of them. An array of those that were kept, the caller's; NULL with ERROR: nothing was taken. */
json_t *inbox_take (struct inbox *inbox, const json_t *updates,
                    gboolean (*is_wanted) (gpointer data, const json_t *update), gpointer data,
                    GError **error);

/* Those that an earlier process kept and did not end, in order, the caller's. Work on those with the member
 * "begun" had begun. */
json_t *inbox_left (struct inbox *inbox);

gsize inbox_count (struct inbox *inbox);

/* From any thread: work on the update ID begins, or is over. What cannot be written is logged. */
void inbox_begin (struct inbox *inbox, gint64 id);
void inbox_end (struct inbox *inbox, gint64 id);

/* "update_id" of UPDATE; 0: it has none. */
gint64 inbox_id (const json_t *update);
