# Must end as output_limit: a flood on standard error.
# SPDX-License-Identifier: Apache-2.0
# stopped by: output
# levels: 3 2 1
# limits: output_bytes=1M
# result: result.stderr_bytes == 1 << 20 and result.truncated
import os

for _ in range(48):
    os.write(2, b"x" * 65536)
