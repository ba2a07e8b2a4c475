# Must end as memory_limit: byte arrays of five megabytes, each page touched.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
kept = []
while len(kept) < 26:
    kept.append(bytearray(b"x") * 5_000_000)
print("BREACH: 130 MB in byte arrays")
