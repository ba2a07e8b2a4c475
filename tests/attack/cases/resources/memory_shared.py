# Must end as memory_limit: shared anonymous mappings, each page written.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
import mmap, os, time

kept = []
while len(kept) < 13:
    block = mmap.mmap(-1, 10_000_000)
    block.write(b"x" * 10_000_000)
    kept.append(block)
time.sleep(int(os.environ["ATTACK_PATIENCE"]))  # seen from outside at intervals only, where the kernel does not count
print("BREACH: 130 MB in shared mappings")
