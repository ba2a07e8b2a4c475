# Must be refused: taking capabilities back by capset.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import attempt

header = attempt.block(0x20080522, 0, form="=Ii")
CHOWN = 1
attempt.all_refused(
    {"capset": lambda: attempt.call("capset", header, attempt.block(CHOWN, CHOWN, 0, 0, 0, 0, form="=6I"))}
)
