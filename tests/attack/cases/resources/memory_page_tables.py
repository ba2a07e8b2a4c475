# Must end as memory_limit: a mapping of which one page in five hundred is read, so that it takes page tables and nothing else.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
import mmap, os, time

PAGES = 40_000  # of page tables, one for two megabytes each
kept = mmap.mmap(-1, PAGES << 21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)  # MAP_NORESERVE
kept.madvise(mmap.MADV_NOHUGEPAGE)
for page in range(PAGES):
    kept[page << 21]
time.sleep(int(os.environ["ATTACK_PATIENCE"]))  # seen from outside at intervals only, where the kernel does not count
print("BREACH: 160 MB of page tables")
