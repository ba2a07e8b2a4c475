# Must be refused: a user namespace of its own, by unshare, clone and clone3.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seal + seccomp
# stopped by at 1: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import signal

import attempt

NEWUSER = 0x10000000


def clone3():
    return attempt.call("clone3", attempt.block(NEWUSER, 0, 0, 0, signal.SIGCHLD, *[0] * 6, form="=11Q"), 88)


attempt.all_refused(
    {
        "unshare": lambda: attempt.call("unshare", NEWUSER),
        "clone": lambda: attempt.call("clone", NEWUSER | signal.SIGCHLD, 0, 0, 0, 0),
        "clone3": clone3,
    },
    attempt.REFUSALS | {"ENOSPC"},
)
