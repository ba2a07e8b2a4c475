# Must end as memory_limit: one byte array twice as large as the limit.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M
block = bytearray(b"x") * (128 << 20)
print("BREACH: 128 MiB at once")
