# Must be refused: more programs at once than the limit of processes allows, started without a fork of Python.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pids
# levels: 3 2 1
# limits: pids=30
import os

programs = 0
try:
    while programs < 200:
        os.posix_spawn("/bin/sleep", ["sleep", "10"], {})
        programs += 1
except OSError:
    pass
print("held" if programs < 100 else f"BREACH: {programs} programs")
