# Must end as crashed: a result that names its exit code twice.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, b'{"exit_code": 0, "exit_code": 1, "value": null, "error": null, "warnings": []}')
