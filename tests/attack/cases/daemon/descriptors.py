# Must be refused: finding a descriptor that the run was not given.
# SPDX-License-Identifier: Apache-2.0
# stopped by: descriptors
import os

given = {0, 1, 2, 3}
directory = os.open("/proc/self/fd", os.O_RDONLY)
names = {int(name) for name in os.listdir(directory)} - given - {directory}
found = []
for number in names:
    try:
        found.append(os.readlink(f"/proc/self/fd/{number}"))
    except OSError:
        pass  # the one with which it was listed
kinds = [os.readlink(f"/proc/self/fd/{number}").partition(":")[0] for number in given]
found += [kind for kind in kinds if kind not in ("pipe", "socket", "/dev/null", "/memfd")]
print(f"BREACH {found}" if found else "held")
