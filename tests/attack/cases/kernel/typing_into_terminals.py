# Must be refused: TIOCSTI and its like, on a terminal where there are any, also with bits set that the kernel does not look at.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
import os

import attempt

COMMANDS = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D}
attempts = {}


def add(where, terminal, commands):
    for name in commands:
        command = COMMANDS[name]
        attempts[f"{name} of {where}"] = lambda command=command: attempt.call("ioctl", terminal, command, attempt.room(8))
        attempts[f"{name} of {where}, with upper bits"] = lambda command=command: attempt.call(
            "ioctl", terminal, command | 1 << 32, attempt.room(8)
        )


add("standard output", 1, COMMANDS)
try:
    _, own = os.openpty()
except OSError:
    pass
else:
    add("a terminal", own, ["TIOCLINUX", "TIOCSETD"])  # the others this kernel refuses there by itself
attempt.all_refused(attempts)
