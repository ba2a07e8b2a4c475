# Must end as crashed: a second report that the sandbox is parked, with isolation of its own choice.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(1, struct.pack("=IIiIQ", 1, 0xFFF, 9, 0, 0))
