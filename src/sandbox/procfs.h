/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's /proc: its processes, and three files that programs ask how large the machine is. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Where a zygote's tree has what all of its sandboxes are told of processors: the daemon puts files with
 * these names there. */
#define PROCFS_STAT    "adder/proc/stat"
#define PROCFS_CPUINFO "adder/proc/cpuinfo"

/* The file in a workspace's root that says how much memory there is, and its room beside what is the run's.
 */
#define PROCFS_MEMINFO      "meminfo"
#define PROCFS_MEMINFO_ROOM 512

/* Writes what /proc/meminfo says where there are BYTES of memory, as many characters for each number, and
 * returns how many. */
size_t procfs_meminfo (uint64_t bytes, char text[PROCFS_MEMINFO_ROOM]);

/* Makes a procfs, mounted nowhere yet. *RET_FD is -1 where the host masks its own. The zygote's must be in
 * sight. *RET_CONTEXT, by which it is limited, goes to procfs_attach. */
int procfs_make (int *ret_fd, int *ret_context, struct fault *fault);

/* Puts the procfs at "proc" below ROOT, with what it says of memory (the path MEMINFO below ROOT) and
 * processors, and limits it to these and processes. Nothing of the sandbox's code may run yet. */
int procfs_attach (int fd, int context, int root, const char *meminfo, struct fault *fault);
