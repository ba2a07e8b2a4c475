# Must be refused: attaching to a System V segment of the host that every user may use.
# SPDX-License-Identifier: Apache-2.0
# stopped by: ipc/zygote-ipc
# stopped by at 2: ipc/zygote-ipc + seccomp
# stopped by at 1: seccomp
# files: attempt.py
import os

import attempt

libc = attempt.libc


def attach():
    segment = libc.shmget(int(os.environ["BAIT_SHM"]), 0, 0)
    if segment >= 0:
        libc.shmat.restype = attempt.ctypes.c_void_p
        if libc.shmat(segment, None, 0) not in (None, 2**64 - 1):
            return "attached"
    raise OSError(attempt.ctypes.get_errno(), "")


attempt.all_refused({"attach": attach}, attempt.REFUSALS | {"ENOENT", "EIDRM"})
