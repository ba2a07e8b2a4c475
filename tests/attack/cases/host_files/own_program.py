# Must be refused: overwriting the interpreter through /proc/self/exe or its path.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree + readonly + landlock
# cannot succeed: the interpreter belongs to the host's root, who has no name in a sandbox
# files: attempt.py
import os

import attempt

attempt.all_refused(
    {
        "by /proc/self/exe": lambda: open("/proc/self/exe", "r+b"),
        "by path": lambda: open(os.path.realpath("/proc/self/exe"), "r+b"),
        "of init": lambda: open("/proc/1/exe", "r+b"),
    },
    attempt.REFUSALS | {"EROFS", "ETXTBSY", "ENOENT"},
)
