# Must be refused: finding a variable of the daemon's environment in the memory that a sandbox shares with its zygote.
# SPDX-License-Identifier: Apache-2.0
# stopped by: environment
# levels: 3 2
# limits: wall_ms=60s cpu_ms=60s
import os
import re

# By a file: write(2) answers EFAULT where reading directly would be a fault. The pattern must not match itself.
pattern = re.compile(rb"Q[Z][0-9a-f]{32}Z[Q]")
looked, found = 0, False
STEP = 1 << 20
memory = os.open("/proc/self/maps", os.O_RDONLY)
regions = b""
while part := os.read(memory, 1 << 16):
    regions += part
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
for line in regions.decode().splitlines():
    span, mode = line.split()[:2]
    start, end = (int(number, 16) for number in span.split("-"))
    if "r" not in mode or "[vv" in line or "[vsyscall]" in line or ".so" in line:
        continue
    for at in range(start, end, STEP):
        file = os.open("chunk", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        written = libc.write(file, at, min(STEP + 64, end - at))
        if written > 0:
            looked += written
            found = found or pattern.search(os.pread(file, written, 0)) is not None
        os.close(file)
assert looked > 1 << 20, "it did look"
print("BREACH" if found else "held")
