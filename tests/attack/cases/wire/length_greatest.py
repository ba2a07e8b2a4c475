# Must end as crashed: a result that says it is four gigabytes long.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct, time

os.write(3, struct.pack("=II", 4, 0xFFFFFFFF))
time.sleep(1)
print("BREACH: the daemon listens on")
