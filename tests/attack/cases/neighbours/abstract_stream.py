# Must be refused: connecting to another sandbox by an abstract socket name.
# SPDX-License-Identifier: Apache-2.0
# stopped by: landlock
# stopped by at 1: seccomp + landlock
# levels: 3 2 1
import os, socket

try:
    socket.socket(socket.AF_UNIX).connect("\0stream-" + os.environ["ATTACK_TOKEN"])
    print("BREACH: connected")
except OSError:
    print("held")
