/* SPDX-License-Identifier: Apache-2.0 */
/* The memory available to this process and its children. */
#pragma once

#include <stdint.h>

/* The host's memory, or the limit of the control groups that this process is in, whichever is less, as at the
 * first call: three defaults of the configuration ask, and the answer takes 50 system calls. In bytes. */
uint64_t host_memory_bytes (void);

/* The least number in FILE of the group DIRECTORY and of the groups above it; UINT64_MAX without any. */
uint64_t host_memory_limit (int directory, const char *file);
