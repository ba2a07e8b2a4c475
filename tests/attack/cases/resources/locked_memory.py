# Must be refused: memory that may not be swapped out.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# stopped by in a container: container + rlimits
# levels: 3 2 1
import ctypes

libc = ctypes.CDLL(None)
block = ctypes.create_string_buffer(1 << 20)
print("held" if libc.mlock(block, len(block)) < 0 else "BREACH: a megabyte is locked")
