# Must end as cpu_limit: processor time in children that live for a moment each.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cpu
# levels: 3 2 1
# limits: cpu_ms=200
import os, time

for _ in range(30 * int(os.environ["ATTACK_PATIENCE"])):  # until it is seen from outside
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.03:
            pass
        os._exit(0)
    os.waitpid(child, 0)
print("BREACH: more than four times the processor time that was allowed")
