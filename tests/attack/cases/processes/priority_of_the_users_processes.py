# Must be refused: setting the priority of every process of the same user at once.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: 1
import os

# To what it is already, so that without the filter nobody on the host has to wait.
nice = os.getpriority(os.PRIO_PROCESS, 0)
try:
    os.setpriority(os.PRIO_USER, 0, nice)
    print("BREACH")
except OSError:
    print("held")
