# SPDX-License-Identifier: Apache-2.0
import ctypes, os, time

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
key = int(os.environ["ATTACK_TOKEN"][:7], 16)
# Both are refused where the kernel does not count their memory.
semaphores, segment = libc.semget(key, 1, 0o1666), libc.shmget(key, 4096, 0o1666)
memory = ctypes.cast(libc.shmat(segment, None, 0), ctypes.POINTER(ctypes.c_char)) if segment >= 0 else None
print("ready", flush=True)
while True:
    harmed = (semaphores >= 0 and libc.semctl(semaphores, 0, 12, 0) != 0) or (memory and memory[0] != b"\0")
    print("BREACH: it was changed" if harmed else "well", flush=True)
    time.sleep(0.05)
