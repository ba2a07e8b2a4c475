# Must be refused: guessing the number of another sandbox's semaphores, which have no key.
# SPDX-License-Identifier: Apache-2.0
# stopped by: ipc
# stopped by at 2: ipc + seccomp
# levels: 3 2
import ctypes, os, zlib

libc = ctypes.CDLL(None, use_errno=True)
# Of another attack's victim, which may be there at the same time, nothing is changed.
size, set = 2 + zlib.crc32(os.environ["BAIT_DIRECTORY"].encode()) % 1000, (ctypes.c_ulong * 16)()
found = [
    number
    for number in range(1 << 15)
    if libc.semctl(number, 0, 2, set) == 0 and set[10] == size and libc.semctl(number, 0, 16, 1) == 0
]
print(f"BREACH: found {found}" if found else "held")
