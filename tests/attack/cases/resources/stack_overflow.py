# Must do no harm: recursion through C until the stack ends, with Python's own limit out of the way.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# cannot succeed: it ends nothing but itself
# levels: 3 2 1
# result: result.outcome in ("crashed", "error")
import sys

sys.setrecursionlimit(10**9)


def deeper(_):
    return sorted([1], key=deeper)


deeper(1)
