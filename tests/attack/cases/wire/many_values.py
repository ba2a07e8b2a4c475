# Must end as crashed: a result of ten million zeroes, which would take gigabytes once parsed.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, b'{"value": [' + b"0," * 10_000_000 + b"0]}")
