# Must do no harm: five threads that take memory until they die of it.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
import threading

kept = []


def take():
    while len(kept) < 130:
        kept.append(bytearray(b"x") * 1_000_000)


threads = [threading.Thread(target=take) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if len(kept) >= 130:
    print("BREACH: 130 MB in five threads")
