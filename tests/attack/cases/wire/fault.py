# Must end as crashed: a fault, as a sandbox sends it that could not be made.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(5, struct.pack("=i160s", 1, b"A" * 160))
