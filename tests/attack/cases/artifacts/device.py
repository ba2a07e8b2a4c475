# Must be refused: making a device node, which would be the host's disk.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities + seccomp + landlock
# cannot succeed: nobody may make one in a user namespace, whatever rights they have there
# levels: 3 2 1
import os, stat

made = []
for kind, major, minor in ((stat.S_IFBLK, 8, 0), (stat.S_IFBLK, 254, 0), (stat.S_IFCHR, 1, 1), (stat.S_IFCHR, 5, 1)):
    try:
        os.mknod(f"node-{major}-{minor}", kind | 0o666, os.makedev(major, minor))
        made.append((major, minor))
    except OSError:
        pass
print(f"BREACH: made {made}" if made else "held")
