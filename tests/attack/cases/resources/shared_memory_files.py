# Must be refused: thousands of empty files in /dev/shm, which no limit on bytes counts.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# levels: 3 2
# not in a container: there may be as many as the memory of the container has room for
import os

made = 0
try:
    while made < 5000:
        os.mknod(f"/dev/shm/{made}")
        made += 1
except OSError:
    pass
print("held" if made < 5000 else f"BREACH: {made} files")
