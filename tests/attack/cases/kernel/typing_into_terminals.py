# Must be refused: TIOCSTI and its like, also with bits set that the kernel does not look at.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
import attempt

COMMANDS = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D}
attempts = {}
for name, command in COMMANDS.items():
    attempts[name] = lambda command=command: attempt.call("ioctl", 1, command, attempt.room(8))
    attempts[f"{name} with upper bits"] = lambda command=command: attempt.call(
        "ioctl", 1, command | 1 << 32, attempt.room(8)
    )
attempt.all_refused(attempts)
