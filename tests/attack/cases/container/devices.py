# Must be refused: opening a device that the engine gives each container beside null, zero, full, random and urandom.
# SPDX-License-Identifier: Apache-2.0
# stopped by: landlock
# levels: container
import os
import stat

KNOWN = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9)}
found = []
for base, _, names in os.walk("/dev"):
    for path in (os.path.join(base, name) for name in names):
        try:
            facts = os.stat(path)
            if os.path.islink(path) or stat.S_ISREG(facts.st_mode) or (os.major(facts.st_rdev), os.minor(facts.st_rdev)) in KNOWN:
                continue
            os.close(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
            found.append(path)
        except OSError:
            pass
print(f"BREACH {found[:5]}" if found else "held")
