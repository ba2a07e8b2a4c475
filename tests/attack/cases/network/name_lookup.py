# Must be refused: looking up a host name.
# SPDX-License-Identifier: Apache-2.0
# stopped by: net + seccomp
# cannot succeed: without the layers it would ask a server of somebody else's
import socket

try:
    print("BREACH", socket.getaddrinfo("example.org", 80))
except OSError:
    print("held")
