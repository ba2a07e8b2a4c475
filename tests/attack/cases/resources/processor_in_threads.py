# Must end as cpu_limit: processor time in four threads that hold no lock of Python.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cpu
# levels: 3 2 1
# limits: cpu_ms=150
import hashlib, os, threading, time

MOST = 0.8 * int(os.environ["ATTACK_PATIENCE"])  # until it is seen from outside


def burn():
    while time.process_time() < MOST:
        hashlib.sha256(bytes(1 << 20)).digest()


threads = [threading.Thread(target=burn) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("BREACH: five times the processor time that was allowed")
