# Must be refused: opening a POSIX message queue of the host that every user may use.
# SPDX-License-Identifier: Apache-2.0
# stopped by: ipc/zygote-ipc + seccomp + landlock
# stopped by at 1: seccomp + landlock
# files: attempt.py
import os

import attempt

name = os.environ["BAIT_QUEUE"].lstrip("/").encode()
attempt.all_refused(
    {"open": lambda: attempt.call("mq_open", name, os.O_RDWR, 0, 0)}, attempt.REFUSALS | {"ENOENT"}
)
