# Must be refused: overwriting, appending to and truncating a file of the host that every user may write.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree + readonly + landlock
# stopped by at 1: landlock
# files: attempt.py
import os

import attempt

path = os.environ["BAIT_FILE"]
attempt.all_refused(
    {
        "overwrite": lambda: open(path, "r+").write("x"),
        "append": lambda: open(path, "a").write("x"),
        "truncate by open": lambda: open(path, "w").close(),
        "truncate by path": lambda: os.truncate(path, 0),
    },
    attempt.REFUSALS | {"ENOENT", "EROFS"},
)
