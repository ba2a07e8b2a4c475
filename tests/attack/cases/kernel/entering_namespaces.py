# Must be refused: entering a namespace by setns, even one that it is in already.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import os

import attempt


def enter(name):
    return attempt.call("setns", os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0)


attempt.all_refused({name: lambda name=name: enter(name) for name in ("mnt", "net", "uts", "cgroup")})
