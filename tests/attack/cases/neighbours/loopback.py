# Must be refused: meeting another sandbox on the loopback interface.
# SPDX-License-Identifier: Apache-2.0
# stopped by: net + landlock + seccomp
# stopped by at 1: landlock + seccomp
# levels: 3 2 1
import os, socket

ADDRESS = ("127." + ".".join(str(byte) for byte in bytes.fromhex(os.environ["ATTACK_TOKEN"])[:3]), 20000)
try:
    socket.create_connection(ADDRESS, 30)
    print("BREACH: connected")
except OSError:
    print("held")
