# Must be refused: tracing the zygote, reading its memory and taking its descriptors.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid + nest + capabilities + landlock + seccomp
# stopped by at 1: landlock + seccomp
# stopped by in a container: dumpable + landlock + seccomp
# files: attempt.py
# whole: its parent is the zygote
import ctypes
import os

import attempt

# 0 where the zygote lies outside of our pid namespace.
zygote = os.getppid() or 4000000
PTRACE_SEIZE = 0x4206
vector = attempt.block(ctypes.addressof(attempt.room(8)), 8, form="=QQ")
attempt.all_refused(
    {
        "seize": lambda: attempt.call("ptrace", PTRACE_SEIZE, zygote, 0, 0),
        "read memory": lambda: attempt.call("process_vm_readv", zygote, vector, 1, vector, 1, 0),
        "descriptor": lambda: attempt.call("pidfd_getfd", attempt.call("pidfd_open", zygote, 0), 0, 0),
    },
    attempt.REFUSALS | {"ESRCH"},
)
