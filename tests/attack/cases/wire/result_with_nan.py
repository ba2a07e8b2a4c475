# Must end as crashed: a result whose exit code is no number (NaN).
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, b'{"exit_code": NaN, "value": null, "error": null, "warnings": []}')
