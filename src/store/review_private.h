/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of reviews share: how one lies on disk (review_file.c), and how it is carried out
 * (review_commit.c).
 *
 *     STATE/reviews/ID/manifest   JSON: whose, where, and each change with what was there before
 *                      changes    JSON: the same for people, with diffs
 *                      content    all new files, one after the other
 *                      journal    a line for each phase that was entered, on disk before it is
 */
#pragma once

#include "engine/files/changes.h"
#include "engine/host/id.h"
#include "store/review.h"

/* In order. In the first nothing in the directory was touched; the last cannot be undone. */
enum review_phase {
  REVIEW_WAITING,
  REVIEW_WRITING,   /* new files are being written beside their places */
  REVIEW_SWITCHING, /* they are moved into place, and the old files are set aside */
  REVIEW_CLEANING,  /* all are there; the old files are being removed */
};

struct review {
  char id[ID_BYTES];
  char *owner, *conversation; /* may be NULL */
  char *path;
  guint64 device, inode; /* of the directory */
  gint64 created_us;
  char *digest;
  guint64 bytes;      /* of new files */
  GPtrArray *changes; /* struct change */
  guint64 *offsets;   /* of each one's content */
  int folder_fd;      /* where it lies */
  int journal_fd;     /* locked, or -1 */
  enum review_phase phase;
};
void review_free (struct review *review);

/* The folder of all of them, made when it is missing. */
int review_open_store (GError **error);

/* Writes SUBJECT whole or not at all. */
gboolean review_write (int store_fd, const struct review_subject *subject, const char *id, GError **error);

/* Reads one. ADDER_ERROR_NOT_FOUND. LOCKED: nobody else may work on it until it is freed; ADDER_ERROR_BUSY
 * when somebody does. */
struct review *review_read (int store_fd, const char *id, gboolean locked, GError **error);

/* Its text for people, or NULL. The caller's. */
json_t *review_read_changes (const struct review *review);

/* Whether somebody works on it at this moment. */
gboolean review_is_locked (const struct review *review);

/* Removes it from disk. */
void review_remove (int store_fd, const char *id);

/* Removes NAME of the store if a dead process left it incomplete. */
void review_sweep (int store_fd, const char *name);

/* Notes that PHASE is entered, on disk. */
gboolean review_enter (struct review *review, enum review_phase phase, GError **error);

/* Copies LENGTH bytes from FROM at FROM_OFFSET to TO at TO_OFFSET, leaving holes as they are. */
gboolean review_copy (int from, guint64 from_offset, guint64 length, int to, guint64 to_offset,
                      GError **error);

/* ---- review_commit.c ---- */

/* DIRECTORY_FD is the review's directory. */
gboolean review_commit (struct review *review, int directory_fd, GError **error);
/* Afterwards: removes the old files. Freeing blocks takes milliseconds a file on some disks, so nobody
 * waits. */
gboolean review_clean (struct review *review, int directory_fd, GError **error);
gboolean review_undo (struct review *review, int directory_fd, GError **error);
