# Must be refused: tracing a process of the host that has the same user id, and taking its descriptors.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid/zygote-pid + landlock + nest + seccomp
# stopped by at 1: landlock + seccomp
# cannot succeed above 1: a process of the zygote's user namespace has no rights over one of the host's
# files: attempt.py
import os

import attempt

pid = int(os.environ["BAIT_PID"])
PTRACE_SEIZE = 0x4206
attempt.all_refused(
    {
        "ptrace": lambda: attempt.call("ptrace", PTRACE_SEIZE, pid, 0, 0),
        "descriptor": lambda: attempt.call("pidfd_getfd", attempt.call("pidfd_open", pid, 0), 0, 0),
        "kcmp": lambda: attempt.call("kcmp", os.getpid(), pid, 0, 0, 0),
    },
    attempt.REFUSALS | {"ESRCH"},
)
