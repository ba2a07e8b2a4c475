# Must do no harm: paths that are longer than the kernel takes in one piece.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: it is not the layers that bound how long a path may be
# levels: 3 2 1
# result: not result.files and 0 < len(str(result.warnings)) < 4000
import os

for _ in range(15):
    os.mkdir("n" * 255)
    os.chdir("n" * 255)
for number in range(200):
    os.mknod("x" * 240 + str(number))
