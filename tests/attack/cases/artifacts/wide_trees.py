# Must do no harm: ten thousand files in a hundred directories.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: it is not the layers that bound how many come back
# levels: 3 2 1
# result: len(result.files) == result.limits["files"] and 0 < len(result.warnings) < 10
import os

for directory in range(100):
    os.mkdir(str(directory))
    for name in range(100):
        os.mknod(f"{directory}/{name}")
