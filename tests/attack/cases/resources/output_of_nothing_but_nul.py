# Must end as output_limit: a flood of NUL, each of which takes six bytes in the reply.
# SPDX-License-Identifier: Apache-2.0
# stopped by: output
# levels: 3 2 1
# limits: output_bytes=1M
# result: len(result.stdout) <= 70_000
import os

for _ in range(48):
    os.write(1, bytes(65536))
