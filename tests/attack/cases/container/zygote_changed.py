# Must be refused: changing limits, processors and priority of the zygote, which has the same user id and is pid 1.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: container
# files: attempt.py
import os
import resource

import attempt

attempt.all_refused(
    {
        "limits": lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (64, 64)),
        "processors": lambda: os.sched_setaffinity(1, {min(os.sched_getaffinity(0))}),
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
        "priority of all": lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
        "disks": lambda: attempt.call("ioprio_set", 1, 1, 3 << 13),
    }
)
