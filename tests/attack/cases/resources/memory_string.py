# Must end as memory_limit: a string that doubles.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
text = "x" * 1000
while len(text) < 128 << 20:
    text += text
print("BREACH: 128 MiB in a string")
