# Must end as output_limit: one line that never ends.
# SPDX-License-Identifier: Apache-2.0
# stopped by: output
# levels: 3 2 1
# limits: output_bytes=1M
import sys

for _ in range(3000):
    sys.stdout.write("x" * 1000)
