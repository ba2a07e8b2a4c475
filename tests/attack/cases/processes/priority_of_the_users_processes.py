# Must be refused: setting the priority of every process of the same user at once.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: 1
# files: attempt.py
import os

import attempt

# By a way that does not exist, so that without the filter nobody on the host has to wait; EINVAL is the word of a kernel that
# took the call up.
attempt.all_refused({"all": lambda: os.setpriority(99, 0, 0)})
