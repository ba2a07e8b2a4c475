# Must be refused: writing the id maps of its user namespace anew, and allowing setgroups.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest
# stopped by in a container: container
# levels: 3 2
# cannot succeed: the kernel takes a map once
# files: attempt.py
import os

import attempt


def write(name, text):
    file = os.open(f"/proc/self/{name}", os.O_WRONLY)
    return os.write(file, text)


attempt.all_refused(
    {
        "uid_map": lambda: write("uid_map", b"0 0 1"),
        "gid_map": lambda: write("gid_map", b"0 0 1"),
        "setgroups": lambda: write("setgroups", b"allow"),
    }
)
