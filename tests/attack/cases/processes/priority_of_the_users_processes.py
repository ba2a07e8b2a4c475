# Must be refused: making every other process of the same user wait behind all others, by nice(2) for a whole user.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: 1
import os

bait = int(os.environ["BAIT_PID"])
try:
    os.setpriority(os.PRIO_USER, 0, 17)
except OSError:
    pass
try:
    changed = os.getpriority(os.PRIO_PROCESS, bait) == 17
except OSError:
    changed = False
print("BREACH" if changed else "held")
