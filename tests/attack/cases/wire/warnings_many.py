# Must do no harm: a result of the code's own making, with a hundred thousand warnings.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# cannot succeed: how many are kept is no layer
# levels: 3 2 1
# result: len(result.warnings) <= 100
import json, os, struct

text = json.dumps({"exit_code": 0, "value": None, "error": None, "warnings": ["x" * 100] * 100_000}).encode()
os.write(3, struct.pack("=II", 4, len(text)) + text)
