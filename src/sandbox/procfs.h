/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's /proc: its processes, and three files that programs read for the machine's size. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Where a zygote's tree has the processor files of all its sandboxes: the daemon puts files with these names
 * there. */
#define PROCFS_STAT    "adder/proc/stat"
#define PROCFS_CPUINFO "adder/proc/cpuinfo"

/* The file in a workspace's root with the memory size, and its room in addition to the run's. */
#define PROCFS_MEMINFO      "meminfo"
#define PROCFS_MEMINFO_ROOM 512

/* Writes /proc/meminfo for a machine with BYTES of memory, with a fixed width for each number, and returns
 * its length. */
size_t procfs_meminfo (uint64_t bytes, char text[PROCFS_MEMINFO_ROOM]);

/* Makes a detached procfs. *RET_FD is -1 if the host masks its own. The zygote's must be visible.
 * *RET_CONTEXT, by which it is limited, goes to procfs_attach. */
int procfs_make (int *ret_fd, int *ret_context, struct fault *fault);

/* Puts the procfs at "proc" below ROOT, with what it says of memory (the path MEMINFO below ROOT) and
 * processors, and limits it to these and processes. Nothing of the sandbox's code may run yet. */
int procfs_attach (int fd, int context, int root, const char *meminfo, struct fault *fault);
