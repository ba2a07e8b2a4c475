# Must do no harm: a child that is left behind, busy.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2 1
# limits: cpu_ms=120s
# result: result.outcome == "ok" and "done" in result.stdout
import ctypes, os, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass
    os._exit(0)
print("done")
