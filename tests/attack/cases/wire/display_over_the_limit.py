# Must end as crashed: a display that says it is one byte longer than a display may be.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct, time

os.write(3, struct.pack("=II", 3, (16 << 20) + 1))
time.sleep(1)
print("BREACH: the daemon listens on")
