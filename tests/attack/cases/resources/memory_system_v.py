# Must end as memory_limit|error: System V segments, written, detached and kept.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# stopped by at 2: seccomp
# levels: 3 2
# limits: memory_bytes=64M
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
segments = []
try:
    for _ in range(26):
        segments.append(libc.shmget(0, 5_000_000, 0o1600))
        if segments[-1] < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        address = libc.shmat(segments[-1], None, 0)
        ctypes.memset(address, 1, 5_000_000)
        libc.shmdt(address)
    print("BREACH: 130 MB in System V segments")
finally:
    for segment in segments:
        libc.shmctl(segment, 0, None)
