# Must be refused: setting the priority of every process of the same user at once.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: 1
# files: attempt.py
import os

import attempt

# To what it is already, so that without the filter nobody on the host has to wait. EACCES is the kernel's word for one that
# waits more than that: it took the call up.
nice = os.getpriority(os.PRIO_PROCESS, 0)
attempt.all_refused({"all": lambda: os.setpriority(os.PRIO_USER, 0, nice)}, attempt.REFUSALS - {"EACCES"})
