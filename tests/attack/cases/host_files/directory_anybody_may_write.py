# Must be refused: making a file, a directory, a link, a FIFO or a socket in a directory of the host that every user may write to.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree + readonly + landlock
# stopped by at 1: landlock
# files: attempt.py
import os
import socket

import attempt

place = os.environ["BAIT_DIRECTORY"]
open("own", "w").close()
attempt.all_refused(
    {
        "file": lambda: open(f"{place}/file", "x").close(),
        "directory": lambda: os.mkdir(f"{place}/directory"),
        "symbolic link": lambda: os.symlink("/etc/passwd", f"{place}/link"),
        "FIFO": lambda: os.mkfifo(f"{place}/fifo"),
        "socket": lambda: socket.socket(socket.AF_UNIX).bind(f"{place}/socket"),
    },
    attempt.REFUSALS | {"ENOENT", "EROFS"},
)
