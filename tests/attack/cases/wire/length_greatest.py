# Must end as crashed: a result that says it is four gigabytes long.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct

os.write(3, struct.pack("=II", 4, 0xFFFFFFFF))
os._exit(0)  # what would follow is in the middle of a frame
