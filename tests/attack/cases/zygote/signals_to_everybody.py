# Must do no harm: SIGKILL to every process that can be named.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid/zygote-pid + landlock
# toothless: it would hit the host, so nobody tries it without the layers
# levels: 3 2
# result: result.outcome == "ok" and result.stdout == "here\n" or result.signal == "SIGKILL"
import os

if os.fork() == 0:
    os.kill(-1, 9)
    os._exit(0)
os.wait()
print("here")
