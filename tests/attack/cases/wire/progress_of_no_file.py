# Must end as crashed: a file has more bytes than files can have.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(17, struct.pack("=QQ", 1, 1 << 63))
