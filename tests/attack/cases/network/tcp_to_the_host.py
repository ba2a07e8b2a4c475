# Must be refused: a TCP connection to a port that a process of the host listens on.
# SPDX-License-Identifier: Apache-2.0
# stopped by: net + landlock + seccomp
# stopped by at 1: landlock + seccomp
import os
import socket

try:
    socket.create_connection(("127.0.0.1", int(os.environ["BAIT_PORT"])), 30)
    print("BREACH connected")
except OSError:
    print("held")
