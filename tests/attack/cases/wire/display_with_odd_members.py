# Must end as crashed: a display with an empty name, a name with a line break, and a picture that is a number.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import json, os, struct


def frame(kind, payload):
    os.write(3, struct.pack("=II", kind, len(payload)) + payload)


frame(3, json.dumps({"image/png": 5, "": "x", "a\nb": "c"}).encode())
