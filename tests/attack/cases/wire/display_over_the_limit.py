# Must end as crashed: a display that says it is one byte longer than a display may be.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct

os.write(3, struct.pack("=II", 3, (16 << 20) + 1))
os._exit(0)  # what would follow is in the middle of a frame
