# Must be refused: more files than the limit allows, of the million that is tried.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# levels: 3 2
# limits: workspace_files=1000
import os

made = 0
try:
    while made < 1_000_000:
        os.mknod(f"{made}")
        made += 1
        if made > 2000:
            break
except OSError:
    pass
for name in range(made):
    os.unlink(str(name))
print("held" if made <= 1000 else f"BREACH: {made} files")
