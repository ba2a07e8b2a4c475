# Must be refused: changing mode, owner, times and attributes of a file of the host that belongs to the sandbox's own user.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree + readonly
# stopped by at 1: seccomp
import os

path = os.environ["BAIT_FILE"]
try:
    before = os.stat(path)
except OSError:
    before = None


def tried(change, *arguments):
    try:
        change(path, *arguments)
    except OSError:
        pass


tried(os.chmod, 0o640)
tried(os.utime, (1, 1))
tried(os.setxattr, "user.attack", b"x")
# A call may be answered as if it had been made: what counts is the file.
try:
    after = os.stat(path)
except OSError:
    after = None
changed = before != after or (after and "user.attack" in os.listxattr(path))
print("BREACH" if changed else "held")
