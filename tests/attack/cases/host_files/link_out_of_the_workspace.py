# Must be refused: reading and writing a file of the host through links and paths that lead out of the workspace.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# stopped by at 1: landlock
import os

path = os.environ["BAIT_FILE"]
os.symlink(path, "link")
os.symlink(os.path.dirname(path), "directory")
ways = [
    "link",
    f"directory/{os.path.basename(path)}",
    f"/proc/self/root{path}",
    f"/proc/self/cwd/link",
    f"/proc/thread-self/root{path}",
    "../" * 20 + path,
]
found = []
for way in ways:
    try:
        found.append(open(way).read())
    except OSError:
        pass
print("BREACH" if found else "held")
