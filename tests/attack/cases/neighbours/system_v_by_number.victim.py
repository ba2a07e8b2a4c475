# SPDX-License-Identifier: Apache-2.0
import ctypes, os, time

libc = ctypes.CDLL(None, use_errno=True)
semaphores = libc.semget(0, 1, 0o1666)
assert semaphores >= 0, os.strerror(ctypes.get_errno())
print("ready", flush=True)
while True:
    print("well" if libc.semctl(semaphores, 0, 12, 0) == 0 else "BREACH: it was changed", flush=True)
    time.sleep(0.05)
