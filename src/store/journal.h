/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is doing, as short texts in a file, so that its successor knows what it was doing when it
 * died: the kernel keeps what was written, and the lock on the file goes with the process. May be used from
 * any number of threads. */
#pragma once

#include <glib.h>

struct journal;

#define JOURNAL_TEXT_BYTES 8190 /* the maximum length of a text */

/* A file of this process in FOLDER, which is made. KEY, letters and digits, says what kind of texts they are.
 */
struct journal *journal_open (const char *folder, const char *key, GError **error);
/* Removes the file, unless it has a text. NULL is allowed. */
void journal_close (struct journal *journal);

/* Puts TEXT, one line, into SLOT; -1: into a new one. The slot, or -1 if it cannot be written: it is too
 * long, there are too many, or the disk is full. */
int journal_write (struct journal *journal, int slot, const char *text);
/* -1 is allowed. */
void journal_clear (struct journal *journal, int slot);

/* Calls EACH with the texts that dead processes left in FOLDER under KEY, and DONE after those of one
 * process: if it returns TRUE they are removed. Damage from a power cut is skipped. FALSE with ERROR: of the
 * first that was not done. */
struct journal_reader {
  void (*each) (gpointer data, const char *text);
  gboolean (*done) (gpointer data, GError **error);
  gpointer data;
};
gboolean journal_recover (const char *folder, const char *key, const struct journal_reader *reader,
                          GError **error);
