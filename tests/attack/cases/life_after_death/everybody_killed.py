# Must end as crashed|ok: a child kills everybody that it can see, its own init included.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid
# cannot succeed: without it, every other sandbox would die of it, which neighbours/killed.py tries
# levels: 3 2
import os, signal

if os.fork() == 0:
    os.kill(-1, signal.SIGKILL)
    os._exit(0)
signal.pause()
