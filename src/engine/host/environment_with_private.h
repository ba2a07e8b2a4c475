/* SPDX-License-Identifier: Apache-2.0 */
/* What environment_with.c and environment_with_build.c share. */
#pragma once

#include "engine/host/environment_private.h"
#include "engine/host/environment_with.h"

/* The environment NAME, where it can be a base; the caller's, or NULL with ERROR. */
struct environment *environment_with_base (const char *name, GError **error);

/* What BASE with REQUIREMENTS is called; the caller's. */
char *environment_with_name (const struct environment *base, const char *const *requirements,
                             gboolean sources);

/* The folder of the environment NAME; the caller's. */
char *environment_with_folder (const char *name);
gboolean environment_with_is_ready (const char *folder);

/* FOLDER is used now. */
void environment_with_mark (const char *folder);

/* What one more environment needs, and the most that there may be, of its owner and in all. */
struct environment_with_room {
  const char *owner;
  guint64 bytes;
  guint64 owner_bytes, owner_sets;
  guint64 all_bytes, all_sets;
};

/* Removes those that were not used for longest, of the owner and of all, until one more fits. */
gboolean environment_with_make_room (const struct environment_with_room *room, GError **error);

/* FOLDER was made for OWNER. */
void environment_with_set_owner (const char *folder, const char *owner);

/* Removes what daemons that were killed left half made. */
void environment_with_sweep (void);

/* ---- those that are being made (environment_with_making.c) ---- */

struct making;

struct making_bounds {
  guint64 most, of_owner; /* that are made at once */
  guint64 waiting;        /* of one owner, that wait for their turn */
  guint64 wait_ms;        /* the longest that they do */
};

/* FD hears of the making of the environment NAME from now on, and is closed at its end: *RET_LISTENS. Where
 * nobody makes it yet, its caller is to, with what is returned; else NULL, with ERROR (ADDER_ERROR_BUSY)
 * where FD does not hear of it. */
struct making *making_begin (const char *name, const char *owner, const struct making_bounds *bounds, int fd,
                             gboolean *ret_listens, GError **error);

/* Waits until it is the turn of MAKING; where it has to, tells TEXT. FALSE: it is not to be made, with
 * ADDER_ERROR_BUSY after the longest wait, and ADDER_ERROR_CANCELLED where nobody waits for it any more. */
gboolean making_await_turn (struct making *making, const struct making_bounds *bounds, const char *text,
                            GError **error);

/* Tells TEXT to all who wait for it; some may not hear it. */
void making_tell (struct making *making, const char *text);

/* Tells all who wait for it TEXT, the last, and frees it. */
void making_end (struct making *making, const char *text);
