# Must be refused: holding a capability, in any set.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities
with open("/proc/self/status") as file:
    sets = {line.split(":")[0]: int(line.split()[1], 16) for line in file if line.startswith("Cap")}
found = [name for name, value in sets.items() if value]
print(f"BREACH {found}" if found or len(sets) != 5 else "held")
