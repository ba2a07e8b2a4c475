/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is at, as short texts in a file, so that who comes after it can tell what it was at when it
 * died: the kernel has what was written, and the lock on the file goes with the process. May be used from any
 * number of threads. */
#pragma once

#include <glib.h>

struct journal;

#define JOURNAL_TEXT_BYTES 8190 /* the most that a text has */

/* A file of this process in FOLDER, which is made. KEY, letters and digits, says what kind of texts they are.
 */
struct journal *journal_open (const char *folder, const char *key, GError **error);
/* The file goes, unless there is a text in it. NULL is allowed. */
void journal_close (struct journal *journal);

/* TEXT, one line, stands in SLOT from now on; -1: in a new one. The slot, or -1 where it cannot be written:
 * it is too long, there are very many, or the disk is full. */
int journal_write (struct journal *journal, int slot, const char *text);
/* -1 is allowed. */
void journal_clear (struct journal *journal, int slot);

/* Calls EACH with the texts that processes left in FOLDER under KEY which are dead, and DONE after those of
 * one process: when that is TRUE they are gone. What a power cut damaged is left out. FALSE with ERROR: of
 * the first that was not done. */
struct journal_reader {
  void (*each) (gpointer data, const char *text);
  gboolean (*done) (gpointer data, GError **error);
  gpointer data;
};
gboolean journal_recover (const char *folder, const char *key, const struct journal_reader *reader,
                          GError **error);
