# Must end as crashed: a result with an exit code of forty bits.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import json, os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, json.dumps({"exit_code": 1 << 40, "value": None, "error": None, "warnings": []}).encode())
