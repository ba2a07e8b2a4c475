# Must be refused: listing the descriptors of a process of the host that has the same user id.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid/zygote-pid/proc
# stopped by at 1: landlock
import os

try:
    print("BREACH", os.listdir(f"/proc/{os.environ['BAIT_PID']}/fd"))
except OSError:
    print("held")
