# Must end as output_limit: more displays than a run may have, each as small as can be.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
# result: len(result.displays) <= 10_000
import os, struct

frames = (struct.pack("=II", 3, 2) + b"{}") * 500
for _ in range(40):
    os.write(3, frames)
