# Must be refused: signalling the zygote, from which the other sandboxes are made.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid + landlock
# stopped by at 1: landlock
# stopped by in a container: landlock
# files: attempt.py
# whole: its parent is the zygote
import os
import signal

import attempt

zygote = os.getppid() or 4000000
attempt.all_refused(
    {
        "look": lambda: os.kill(zygote, 0),
        "continue": lambda: os.kill(zygote, signal.SIGCONT),
    },
    attempt.REFUSALS | {"ESRCH"},
)
