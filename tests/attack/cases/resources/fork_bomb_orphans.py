# Must be refused: more processes than the limit allows, each orphaned at once so that nobody waits for it.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pids
# levels: 3 2 1
# limits: pids=30
import os, signal

told, tell = os.pipe()
for _ in range(200):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        try:
            if os.fork() == 0:
                signal.pause()
            os.write(tell, b"x")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
os.write(tell, b".")
orphans = len(os.read(told, 1000)) - 1
print("held" if orphans < 100 else f"BREACH: {orphans} orphans")
