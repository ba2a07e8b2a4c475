/* SPDX-License-Identifier: Apache-2.0 */
/* Environments with added packages, for `--with` of a run. Each is derived from an environment, its base: a
 * virtual environment whose packages come first, followed by those of the base. pip makes it once, under a
 * name that is a digest of the base's present state and of the request, so that equal requests share it. It
 * is found, listed, shown and removed like any other.
 *
 * A request only names packages of the index that pip is configured for: no options, paths or URLs. Only
 * wheels are installed, unless the configuration says otherwise, and nothing that was installed runs outside
 * a sandbox: the new interpreter is not asked for its needs, and modules are not tried. */
#pragma once

#include "common/config.h"
#include "engine/host/environment.h"

/* The beginning of their names. */
#define ENVIRONMENT_WITH "with-"
gboolean environment_with_is_name (const char *name);

/* REQUIREMENTS in canonical form, sorted, each once. NULL with ADDER_ERROR_INVALID: one is invalid, or there
 * are more or longer ones than CONFIG allows. g_strfreev. */
GStrv environment_with_parse (const char *const *requirements, const struct config *config, GError **error);

/* The environment of BASE with the packages REQUIREMENTS, as environment_with_parse gives them. Checks the
 * base. The name, the caller's; *RET_READY says whether it exists, and then it counts as used now. NULL with
 * ERROR: there is no such base. */
char *environment_with_find (const char *base, const char *const *requirements, const struct config *config,
                             gboolean *ret_ready, GError **error);

/* What to make: NAME, as environment_with_find gives it, for OWNER (NULL: nobody), against whose limits it
 * counts. */
struct environment_with_order {
  const char *name, *base, *owner;
  const char *const *requirements;
};

/* Makes it, or joins whoever makes it. Its messages are read from the descriptor, the caller's; closing that
 * stops the wait, and a build once begun continues for later callers. -1 with ERROR, ADDER_ERROR_BUSY when
 * too many are being made. */
int environment_with_start (const struct environment_with_order *order, const struct config *config,
                            GError **error);

enum environment_with_said {
  ENVIRONMENT_WITH_PROGRESS, /* *RET_TEXT, the caller's, is the current step: one line */
  ENVIRONMENT_WITH_ROOM,     /* end unused zygotes of its kind, since they take its room */
  ENVIRONMENT_WITH_READY,
  ENVIRONMENT_WITH_FAILED, /* ERROR is set */
};

/* Waits for the next message from FD. */
enum environment_with_said environment_with_read (int fd, char **ret_text, GError **error);

/* Removes all that are not in use. Returns how many; *RET_BUSY are left. */
guint environment_with_clear (guint *ret_busy);

/* Keeps ENVIRONMENT from being removed while the descriptor is open: the caller's. -1 with ERROR. */
int environment_with_hold (const struct environment *environment, GError **error);
