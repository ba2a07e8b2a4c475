# Must do no harm: a result that claims another outcome, other usage, limits and isolation.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# cannot succeed: those are never read from a result
# levels: 3 2 1
# result: (result.outcome, result.exit_code) == ("error", 3) and result.isolation["level"] < 9 and result.usage["wall_ms"] < 9e9
import json, os, struct

claims = {"outcome": "ok", "run_id": "x", "usage": {"wall_ms": 9e9, "cpu_ms": -1}, "limits": {}, "isolation": {"level": 9}}
text = json.dumps({"exit_code": 3, "value": None, "error": None, "warnings": [], **claims}).encode()
os.write(3, struct.pack("=II", 4, len(text)) + text)
