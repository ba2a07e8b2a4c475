# Must be refused: tracing a child that asks for it, reading its memory and taking its descriptors.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import ctypes
import subprocess

import attempt

PTRACE_TRACEME, PTRACE_SEIZE, DONTNEED = 0, 0x4206, 4
# A program of its own can be looked into, as this process cannot; once it has said a word it is that program.
child = subprocess.Popen(["sh", "-c", "echo here; read word"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
buffer = ctypes.create_string_buffer(8)
# Its memory lies elsewhere: EFAULT says that the kernel looked.
vector = attempt.block(ctypes.addressof(buffer), 8, form="=QQ")
attempt.all_refused(
    {
        "ask": lambda: attempt.call("ptrace", PTRACE_TRACEME, 0, 0, 0),
        "seize": lambda: attempt.call("ptrace", PTRACE_SEIZE, child.pid, 0, 0),
        "read memory": lambda: attempt.call("process_vm_readv", child.pid, vector, 1, vector, 1, 0),
        "descriptor": lambda: attempt.call("pidfd_getfd", attempt.call("pidfd_open", child.pid, 0), 0, 0),
        "process_madvise": lambda: attempt.call("process_madvise", -1, vector, 1, DONTNEED, 0),
    }
)
