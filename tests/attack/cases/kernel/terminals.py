# Must be refused: finding a terminal, a new one or that of the daemon.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# levels: 3 2
import os

found = [f"stream {number}" for number in range(3) if os.isatty(number)]
found += [path for path in ("/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/console") if os.path.exists(path)]
print(f"BREACH {found}" if found else "held")
