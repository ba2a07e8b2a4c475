# Must be refused: connecting to an abstract Unix socket of another sandbox.
# SPDX-License-Identifier: Apache-2.0
# stopped by: landlock
# levels: 3 2
import os
import socket

try:
    socket.socket(socket.AF_UNIX).connect("\0adder-victim-" + os.environ["ATTACK_TOKEN"])
    print("BREACH connected")
except OSError:
    print("held")
