# Must be refused: reading memory, environment and directories of the zygote in /proc.
# SPDX-License-Identifier: Apache-2.0
# stopped by: proc + nest + capabilities + landlock
# stopped by in a container: dumpable + landlock
# levels: 3 2
# files: attempt.py
import os

import attempt


def zygote():
    """The process that is Python and not ourselves: pid 1 of the zygote's namespace, where that one is seen."""
    if "python" not in open("/proc/1/comm").read():
        raise FileNotFoundError(2, "not in sight")
    return "/proc/1"


def memory():
    with open(f"{zygote()}/maps") as maps, open(f"{zygote()}/mem", "rb") as memory:
        memory.seek(int(maps.readline().split("-")[0], 16))
        return memory.read(4)


attempt.all_refused(
    {
        "memory": memory,
        "environment": lambda: open(f"{zygote()}/environ", "rb").read(),
        "root": lambda: os.listdir(f"{zygote()}/root"),
        "program": lambda: os.readlink(f"{zygote()}/exe"),
    },
    attempt.REFUSALS | {"ENOENT"},
)
