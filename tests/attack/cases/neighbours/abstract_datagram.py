# Must be refused: sending to another sandbox by an abstract socket name, without a connection.
# SPDX-License-Identifier: Apache-2.0
# stopped by: landlock
# stopped by at 1: seccomp + landlock
# levels: 3 2 1
import os, socket

try:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "\0datagram-" + os.environ["ATTACK_TOKEN"])
    print("BREACH: sent")
except OSError:
    print("held")
