# Must be refused: making a socket of a family other than AF_UNIX: IPv4, IPv6, netlink, vsock and a score of others.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
import attempt

FAMILIES = {
    "IPv4 stream": (2, 1, 0),
    "IPv4 datagram": (2, 2, 0),
    "IPv6 stream": (10, 1, 0),
    "IPv6 datagram": (10, 2, 0),
    "netlink route": (16, 3, 0),
    "netlink audit": (16, 3, 9),
    "netlink generic": (16, 3, 16),
    "vsock": (40, 1, 0),
    "kernel crypto": (38, 5, 0),
    "Bluetooth": (31, 3, 0),
    "RDS": (21, 5, 0),
    "TIPC": (30, 1, 0),
    "KCM": (41, 2, 0),
    "QIPCRTR": (42, 2, 0),
    "SMC": (43, 1, 0),
    "AX.25": (3, 5, 0),
    "PPPoX": (24, 1, 0),
    "NFC": (39, 1, 0),
    "CAN": (29, 3, 1),
    "MCTP": (45, 2, 0),
    "family in the lower half of a register": ((1 << 32) | 2, 1, 0),
}
attempt.all_refused(
    {name: lambda numbers=numbers: attempt.call("socket", *numbers) for name, numbers in FAMILIES.items()}
)
