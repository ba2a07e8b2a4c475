# Must be refused: taking back that executing a program gives no new rights (no_new_privs).
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# cannot succeed: the kernel has no call that unsets it
# files: attempt.py
import attempt

SET, GET = 38, 39
try:
    attempt.call("prctl", SET, 0, 0, 0, 0)
except OSError:
    pass
print("held" if attempt.call("prctl", GET, 0, 0, 0, 0) == 1 else "BREACH")
