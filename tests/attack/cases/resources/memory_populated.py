# Must end as memory_limit: anonymous mappings that the kernel fills at once.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
import mmap

kept = []
while len(kept) < 13:
    kept.append(mmap.mmap(-1, 10_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE))
print("BREACH: 130 MB mapped and filled")
