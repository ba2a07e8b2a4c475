/* SPDX-License-Identifier: Apache-2.0 */
/* The file tree of a zygote: a read-only root of tmpfs with the plan's entries, made once and shared by all
 * of its sandboxes. */
#pragma once

#include "base/fault.h"
#include "sandbox/plan.h"

/* Opens the sources of all steps, in the zygote's own mount namespace but still as the user who started it: a
 * root daemon's environment may be below a directory that only root may enter, unlike the mapped id. FDS has
 * room for plan->step_count; -1 stands for a step without source or a skipped one. On failure nothing is left
 * open. */
int tree_open_sources (const struct plan *plan, int *fds, struct fault *fault);

/* Builds the tree from PLAN and FDS (which are closed), makes it the root, and drops the old one. The current
 * directory is / afterwards. */
int tree_build (const struct plan *plan, int *fds, struct fault *fault);

/* Makes ROOT, a mount attached over the present root, read-only and the root, and drops what was below it.
 * The current directory is / afterwards. */
int tree_become_root (int root, struct fault *fault);
