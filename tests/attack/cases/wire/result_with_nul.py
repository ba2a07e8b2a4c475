# Must end as crashed: a result with NUL in a text.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, b'{"exit_code": 0, "value": {"text/plain": "a\\u0000"}, "error": null, "warnings": []}')
