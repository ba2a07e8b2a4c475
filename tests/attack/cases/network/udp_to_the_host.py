# Must be refused: a datagram to a port of the host, as one asks a name server.
# SPDX-License-Identifier: Apache-2.0
# stopped by: net + seccomp
# stopped by at 1: seccomp
# stopped by in a container: seccomp
import os
import socket

QUERY = b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03org\x00\x00\x01\x00\x01"
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(QUERY, ("127.0.0.1", int(os.environ["BAIT_UDP_PORT"])))
    print("BREACH sent")
except OSError:
    print("held")
