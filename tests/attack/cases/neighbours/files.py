# Must be refused: finding files that another sandbox made in its directories.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# stopped by at 1: landlock
# cannot succeed: each sandbox has a file system of its own there, which no switch takes away
# levels: 3 2
import os, tempfile

found = []
for top in {os.path.dirname(os.getcwd()), os.getcwd(), tempfile.gettempdir(), os.path.dirname(tempfile.gettempdir())} - {"/"}:
    for directory, _, names in os.walk(top):
        found += [directory for name in names if name == os.environ["ATTACK_TOKEN"]]
print(f"BREACH: found in {found}" if found else "held")
