# Must end as crashed: two processes that write frames through each other.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct

child = os.fork()
for _ in range(50):
    os.write(3, struct.pack("=II", 3, 50_000))
    os.write(3, bytes(40_000))
if child == 0:
    os._exit(0)
os._exit(0)  # what would follow is in the middle of a frame
