# Must end as crashed: two processes that write frames through each other.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct, time

child = os.fork()
for _ in range(50):
    os.write(3, struct.pack("=II", 3, 50_000))
    os.write(3, os.urandom(40_000))
if child == 0:
    os._exit(0)
time.sleep(1)
print("BREACH: the daemon listens on")
