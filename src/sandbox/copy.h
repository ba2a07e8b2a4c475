/* SPDX-License-Identifier: Apache-2.0 */
/* Copies into a zygote's tree for files too small, or with too much around them, to bind. All take the
 * directory in which NAME is made. */
#pragma once

#include "base/fault.h"

/* The regular file behind SOURCE, at most 1 MiB. */
int copy_file (int source, int parent, const char *name, struct fault *fault);

/* A file that holds TEXT. */
int copy_text (const char *text, int parent, const char *name, struct fault *fault);

/* The directory behind SOURCE: regular files, directories and links (as links), at most 4096 entries, 8 MiB
 * and 16 levels. Unreadable files are left out, as is every other kind: /etc/ssl has a private part. */
int copy_tree (int source, int parent, const char *name, struct fault *fault);
