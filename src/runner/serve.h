/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a zygote after it has loaded everything: it makes sandboxes when it is told to, reaps them,
 * reports how they ended, and dies with its control socket. */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "runner/spawn.h"

/* Makes sure that the zygote can be forked safely, takes over the descriptors of enum wire_launch_fd, and
 * fills ZYGOTE except for its hooks and its isolation, which are set already. Refuses when there is more than
 * one thread, or a descriptor that nobody knows of: a closed one would crash every sandbox, an open one lead
 * out of it. */
int serve_prepare (struct zygote *zygote, struct fault *fault);

/* Sends WIRE_SERVING with INFO and serves. Returns 0 in each sandbox, with *RET_SANDBOX; in the zygote it
 * does not return, unless with a negative errno and FAULT before the first request. */
int serve (const struct zygote *zygote, const void *info, size_t size, struct sandbox_self *ret_sandbox,
           struct fault *fault);

/* Tells the daemon FAULT, in place of an answer. */
void serve_refuse (const struct fault *fault);

/* The number of threads of the calling process, or a negative errno. */
int serve_count_threads (void);
