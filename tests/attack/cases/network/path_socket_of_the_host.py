# Must be refused: connecting to a Unix socket of the host that every user may connect to.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# stopped by at 1: seccomp
import os
import socket

try:
    socket.socket(socket.AF_UNIX).connect(os.environ["BAIT_SOCKET"])
    print("BREACH connected")
except OSError:
    print("held")
