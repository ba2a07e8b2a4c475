# Must do no harm: a child that ignores and blocks every signal.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2 1
# result: result.outcome == "ok" and "done" in result.stdout
import ctypes, os, signal, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    time.sleep(60)
    os._exit(0)
print("done")
