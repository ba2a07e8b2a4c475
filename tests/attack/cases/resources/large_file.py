# Must be refused: one file larger than the limit.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# levels: 3 2 1
# limits: file_bytes=1M
written = 0
try:
    with open("large", "wb", buffering=0) as file:
        while written < 2 << 20:
            written += file.write(bytes(1 << 16))
except OSError:
    pass
print("held" if written <= 1 << 20 else f"BREACH: {written} bytes")
