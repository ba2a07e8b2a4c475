# Must end as output_limit: four processes that write to one stream.
# SPDX-License-Identifier: Apache-2.0
# stopped by: output
# levels: 3 2 1
# limits: output_bytes=1M
import os

os.fork()
os.fork()
for _ in range(16):
    os.write(1, b"x" * 65536)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
