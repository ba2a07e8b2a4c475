# Must end as timeout: a daemon that outlives the run's deadline, all signals ignored.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2
# limits: wall_ms=5s
import ctypes, os, signal, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    time.sleep(60)
    os._exit(0)
time.sleep(60)
