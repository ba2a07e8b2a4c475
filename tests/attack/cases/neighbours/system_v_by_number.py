# Must be refused: guessing the number of another sandbox's semaphores, which have no key.
# SPDX-License-Identifier: Apache-2.0
# stopped by: ipc
# stopped by at 2: ipc + seccomp
# levels: 3 2
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
found = [number for number in range(1 << 15) if libc.semctl(number, 0, 16, 1) == 0]
print(f"BREACH: found {found}" if found else "held")
