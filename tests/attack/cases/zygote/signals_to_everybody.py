# Must do no harm: every deadly signal to all processes that can be named.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid/zygote-pid + landlock
# levels: 3 2
# limits: wall_ms=10s
# result: result.outcome == "ok" and result.stdout == "here\n" or result.outcome in ("crashed", "timeout")
# cannot succeed: it would hit the host, so it is not tried without the layers
import os

# One that is stopped before it has sent its own leaves all stopped: that is a timeout.
for number in (9, 15, 19, 11, 2):
    if os.fork() == 0:
        try:
            os.kill(-1, number)
        finally:
            os._exit(0)
print("here")
