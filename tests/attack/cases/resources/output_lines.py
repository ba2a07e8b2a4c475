# Must end as output_limit: a flood of short lines on standard output.
# SPDX-License-Identifier: Apache-2.0
# stopped by: output
# levels: 3 2 1
# limits: output_bytes=200K
# result: result.stdout_bytes == 200 << 10 and result.truncated
for _ in range(100_000):
    print("line")
