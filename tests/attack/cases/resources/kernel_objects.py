# Must do no harm: event counters, pollers, semaphores, locks and pipes, twenty thousand of each.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# cannot succeed: what no limit on descriptors bounds is memory of the run
# levels: 3 2 1
# result: result.outcome in ("ok", "memory_limit")
import ctypes, fcntl, os, select

libc = ctypes.CDLL(None)
for make in (
    lambda number: os.eventfd(0),
    lambda number: select.epoll(),
    lambda number: libc.semget(0, 100, 0o1600),
    lambda number: fcntl.lockf(open("locked", "w"), fcntl.LOCK_EX, 1, 2 * number),
    lambda number: os.pipe(),
):
    kept = []
    try:
        for number in range(20_000):
            kept.append(make(number))
    except OSError:
        pass
    kept.clear()
print("done")
