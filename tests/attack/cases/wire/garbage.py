# Must end as crashed: a hundred thousand random bytes on the sandbox's socket.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, time

os.write(3, os.urandom(100_000))
time.sleep(1)
print("BREACH: the daemon listens on")
