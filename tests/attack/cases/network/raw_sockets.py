# Must be refused: a raw socket, a packet socket and other sockets that see or forge what others send.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import attempt

FAMILIES = {
    "raw IPv4": (2, 3, 1),
    "raw IPv6": (10, 3, 58),
    "packet": (17, 3, 0x0300),
    "packet datagram": (17, 2, 0x0300),
    "PF_KEY": (15, 3, 2),
    "XDP": (44, 3, 0),
}
attempt.all_refused(
    {name: lambda numbers=numbers: attempt.call("socket", *numbers) for name, numbers in FAMILIES.items()}
)
