# Must be refused: sparse files of a tebibyte and of four gibibytes, by truncating, by seeking and by reserving.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# levels: 3 2 1
import os

made = []
with open("sparse", "wb", buffering=0) as file:
    for size in (1 << 40, 4 << 30):
        for attempt in (
            lambda: file.truncate(size),
            lambda: os.pwrite(file.fileno(), b"x", size - 1),
            lambda: os.posix_fallocate(file.fileno(), size - 1, 1),
        ):
            try:
                attempt()
                made.append(os.fstat(file.fileno()).st_size)
            except OSError:
                pass
os.unlink("sparse")
print(f"BREACH: {made} bytes long" if made else "held")
