# Must do no harm: files and directories that nobody may enter or read, the workspace itself among them.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: they are the daemon's own to open
# levels: 3 2
# result: len(result.files) == 4 or result.warnings
import os

os.makedirs("closed/deeper")
for name in ("closed/file", "closed/deeper/file", "unreadable", "plain"):
    with open(name, "w") as file:
        file.write("mine")
for name in ("unreadable", "closed/deeper", "closed", "."):
    os.chmod(name, 0)
