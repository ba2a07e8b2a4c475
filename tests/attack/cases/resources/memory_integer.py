# Must end as memory_limit: an integer of a thousand million bits.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
number = 1 << (128 << 23)
print("BREACH: an integer of 128 MiB")
