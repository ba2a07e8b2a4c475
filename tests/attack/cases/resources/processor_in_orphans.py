# Must end as cpu_limit: processor time in orphans, which nobody of the run waits for.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cpu
# levels: 3 2
# limits: cpu_ms=200
import os, time

read, write = os.pipe()
for _ in range(30 * int(os.environ["ATTACK_PATIENCE"])):  # until it is seen from outside
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            while time.process_time() < 0.03:
                pass
            os.write(write, b"x")
        os._exit(0)
    os.waitpid(child, 0)
    os.read(read, 1)
print("BREACH: more than four times the processor time that was allowed")
