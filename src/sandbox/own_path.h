/* SPDX-License-Identifier: Apache-2.0 */
/* A work directory at its own absolute path, beside /work. It is a link to /work: with two mounts of one
 * directory, a file could not be renamed between them. All sandboxes share the zygote's read-only tree, so
 * the link is in a root of this sandbox's own. */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

/* Whether PATH needs a root of its own: not if something of the host is mounted at PATH or above it, and not
 * in /tmp, which is the sandbox's anyway. PATH is absolute, without links. */
int own_path_needs_root (const char *path, bool *ret_needs, struct fault *fault);

/* Makes that root, with the link PATH, what the zygote's has, and a new /proc where there can be one
 * (*RET_FRESH_PROC), and moves the workspace there, from the zygote's /work. What is in the old root goes
 * with it, whatever was mounted on /proc and /tmp, in one step: the kernel makes us wait for each. */
int own_path_enter (const char *path, int workspace_fd, bool *ret_fresh_proc, struct fault *fault);

/* The last step, for a path without such a root: makes the link in the sandbox's /tmp, and mounts /work over
 * a directory that an environment has brought along. Does nothing where PATH cannot be either. */
int own_path_place (const char *path, struct fault *fault);
