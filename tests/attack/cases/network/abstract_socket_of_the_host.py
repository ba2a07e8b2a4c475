# Must be refused: connecting to an abstract Unix socket of the host.
# SPDX-License-Identifier: Apache-2.0
# stopped by: net + landlock
# stopped by at 1: landlock + seccomp
import os
import socket

try:
    socket.socket(socket.AF_UNIX).connect("\0" + os.environ["BAIT_ABSTRACT"])
    print("BREACH connected")
except OSError:
    print("held")
