# Must do no harm: a child that writes to the run's output as fast as it can, so that it has no end.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2 1
# result: result.outcome in ("ok", "output_limit")
# limits: output_bytes=4M cpu_ms=120s
import ctypes, os, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.write(1, b"x")
        except BrokenPipeError:
            pass
    os._exit(0)
print("done")
