# Must be refused: opening or finding a device other than null, zero, full, random, urandom and what makes terminals.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# stopped by at 1: landlock
# not in a container: the engine makes more; container/devices tries to open them
import os
import stat

KNOWN = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 2)}
found = []
for base, _, names in os.walk("/dev"):
    for name in names:
        facts = os.lstat(os.path.join(base, name))
        if stat.S_ISBLK(facts.st_mode) or stat.S_ISCHR(facts.st_mode):
            if (os.major(facts.st_rdev), os.minor(facts.st_rdev)) not in KNOWN:
                found.append(os.path.join(base, name))
for name in ("tty", "fuse", "kvm", "net/tun", "mem", "kmsg", "vda", "sda"):
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
        found.append(name)
    except OSError:
        pass
print(f"BREACH {found[:5]}" if found else "held")
