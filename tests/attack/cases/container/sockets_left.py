# Must be refused: connecting to any socket that can be found, the one by which the zygote came to its descriptors among them.
# SPDX-License-Identifier: Apache-2.0
# stopped by: container
# levels: container
import os
import socket
import stat

found = []
for base, directories, names in os.walk("/"):
    directories[:] = [name for name in directories if os.path.join(base, name) not in ("/proc", "/usr", "/sys")]
    for name in names:
        path = os.path.join(base, name)
        try:
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                found.append(path)
        except OSError:
            pass
for path in ["/run/adder/join", *found]:
    for kind in (socket.SOCK_SEQPACKET, socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            socket.socket(socket.AF_UNIX, kind).connect(path)
            print("BREACH connected to", path)
        except OSError:
            pass
print(f"BREACH there are sockets: {found}" if found else "held")
