# Must end as crashed: a result whose warnings are numbers and nothing.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import json, os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, json.dumps({"exit_code": 0, "value": None, "error": None, "warnings": [1, None, {}]}).encode())
