# Must be refused: more open descriptors than the limit allows.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# levels: 3 2 1
# limits: open_files=64
import os

kept = []
try:
    while len(kept) < 200:
        kept.append(os.dup(0))
except OSError:
    pass
print("held" if len(kept) < 64 else f"BREACH: {len(kept)} descriptors")
