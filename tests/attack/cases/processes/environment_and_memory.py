# Must be refused: reading the environment, the memory and the directories of a process of the host that has the same user id.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid/zygote-pid/proc + landlock + nest
# stopped by at 1: landlock
# cannot succeed above 1: a process of the zygote's user namespace has no rights over one of the host's
# files: attempt.py
import os

import attempt

base = f"/proc/{os.environ['BAIT_PID']}"


def memory():
    with open(f"{base}/maps") as maps, open(f"{base}/mem", "rb") as memory:
        memory.seek(int(maps.readline().split("-")[0], 16))
        return memory.read(4)


attempt.all_refused(
    {
        "environment": lambda: open(f"{base}/environ", "rb").read(),
        "memory": memory,
        "root": lambda: os.listdir(f"{base}/root"),
        "directory": lambda: os.listdir(f"{base}/cwd"),
    },
    attempt.REFUSALS | {"ENOENT"},
)
