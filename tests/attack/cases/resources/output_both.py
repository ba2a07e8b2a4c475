# Must end as output_limit: a flood on both streams in turn, each of which alone keeps below the limit.
# SPDX-License-Identifier: Apache-2.0
# stopped by: output
# levels: 3 2 1
# limits: output_bytes=1M
# result: result.stdout_bytes + result.stderr_bytes == 1 << 20
import os

for _ in range(14):
    os.write(1, b"x" * 65536)
    os.write(2, b"y" * 65536)
