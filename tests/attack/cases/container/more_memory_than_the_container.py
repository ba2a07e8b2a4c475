# Must end as memory_limit: eating memory in a child that is less likely to be killed than the zygote, which has the same user id.
# SPDX-License-Identifier: Apache-2.0
# stopped by: container
# levels: container
# limits: wall_ms=30000
import os

# The least that one may give oneself without rights is what one was given; the kernel then chooses who is largest.
pid = os.fork()
if pid == 0:
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("-1000")
        print("BREACH nobody can kill it", flush=True)
    except OSError:
        pass
    eaten = []
    while True:
        eaten.append(bytearray(os.urandom(1)) * (8 << 20))
os.waitpid(pid, 0)
