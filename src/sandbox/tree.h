/* SPDX-License-Identifier: Apache-2.0 */
/* The file tree of a zygote: a read-only root of tmpfs with what the plan names, made once and shared by all
 * of its sandboxes. */
#pragma once

#include "base/fault.h"
#include "sandbox/plan.h"

/* Opens the sources of all steps, in the zygote's own mount namespace but still as the user who started it: a
 * root daemon's environment may lie below a directory that only root may enter, and the mapped id could not.
 * FDS has room for plan->step_count; -1 stands for a step without source or one that is skipped. On failure
 * nothing is left open. */
int tree_open_sources (const struct plan *plan, int *fds, struct fault *fault);

/* Builds the tree out of PLAN and FDS (which are closed), makes it the root, and lets go of the old one. The
 * current directory is / afterwards. */
int tree_build (const struct plan *plan, int *fds, struct fault *fault);

/* Makes ROOT, a mount that is attached over the present root, read-only and the root, and lets go of what was
 * below it. The current directory is / afterwards. */
int tree_become_root (int root, struct fault *fault);
