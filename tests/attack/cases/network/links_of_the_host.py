# Must be refused: learning of the host's network interfaces by netlink.
# SPDX-License-Identifier: Apache-2.0
# stopped by: net + seccomp
# stopped by at 1: seccomp
import socket
import struct

RTM_GETLINK, DUMP = 18, 0x301
try:
    asked = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    asked.sendto(struct.pack("=IHHIIBxHiII", 32, RTM_GETLINK, DUMP, 1, 0, 0, 0, 0, 0, 0), (0, 0))
    answer = asked.recv(1 << 16)
except OSError:
    answer = b""
names = []
while len(answer) >= 16:  # each message: its length first; the name is attribute 3
    length = struct.unpack_from("=I", answer)[0]
    at = 32
    while at + 4 <= length:
        size, kind = struct.unpack_from("=HH", answer, at)
        if kind == 3:
            names.append(answer[at + 4 : at + size - 1].decode())
        at += max(4, (size + 3) & ~3)
    answer = answer[(length + 3) & ~3 :] if length else b""
print(f"BREACH {names}" if set(names) - {"lo"} else "held")
