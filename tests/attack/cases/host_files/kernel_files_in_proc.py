# Must be refused: finding what /proc has beside processes: sysctls, kernel symbols, memory, keys, timers.
# SPDX-License-Identifier: Apache-2.0
# stopped by: proc
# levels: 3 2
import os

names = [name for name in os.listdir("/proc") if not name.isdigit() and name not in ("self", "thread-self")]
print(f"BREACH {names}" if names else "held")
