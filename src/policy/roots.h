/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of this machine that remote callers may name: [http] roots of adder.conf, as
 * "data=/srv/data:read scratch=/srv/scratch:rw". A caller gives the name and a path below it, never a path of
 * the machine. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "policy/principal.h"

/* Whether the setting is valid, and each directory exists. For the start. */
gboolean roots_check (const struct config *config, GError **error);

/* Whether the configuration has a root of that NAME. */
gboolean root_exists (const struct config *config, const char *name);

/* Opens the folder PATH ("" or NULL: the root itself) below the root NAME for WHO, with O_PATH, for
 * adder_request_set_workdir. No link is followed and nothing outside of the root is reached. MODE ("read",
 * "overlay", "review", "rw") must be within what the root allows. *RET_PATH (the caller's) is for people:
 * "/NAME/PATH", and not its path on this machine. Returns the descriptor, the caller's, or -1 with ERROR:
 * NOT_FOUND (also for a root that WHO may not use), REFUSED, INVALID. */
int root_open (const struct config *config, const struct principal *who, const char *name, const char *path,
               const char *mode, char **ret_path, GError **error);

/* {"roots": [{"name", "mode"}]} of those that WHO may use; the caller's. */
json_t *roots_list (const struct config *config, const struct principal *who);
