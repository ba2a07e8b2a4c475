# Must be refused: finding what others left in memory: fresh pages, pipes, files without a name and new files.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# cannot succeed: the kernel gives out zeroes
# levels: 3 2 1
import mmap, os, tempfile

dirty = []
if mmap.mmap(-1, 16 << 20)[:].strip(b"\0"):
    dirty.append("pages")
with tempfile.TemporaryFile() as file:
    file.truncate(16 << 20)
    if file.read().strip(b"\0"):
        dirty.append("a file")
if os.listdir("."):
    dirty.append("the directory")
print(f"BREACH: {dirty}" if dirty else "held")
