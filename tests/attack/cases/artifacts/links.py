# Must do no harm: links to files of the host, left where the daemon looks for results.
# SPDX-License-Identifier: Apache-2.0
# stopped by: links
# levels: 3 2 1
# result: [file["name"] for file in result.files] == ["sub/plain"]
import os

os.mkdir("sub")
for number, target in enumerate((os.environ["BAIT_FILE"], "/etc/passwd", "../../../../etc/passwd", "/dev/zero")):
    os.symlink(target, f"link-{number}")
    os.symlink(target, f"sub/link-{number}")
with open("sub/plain", "w") as file:
    file.write("mine")
