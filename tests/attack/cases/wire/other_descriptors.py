# Must be refused: finding descriptors that are not the sandbox's: the control socket, exit pipes, those of neighbours.
# SPDX-License-Identifier: Apache-2.0
# stopped by: descriptors
# levels: 3 2 1
import os

found = []
for number in range(4, 4096):
    try:
        os.fstat(number)
        found.append(number)
    except OSError:
        pass
print(f"BREACH: {found}" if found else "held")
