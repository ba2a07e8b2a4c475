# SPDX-License-Identifier: Apache-2.0
import ctypes, os, time, zlib

libc = ctypes.CDLL(None)
semaphores = libc.semget(0, 2 + zlib.crc32(os.environ["BAIT_DIRECTORY"].encode()) % 1000, 0o1666)  # refused where the kernel does not count their memory
print("ready", flush=True)
while True:
    harmed = semaphores >= 0 and libc.semctl(semaphores, 0, 12, 0) != 0
    print("BREACH: it was changed" if harmed else "well", flush=True)
    time.sleep(0.05)
