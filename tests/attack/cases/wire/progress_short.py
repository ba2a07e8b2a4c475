# Must end as crashed: progress that is a byte too short.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(17, bytes(15))
