# Must be refused: opening a terminal, a new one or that of the daemon.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# toothless above 1: without the tree there are names of devices, but every mount is nodev
# stopped by at 1: landlock
# stopped by in a container: landlock
import os

found = [f"stream {number}" for number in range(3) if os.isatty(number)]
for path in ("/dev/ptmx", "/dev/pts/ptmx", "/dev/tty", "/dev/pts/0", "/dev/console"):
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        found.append(path)
    except OSError:
        pass
print(f"BREACH {found}" if found else "held")
