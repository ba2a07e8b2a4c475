# Must be refused: finding what /proc has beside processes: sysctls, kernel symbols, memory, keys, timers.
# SPDX-License-Identifier: Apache-2.0
# stopped by: proc
# stopped by at 1: landlock
# not in a container: all of /proc is there; container/files_of_the_kernel asks for what tells of the host
import os

try:
    names = [name for name in os.listdir("/proc") if not name.isdigit() and name not in ("self", "thread-self")]
except OSError:
    names = []
print(f"BREACH {names}" if names else "held")
