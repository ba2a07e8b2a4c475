# Must be refused: reading another sandbox's memory through /proc.
# SPDX-License-Identifier: Apache-2.0
# stopped by: dumpable + landlock
# cannot succeed: without those its own /proc still shows no other sandbox; neighbours/processes_of_others.py tries that
# levels: 3 2
import os

found = []
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in (1, os.getpid()):
        try:
            with open(f"/proc/{name}/mem", "rb") as file:
                found.append(name)
        except OSError:
            pass
print(f"BREACH: opened the memory of {found}" if found else "held")
