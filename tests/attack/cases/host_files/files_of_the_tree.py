# Must be refused: removing, replacing and adding files of the tree, which other sandboxes would see.
# SPDX-License-Identifier: Apache-2.0
# stopped by: readonly + landlock
# levels: 3 2
# files: attempt.py
import os

import attempt

attempt.all_refused(
    {
        "remove": lambda: os.unlink("/etc/group"),
        "rename": lambda: os.rename("/etc/nsswitch.conf", "/etc/attack"),
        "link": lambda: os.symlink("/work", "/attack"),
        "directory": lambda: os.mkdir("/etc/attacks"),
    },
    attempt.REFUSALS | {"EROFS", "EXDEV"},
)
