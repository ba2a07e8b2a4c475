# Must do no harm: a daemon that keeps the run's output open, so that its end never comes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2
# result: result.outcome == "ok" and "done" in result.stdout
import ctypes, os, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(60)
    os._exit(0)
os.wait()
print("done")
