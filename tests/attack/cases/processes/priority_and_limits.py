# Must be refused: changing priority, processors and resource limits of a process of the host that has the same user id.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid/zygote-pid
# stopped by at 1: seccomp
# files: attempt.py
import os
import resource

import attempt

pid = int(os.environ["BAIT_PID"])
attempt.all_refused(
    {
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        "processors": lambda: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}),
        "limits": lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)),
    },
    attempt.REFUSALS | {"ESRCH"},
)
