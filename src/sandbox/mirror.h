/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of one directory of a tree in another directory, to make a tree that differs in a few places:
 * directories and files as clones of their mounts, links as links. */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

/* Puts all entries of the directory FROM into the attached directory TO, except the names in the
 * NULL-terminated list BUT. A clone includes the mounts below it, and keeps their restrictions. */
int mirror_all (int from, int to, const char *const *but, struct fault *fault);
