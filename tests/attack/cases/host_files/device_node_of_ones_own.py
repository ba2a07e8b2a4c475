# Must be refused: making a character device in the workspace.
# SPDX-License-Identifier: Apache-2.0
# stopped by: landlock
# stopped by in a container: container + landlock
# files: attempt.py
import os
import stat

import attempt

# 0, 0 is the only one that needs no rights of the kernel's: overlay file systems take it for a deleted file.
attempt.all_refused({"node": lambda: os.mknod("node", stat.S_IFCHR | 0o666, os.makedev(0, 0))})
