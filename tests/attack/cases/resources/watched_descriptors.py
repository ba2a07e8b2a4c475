# Must do no harm: every descriptor watched by every poller, in several processes, as far as the user's share goes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits + pids
# cannot succeed: it is a share of the user's, which descriptors and processes bound
# levels: 3 2 1
# limits: pids=8
import os, select

for _ in range(4):
    if os.fork() == 0:
        break
pollers, ends = [], []
try:
    while len(pollers) < 100:
        pollers.append(select.epoll())
        ends.append(os.eventfd(0))
    for poller in pollers:
        for end in ends:
            poller.register(end)
except OSError:
    pass
