# Must be refused: seeing another sandbox's processes in /proc.
# SPDX-License-Identifier: Apache-2.0
# stopped by: proc
# levels: 3 2
import os

names = []
for entry in os.listdir("/proc"):
    try:
        with open(f"/proc/{entry}/comm") as file:
            names.append(file.read().strip())
    except OSError:
        pass
print("BREACH: seen" if "V" + os.environ["ATTACK_TOKEN"][:14] in names else "held")
