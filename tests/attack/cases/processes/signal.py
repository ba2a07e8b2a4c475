# Must be refused: signalling a process of the host that has the same user id.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid/zygote-pid + landlock
# stopped by at 1: landlock
# files: attempt.py
import os
import signal

import attempt

pid = int(os.environ["BAIT_PID"])
attempt.all_refused(
    {
        "look": lambda: os.kill(pid, 0),
        "stop": lambda: os.kill(pid, signal.SIGSTOP),
        "continue": lambda: os.kill(pid, signal.SIGCONT),
        "kill": lambda: os.kill(pid, signal.SIGKILL),
    },
    attempt.REFUSALS | {"ESRCH"},
)
