# Must be refused: connecting to the daemon's own socket, to run code with other limits.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# stopped by at 1: seccomp
# succeeds as: nobody user
import os
import socket

try:
    socket.socket(socket.AF_UNIX).connect(os.environ["BAIT_DAEMON_SOCKET"])
    print("BREACH connected")
except OSError:
    print("held")
