# Must be refused: changing the modes of the tree's own files and of its top.
# SPDX-License-Identifier: Apache-2.0
# stopped by: readonly
# levels: 3 2
# files: attempt.py
import os

import attempt

attempt.all_refused(
    {
        "file": lambda: os.chmod("/etc/hosts", 0o666),
        "top": lambda: os.chmod("/", 0o777),
        "time": lambda: os.utime("/etc/hosts", (1, 1)),
    },
    attempt.REFUSALS | {"EROFS"},
)
