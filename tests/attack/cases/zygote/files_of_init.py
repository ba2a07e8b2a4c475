# Must be refused: reading /proc/1/mem, environ, root, cwd, fd and exe of the sandbox's init.
# SPDX-License-Identifier: Apache-2.0
# stopped by: dumpable + nest + landlock
# levels: 3 2
# files: attempt.py
import os

import attempt


def memory():
    with open("/proc/1/maps") as maps, open("/proc/1/mem", "rb") as memory:
        memory.seek(int(maps.readline().split("-")[0], 16))
        return memory.read(4)


attempt.all_refused(
    {
        "memory": memory,
        "environment": lambda: open("/proc/1/environ", "rb").read(),
        "root": lambda: os.listdir("/proc/1/root"),
        "directory": lambda: os.listdir("/proc/1/cwd"),
        "descriptors": lambda: os.listdir("/proc/1/fd"),
        "program": lambda: os.readlink("/proc/1/exe"),
    },
    attempt.REFUSALS | {"ENOENT"},
)
