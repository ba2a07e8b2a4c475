# Must be refused: more terminals than a sandbox may have, by every name and in a child as well.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# levels: 3 2
# not in a container: there are none; kernel/terminals tries to open one
import os

MOST = 32
kept = []


def open_more():
    for path in ("/dev/ptmx", "/dev/pts/ptmx"):
        try:
            while len(kept) < MOST:
                kept.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
        except OSError:
            pass


open_more()
child = os.fork()
if child == 0:
    open_more()
    os._exit(len(kept))
made = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print("held" if made < MOST else f"BREACH {made} terminals")
