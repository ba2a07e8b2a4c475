# Must be refused: real-time scheduling, deadlines and other places in the queue before others.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
import os

import attempt

OTHER, IDLE_CLASS = 0, 3 << 13
nice = os.getpriority(os.PRIO_PROCESS, 0)
attributes = attempt.block(48, OTHER, 0, nice, 0, 0, 0, 0, form="=IIQiIQQQ")
attempt.all_refused(
    {
        "scheduler": lambda: os.sched_setscheduler(0, OTHER, os.sched_param(0)),
        "attributes": lambda: attempt.call("sched_setattr", 0, attributes, 0),
        "disks": lambda: attempt.call("ioprio_set", 1, 0, IDLE_CLASS),
    }
)
