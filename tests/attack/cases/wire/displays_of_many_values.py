# Must end as output_limit: displays that are small as text and twenty times larger once they are parsed.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
# limits: wall_ms=30000
import os, struct

text = b'{"x/json": [' + b"0," * 190_000 + b"0]}"
for _ in range(12):
    os.write(3, struct.pack("=II", 3, len(text)) + text)
