# Must end as crashed: a result whose value has a thousand representations.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import json, os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(4, json.dumps({"exit_code": 0, "value": {f"text/{n}": "" for n in range(1000)}, "error": None, "warnings": []}).encode())
