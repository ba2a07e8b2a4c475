# Must end as crashed: more often than a run may tell how far it is.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct

frames = (struct.pack("=II", 17, 16) + struct.pack("=QQ", 1, 1 << 30)) * 500
for _ in range(40):
    os.write(3, frames)
