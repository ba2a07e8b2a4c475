# Must be refused: filling the zygote's pid namespace with more processes than `pids` allows.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pids
# levels: 3 2
# limits: pids=16
import os
import signal

children = []
while len(children) < 100:
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        signal.pause()
        os._exit(0)
    children.append(pid)
print(f"BREACH {len(children)} children" if len(children) >= 16 else "held", flush=True)
for pid in children:
    os.kill(pid, signal.SIGKILL)
