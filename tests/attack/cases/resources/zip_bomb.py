# Must end as memory_limit: forty bytes a thousand times compressed, taken apart in one piece.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3 2 1
# limits: memory_bytes=64M wall_ms=30000
import zlib

packer = zlib.compressobj(9)
small = b"".join(packer.compress(bytes(1 << 20)) for _ in range(160)) + packer.flush()
large = zlib.decompress(small)
print(f"BREACH: {len(large) >> 20} MiB out of {len(small) >> 10} KiB")
