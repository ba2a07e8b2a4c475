# Must be refused: reading from the daemon what is not the run's own.
# SPDX-License-Identifier: Apache-2.0
# stopped by: descriptors
# cannot succeed: each sandbox has a socket of its own
# levels: 3 2 1
import os, socket

daemon = socket.socket(fileno=os.dup(3))
daemon.setblocking(False)
try:
    print("BREACH:", daemon.recv(100_000))
except BlockingIOError:
    print("held")
