# Must be refused: finding the semaphores, the segments and the queues of another sandbox by their keys.
# SPDX-License-Identifier: Apache-2.0
# stopped by: ipc
# stopped by at 2: ipc + seccomp
# levels: 3 2
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
key = int(os.environ["ATTACK_TOKEN"][:7], 16)
semaphores, segment, queue = libc.semget(key, 0, 0), libc.shmget(key, 0, 0), libc.msgget(key, 0)
if semaphores >= 0:
    libc.semctl(semaphores, 0, 16, 1)
if segment >= 0:
    ctypes.memset(libc.shmat(segment, None, 0), 1, 1)
print("held" if semaphores == segment == queue == -1 else "BREACH: found")
