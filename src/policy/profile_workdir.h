/* SPDX-License-Identifier: Apache-2.0 */
/* [workdir] of profiles: what a run may do with a directory of the host, and which of the caller's
 * environment variables it gets. */
#pragma once

#include "policy/profile.h"

/* Whether PROFILE lets a run have a work directory with MODE: ADDER_ERROR_REFUSED names what it allows. */
gboolean profile_allows_workdir (const struct profile *profile, enum workdir_mode mode, GError **error);

/* The names in ENVIRONMENT (g_listenv) that may be passed on: those that the profile lists literally, or that
 * match a word with wildcards and do not look like a secret's. The caller's (g_strfreev). */
GStrv profile_pick_variables (const struct profile *profile, char *const *environment);
