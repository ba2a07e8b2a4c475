# Must end as crashed: a result with a number that no double holds.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, b'{"exit_code": 0, "value": {"x/json": 1e999}, "error": null, "warnings": []}')
