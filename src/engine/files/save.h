/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a run into a directory of the caller's: the names are hostile code's, and what lies in the
 * directory is the caller's, or perhaps another's trap. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/files/artifact.h"

/* Writes ARTIFACTS (struct artifact) of the workspace ROOT_FD beneath the directory TO. Each part of a name
 * is made fit as `adder file get` does (common/file_name.h), no link is followed, and without FORCE nothing
 * that is there is replaced. All is looked at first: when one file cannot be written, none is. Each file is
 * written whole or not at all.
 *
 * {"written": [{"name", "path"}], "not_written": [{"name", "path", "reason"}]}, PATH below TO; the caller's.
 * SAVE_THERE is the reason where FORCE would help; SAVE_OTHERS where nothing but other files is in the way.
 */
#define SAVE_THERE  "it is there already"
#define SAVE_OTHERS "none is, since others cannot be"
json_t *save_files (int root_fd, const GPtrArray *artifacts, int to, gboolean force);

/* Whether all that TOLD, which save_files returned, is about was written; ADDER_ERROR_FAILED names the first
 * that was not, with a reason of its own. */
gboolean save_check (const json_t *told, GError **error);
