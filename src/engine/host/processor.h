/* SPDX-License-Identifier: Apache-2.0 */
/* Where a sandbox wakes up. Who waits for it and the sandbox take turns: on one processor a turn is a switch
 * of tasks. The kernel likes to wake a task where it ran last, and a processor that sleeps there has to be
 * woken first, which takes longer than all else that sending does, and once more for the answer. */
#pragma once

#include <glib.h>
#include <sched.h>

struct processor_pin {
  pid_t pid; /* 0: nothing is pinned */
  cpu_set_t before;
};

/* The main thread of process PID, which sleeps, wakes up on the processor of this thread, until
 * processor_unpin: then it may run wherever it might before. It sees to that itself as well when it wakes up
 * (runner/_adder.c), before any code of a user can look. Where that cannot be had, nothing changes. */
void processor_pin (struct processor_pin *ret_pin, pid_t pid);
void processor_unpin (const struct processor_pin *pin);
