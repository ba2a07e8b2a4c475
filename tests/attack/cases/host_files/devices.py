# Must be refused: finding a device node other than null, zero, full, random and urandom.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# levels: 3 2
import os
import stat

known = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9)}
found = []
for base, _, names in os.walk("/dev"):
    for name in names:
        facts = os.lstat(os.path.join(base, name))
        if stat.S_ISBLK(facts.st_mode) or stat.S_ISCHR(facts.st_mode):
            if (os.major(facts.st_rdev), os.minor(facts.st_rdev)) not in known:
                found.append(os.path.join(base, name))
print(f"BREACH {found[:5]}" if found else "held")
