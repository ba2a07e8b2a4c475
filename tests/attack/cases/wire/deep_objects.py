# Must end as crashed: a result of a hundred thousand nested objects.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, b'{"value":' * 100_000 + b"1" + b"}" * 100_000)
