# Must do no harm: a daemon as in the textbook: two forks, a session of its own, nothing open.
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
    os.chdir("/")
    os.closerange(0, 256)
    time.sleep(60)
    os._exit(0)
os.wait()
print("done")
