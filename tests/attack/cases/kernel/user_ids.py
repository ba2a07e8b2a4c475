# Must be refused: setting user ids, even to the one that it has.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
import os

import attempt

me = os.getuid()
attempt.all_refused(
    {
        "setuid": lambda: attempt.call("setuid", me),
        "setresuid": lambda: attempt.call("setresuid", me, me, me),
    }
)
