# Must be refused: moving pages between nodes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

attempt.all_refused(
    {
        "move_pages": lambda: attempt.call("move_pages", 0, 0, 0, 0, 0, 0),
        "migrate_pages": lambda: attempt.call("migrate_pages", 0, 0, 0, 0),
    }
)
