# Must be refused: having a capability left that a program could be given.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities
# levels: 3 2
# files: attempt.py
import attempt

PR_CAPBSET_READ = 23
bounds = []
for capability in range(64):
    try:
        bounds.append(attempt.call("prctl", PR_CAPBSET_READ, capability, 0, 0, 0))
    except OSError:
        break
print(f"BREACH {bounds}" if any(bounds) or not bounds else "held")
