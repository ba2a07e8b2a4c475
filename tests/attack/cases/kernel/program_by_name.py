# Must be refused: shedding filters and taking rights back by executing a program of the tree.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
import subprocess
import sys

CODE = """
import ctypes
libc = ctypes.CDLL(None)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
print(libc.prctl(39, 0, 0, 0, 0), libc.prctl(21, 0, 0, 0, 0))
"""
# PR_GET_NO_NEW_PRIVS and PR_GET_SECCOMP: 1 and 2 (a filter).
told = subprocess.run([sys.executable, "-I", "-S", "-c", CODE], capture_output=True, text=True)
print("held" if told.stdout == "1 2\n" else f"BREACH {told}")
