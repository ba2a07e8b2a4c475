/* SPDX-License-Identifier: Apache-2.0 */
/* What environment_with.c and environment_with_build.c share. */
#pragma once

#include "engine/host/environment_private.h"
#include "engine/host/environment_with.h"

/* The environment NAME, if it can be a base; the caller's, or NULL with ERROR. */
struct environment *environment_with_base (const char *name, GError **error);

/* The name of BASE with REQUIREMENTS; the caller's. */
char *environment_with_name (const struct environment *base, const char *const *requirements,
                             gboolean sources);

/* The folder of the environment NAME; the caller's. */
char *environment_with_folder (const char *name);
gboolean environment_with_is_ready (const char *folder);

/* Marks FOLDER as used now. */
void environment_with_mark (const char *folder);

/* The room for one more environment, and the maximum, for its owner and in all. */
struct environment_with_room {
  const char *owner;
  guint64 bytes;
  guint64 owner_bytes, owner_sets;
  guint64 all_bytes, all_sets;
};

/* Removes the least recently used, of the owner and of all, until one more fits. */
gboolean environment_with_make_room (const struct environment_with_room *room, GError **error);

/* FOLDER was made for OWNER. */
void environment_with_set_owner (const char *folder, const char *owner);

/* Removes incomplete environments of killed daemons. */
void environment_with_sweep (void);

/* ---- those that are being made (environment_with_making.c) ---- */

struct making;

struct making_bounds {
  guint64 most, of_owner; /* made at once */
  guint64 waiting;        /* of one owner, waiting for their turn */
  guint64 wait_ms;        /* the longest wait for a turn */
};

/* Sends FD the messages of the build of the environment NAME from now on, and closes it at its end:
 * *RET_LISTENS. If nobody makes it yet, the caller must, with the result; else NULL, with ERROR
 * (ADDER_ERROR_BUSY) if FD was not added. */
struct making *making_begin (const char *name, const char *owner, const struct making_bounds *bounds, int fd,
                             gboolean *ret_listens, GError **error);

/* Waits for the turn of MAKING; if it has to, sends TEXT. FALSE: it must not be made, with ADDER_ERROR_BUSY
 * after the longest wait, and ADDER_ERROR_CANCELLED when nobody waits for it any more. */
gboolean making_await_turn (struct making *making, const struct making_bounds *bounds, const char *text,
                            GError **error);

/* Sends TEXT to all waiters; some may miss it. */
void making_tell (struct making *making, const char *text);

/* Sends TEXT, the last, to all waiters, and frees it. */
void making_end (struct making *making, const char *text);
