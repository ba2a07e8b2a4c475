# Must be refused: tracing the init of the sandbox, reading its memory and taking its descriptors.
# SPDX-License-Identifier: Apache-2.0
# stopped by: dumpable + nest + landlock + seccomp
# stopped by in a container: container + dumpable + landlock + seccomp
# levels: 3 2
# files: attempt.py
import ctypes

import attempt

PTRACE_SEIZE, PTRACE_ATTACH = 0x4206, 16
vector = attempt.block(ctypes.addressof(attempt.room(8)), 8, form="=QQ")
attempt.all_refused(
    {
        "seize": lambda: attempt.call("ptrace", PTRACE_SEIZE, 1, 0, 0),
        "attach": lambda: attempt.call("ptrace", PTRACE_ATTACH, 1, 0, 0),
        "read memory": lambda: attempt.call("process_vm_readv", 1, vector, 1, vector, 1, 0),
        "write memory": lambda: attempt.call("process_vm_writev", 1, vector, 1, vector, 1, 0),
        "descriptor": lambda: attempt.call("pidfd_getfd", attempt.call("pidfd_open", 1, 0), 0, 0),
        "kcmp": lambda: attempt.call("kcmp", 1, 2, 0, 0, 0),
    }
)
