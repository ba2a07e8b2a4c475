# Must end as memory_limit: files in the workspace, which are memory, within what the workspace may hold.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# levels: 3
# limits: memory_bytes=32M workspace_bytes=200M
# not in a container: it takes less than the least memory with which a container starts
with open("large", "wb", buffering=0) as file:
    for _ in range(64):
        file.write(bytes(1 << 20))
print("BREACH: 64 MiB in a file")
