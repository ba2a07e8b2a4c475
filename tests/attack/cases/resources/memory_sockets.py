# Must end as memory_limit: pairs of sockets that are filled and never read, in thirty processes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3
# limits: memory_bytes=32M
import os, signal, socket

told, tell = os.pipe()
for _ in range(30):
    if os.fork() == 0:
        signal.alarm(60)
        kept = []
        for _ in range(20):
            kept += socket.socketpair()
            for end in kept[-2:]:
                end.setblocking(False)
                try:
                    while True:
                        os.write(tell, bytes(end.send(bytes(65536)) // 4096))
                except BlockingIOError:
                    pass
        signal.pause()
pages = 0
while pages < 64 << 8:
    pages += len(os.read(told, 65536))
print("BREACH: 64 MiB in sockets")
