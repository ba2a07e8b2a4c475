# Must be refused: listing the processes of the host and of other sandboxes in /proc.
# SPDX-License-Identifier: Apache-2.0
# stopped by: proc
# stopped by at 1: landlock
# whole: it lists those that play the others
import os

own = {1, os.getpid()}
try:
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in own]
except OSError:
    others = []
print(f"BREACH {others[:5]}" if others else "held")
