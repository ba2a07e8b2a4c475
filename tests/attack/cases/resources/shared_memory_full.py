# Must be refused: more bytes in /dev/shm than the limit allows.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# levels: 3 2
# limits: shm_bytes=2M
written = 0
try:
    with open("/dev/shm/full", "wb", buffering=0) as file:
        while written < 4 << 20:
            written += file.write(bytes(1 << 16))
except OSError:
    pass
print("held" if written <= 2 << 20 else f"BREACH: {written} bytes")
