# Must be refused: a child whose parent is the zygote, so that nobody counts its memory and time with the run's.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# whole: its parent is the zygote
import ctypes
import os
import platform

CLONE_PARENT, SIGCHLD = 0x8000, 17
libc = ctypes.CDLL(None, use_errno=True)
parent, here = os.getppid(), os.getpid()
pid = libc.syscall({"x86_64": 56, "aarch64": 220}[platform.machine()], CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)
if pid == 0:
    os.write(1, b"BREACH the child's parent is not the sandbox\n" if os.getppid() != here else b"")
    os._exit(0)
if pid > 0:
    print("BREACH made", pid)
else:
    print("held")
