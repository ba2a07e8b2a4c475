# Must be refused: more processes than the limit allows, each child waiting.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pids
# levels: 3 2 1
# limits: pids=30
import os, signal

children = 0
try:
    while children < 200:
        if os.fork() == 0:
            signal.pause()
        children += 1
except OSError:
    pass
print("held" if children < 100 else f"BREACH: {children} children")
