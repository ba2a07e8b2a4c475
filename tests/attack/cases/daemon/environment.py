# Must be refused: finding a variable of the daemon's environment.
# SPDX-License-Identifier: Apache-2.0
# stopped by: environment
import os
import re

texts = [repr(dict(os.environ)).encode()]
for process in ("self", "1"):
    for name in ("environ", "cmdline"):
        try:
            texts.append(open(f"/proc/{process}/{name}", "rb").read())
        except OSError:
            pass
found = [match for text in texts for match in re.findall(rb"Q[Z][0-9a-f]{32}Z[Q]", text)]
print("BREACH" if found else "held")
