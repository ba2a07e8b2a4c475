# Must be refused: opening the POSIX shared memory of another sandbox by its name.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# cannot succeed: each sandbox has a file system of its own there, which no switch takes away
# levels: 3 2
import os

try:
    with open("/dev/shm/" + os.environ["ATTACK_TOKEN"], "r+") as file:
        file.write("yours")
    print("BREACH: opened")
except OSError:
    print("held")
