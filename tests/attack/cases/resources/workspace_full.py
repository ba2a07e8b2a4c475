# Must be refused: more bytes in the current directory and the temporary one than the limit allows.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# levels: 3 2
# limits: workspace_bytes=4M
import os

written = 0
try:
    for directory in (".", os.environ.get("TMPDIR", "/tmp")):
        with open(os.path.join(directory, "full"), "wb", buffering=0) as file:
            while written < 8 << 20:
                written += file.write(bytes(1 << 16))
except OSError:
    pass
print("held" if written <= 4 << 20 else f"BREACH: {written} bytes")
