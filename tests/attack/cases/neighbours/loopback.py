# Must be refused: meeting another sandbox on the loopback interface.
# SPDX-License-Identifier: Apache-2.0
# stopped by: net + landlock + seccomp
# stopped by at 1: landlock + seccomp
# levels: 3 2 1
import os, socket

try:
    socket.create_connection(("127.0.0.1", 20000 + int(os.environ["ATTACK_TOKEN"][:4], 16) // 2), 1)
    print("BREACH: connected")
except OSError:
    print("held")
