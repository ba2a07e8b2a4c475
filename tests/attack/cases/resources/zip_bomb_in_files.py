# Must be refused: an archive of a few kilobytes that unpacks to more than the workspace may hold.
# SPDX-License-Identifier: Apache-2.0
# stopped by: workspace
# levels: 3 2
# limits: workspace_bytes=4M
import os, shutil, zipfile

with zipfile.ZipFile("small.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for name in range(8):
        archive.writestr(str(name), bytes(1 << 20))
try:
    shutil.unpack_archive("small.zip", "large")
    print("BREACH: 8 MiB unpacked")
except OSError:
    print("held")
shutil.rmtree("large")
