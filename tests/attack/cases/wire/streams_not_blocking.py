# Must do no harm: all descriptors made non-blocking, then output and a value that do not fit in one piece.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# cannot succeed: the daemon's ends are descriptions of their own
# levels: 3 2 1
# result: result.outcome in ("ok", "error", "crashed")
import os

for number in range(4):
    os.set_blocking(number, False)
try:
    while True:
        os.write(1, bytes(65536))
except BlockingIOError:
    pass
"x" * 10_000_000
