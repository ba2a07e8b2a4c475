/* SPDX-License-Identifier: Apache-2.0 */
/* Environments with packages more: what `--with` of a run asks for. Each is derived from an environment, its
 * base: a virtual environment whose packages come first, and behind them those of the base. It is made once,
 * by pip, and kept under a name that is a digest of the base as it is now and of what was asked for, so that
 * runs which ask for the same have the same one. It is found, listed, shown and removed like any other.
 *
 * What is asked for names packages of the index that pip is configured for, and nothing else: no options,
 * paths or URLs. Only wheels are installed, unless the configuration says otherwise, and none of what was
 * installed runs outside of a sandbox: neither is the new interpreter asked what it needs, nor are modules
 * tried. */
#pragma once

#include "common/config.h"
#include "engine/host/environment.h"

/* The beginning of their names. */
#define ENVIRONMENT_WITH "with-"
gboolean environment_with_is_name (const char *name);

/* REQUIREMENTS in one form for all that mean the same, sorted, each once. NULL with ADDER_ERROR_INVALID: one
 * is none, or there are more or longer ones than CONFIG allows. g_strfreev. */
GStrv environment_with_parse (const char *const *requirements, const struct config *config, GError **error);

/* What is to be had: BASE with the packages REQUIREMENTS, as environment_with_parse gives them. Looks at the
 * base. The name, the caller's; *RET_READY says whether it is there, and then it counts as used now. NULL
 * with ERROR: there is no such base. */
char *environment_with_find (const char *base, const char *const *requirements, const struct config *config,
                             gboolean *ret_ready, GError **error);

/* What is to be made: NAME, as environment_with_find gives it, for OWNER (NULL: nobody), who it counts
 * against. */
struct environment_with_order {
  const char *name, *base, *owner;
  const char *const *requirements;
};

/* Has it made, or waits for whoever makes it. What comes of it is read from the descriptor, the caller's; who
 * closes that no longer waits, and what was begun goes on for whoever asks next. -1 with ERROR,
 * ADDER_ERROR_BUSY where too many are being made. */
int environment_with_start (const struct environment_with_order *order, const struct config *config,
                            GError **error);

enum environment_with_said {
  ENVIRONMENT_WITH_PROGRESS, /* *RET_TEXT, the caller's, says what is done now: one line */
  ENVIRONMENT_WITH_ROOM, /* zygotes of others like it that nobody uses are to end, since they take its room */
  ENVIRONMENT_WITH_READY,
  ENVIRONMENT_WITH_FAILED, /* ERROR is set */
};

/* Reads from FD the next that is said; waits for it. */
enum environment_with_said environment_with_read (int fd, char **ret_text, GError **error);

/* Removes all that are not in use. How many; *RET_BUSY are left. */
guint environment_with_clear (guint *ret_busy);

/* Keeps ENVIRONMENT from being removed while the descriptor is open: the caller's. -1 with ERROR. */
int environment_with_hold (const struct environment *environment, GError **error);
