# Must do no harm: a process that is never there for long: each forks the next and ends.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2
# result: result.outcome == "ok" and "done" in result.stdout
import ctypes, os, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    os.setsid()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.5)
        if os.fork():
            os._exit(0)
    os._exit(0)
print("done")
