# Must do no harm: takes memory until none is given, catches the error, and asks again and again.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
kept = []
for _ in range(10_000):
    try:
        kept.append(bytearray(b"x") * 5_000_000)
    except MemoryError:
        pass
    if len(kept) > 26:
        print("BREACH: 130 MB held")
        break
