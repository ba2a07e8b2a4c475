# Must end as memory_limit|error: System V semaphores, thirty thousand in each of a hundred sets.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# stopped by at 2: seccomp
# levels: 3 2
# limits: memory_bytes=64M
import ctypes, os

libc, sets = ctypes.CDLL(None, use_errno=True), []
try:
    for _ in range(100):
        sets.append(libc.semget(0, 30_000, 0o1600))
        if sets[-1] < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    print("BREACH: 190 MB of semaphores")
finally:
    for number in sets:
        libc.semctl(number, 0, 0)
