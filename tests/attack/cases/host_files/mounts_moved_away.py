# Must be refused: renaming and removing the places that are the sandbox's own.
# SPDX-License-Identifier: Apache-2.0
# stopped by: readonly + landlock
# cannot succeed: the kernel moves and removes no mount point
# levels: 3 2
# files: attempt.py
import os

import attempt

attempt.all_refused(
    {
        "rename": lambda: os.rename("/work", "/elsewhere"),
        "into another": lambda: os.rename("/tmp", "/work/x"),
        "remove": lambda: os.rmdir("/work"),
    },
    attempt.REFUSALS | {"EROFS", "EBUSY", "EXDEV"},
)
