/* SPDX-License-Identifier: Apache-2.0 */
/* A work directory by its own absolute path, beside /work. It is a link to /work: with two mounts of one
 * directory, a file could not be renamed from one name of it to the other. The zygote's tree is every
 * sandbox's and cannot be written to, so the link stands in a root of this sandbox's own. */
#pragma once

#include "base/fault.h"

/* The first of two steps of mounts_enter, before all else is mounted: a root that has the link PATH and what
 * the zygote's has. Does nothing where something of the host is mounted at PATH or above it. PATH is
 * absolute, without links. */
int own_path_enter (const char *path, struct fault *fault);

/* The last step, for what the first one left: makes the link in the sandbox's /tmp, and mounts /work over a
 * directory that an environment has brought along. Does nothing where PATH cannot be either. */
int own_path_place (const char *path, struct fault *fault);
