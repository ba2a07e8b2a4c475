# Must be refused: making and cloning mounts by fsopen, open_tree and fspick.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import os

import attempt

HERE = -100
CLONE = 1
work = os.getcwd().encode()
attempt.all_refused(
    {
        "fsopen": lambda: attempt.call("fsopen", b"tmpfs", 0),
        "clone": lambda: attempt.call("open_tree", HERE, work, CLONE),
        "fspick": lambda: attempt.call("fspick", HERE, work, 0),
    }
)
