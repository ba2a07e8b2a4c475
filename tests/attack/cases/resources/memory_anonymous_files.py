# Must end as memory_limit|error: files without a name, which are memory that no process has mapped.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# stopped by at 2: seccomp
# levels: 3 2
# limits: memory_bytes=64M
import os

kept = []
while len(kept) < 26:
    kept.append(os.memfd_create("x"))
    os.write(kept[-1], bytes(5_000_000))
print("BREACH: 130 MB in files without a name")
