# Must end as memory_limit: a list that doubles.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
items = [0]
while len(items) < 1 << 24:
    items += items
print("BREACH: 128 MiB in a list")
