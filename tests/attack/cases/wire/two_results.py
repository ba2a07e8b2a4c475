# Must do no harm: a bad result after a good one, and garbage behind both.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# cannot succeed: after the first, nothing is read
# levels: 3 2 1
# result: (result.outcome, result.exit_code) == ("error", 7)
import json, os, struct

for code in (7, 0):
    text = json.dumps({"exit_code": code, "value": None, "error": None, "warnings": []}).encode()
    os.write(3, struct.pack("=II", 4, len(text)) + text)
os.write(3, os.urandom(1000))
