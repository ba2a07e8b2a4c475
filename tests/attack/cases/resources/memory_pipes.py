# Must end as memory_limit: pipes that are filled and never read, in thirty processes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3
# limits: memory_bytes=16M
# not in a container: it takes less than the least memory with which a container starts
import os, signal

told, tell = os.pipe()
for _ in range(30):
    if os.fork() == 0:
        signal.alarm(60)
        kept = []
        for _ in range(20):
            kept.append(os.pipe())
            os.set_blocking(kept[-1][1], False)
            try:
                while True:
                    os.write(tell, bytes(os.write(kept[-1][1], bytes(65536)) // 4096))
            except BlockingIOError:
                pass
        signal.pause()
pages = 0
while pages < 32 << 8:
    pages += len(os.read(told, 65536))
print("BREACH: 32 MiB in pipes")
