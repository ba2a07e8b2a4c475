# Must be refused: opening a terminal of the host's or of the daemon's: what can be opened is the sandbox's own.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# cannot succeed above 1: without the tree there are names of devices, but every mount is nodev, and /dev/pts is the sandbox's own
# stopped by at 1: landlock
# stopped by in a container: landlock
import os

found = [f"stream {number}" for number in range(3) if os.isatty(number)]
for path in ("/dev/tty", "/dev/pts/0", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/hvc0", "/dev/vcs"):
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        found.append(path)
    except OSError:
        pass
# Of a devpts of one's own there are eight; and the first has the number 0, whatever the host has open.
for path in ("/dev/ptmx", "/dev/pts/ptmx"):
    made = []
    try:
        while len(made) < 9:
            made.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
            if len(made) == 1 and sorted(os.listdir("/dev/pts")) != ["0", "ptmx"]:
                found.append(f"{path} beside {os.listdir('/dev/pts')}")
    except OSError:
        pass
    if len(made) == 9:
        found.append(f"{path} without a bound")
    for terminal in made:
        os.close(terminal)
print(f"BREACH {found}" if found else "held")
