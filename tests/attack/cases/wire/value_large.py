# Must do no harm: a result of the code's own making, with a value of ten megabytes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
# result: len(result.value["text/plain"]) <= result.limits["value_bytes"]
import json, os, struct

text = json.dumps({"exit_code": 0, "value": {"text/plain": "x" * (10 << 20)}, "error": None, "warnings": []}).encode()
os.write(3, struct.pack("=II", 4, len(text)) + text)
