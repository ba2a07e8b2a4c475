# Must be refused: thousands of names for one file.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# levels: 3 2
# limits: workspace_files=1000
import os

made = 0
os.mknod("first")
try:
    while made < 2000:
        os.link("first", str(made))
        made += 1
except OSError:
    pass
for name in range(made):
    os.unlink(str(name))
print("held" if made <= 1000 else f"BREACH: {made} names")
