/* SPDX-License-Identifier: Apache-2.0 */
/* Where a sandbox wakes up. The thread that waits for it and the sandbox take turns: on one processor a turn
 * is a task switch. The kernel prefers to wake a task where it ran last, and waking an idle processor first
 * takes longer than all other work of sending, and once more for the answer. */
#pragma once

#include <glib.h>
#include <sched.h>

struct processor_pin {
  pid_t pid; /* 0: nothing is pinned */
  cpu_set_t before;
};

/* Makes the main thread of process PID, which sleeps, wake up on this thread's processor, until
 * processor_unpin restores its affinity. It resets that itself as well when it wakes up (runner/_adder.c),
 * before any user code can look. On failure nothing changes. */
void processor_pin (struct processor_pin *ret_pin, pid_t pid);
void processor_unpin (const struct processor_pin *pin);
