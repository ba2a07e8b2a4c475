/* SPDX-License-Identifier: Apache-2.0 */
/* [workdir] of profiles: what a run may do with a directory of the host, and which of the caller's
 * environment variables come along. */
#pragma once

#include "policy/profile.h"

/* Whether PROFILE lets a run have a work directory in the way of MODE: ADDER_ERROR_REFUSED names what it
 * allows. */
gboolean profile_allows_workdir (const struct profile *profile, enum workdir_mode mode, GError **error);

/* Of the names in ENVIRONMENT (g_listenv) those that may pass: a name that the profile lists as it stands, or
 * one that a word with wildcards matches and that does not look like a secret's. The caller's (g_strfreev).
 */
GStrv profile_pick_variables (const struct profile *profile, char *const *environment);
