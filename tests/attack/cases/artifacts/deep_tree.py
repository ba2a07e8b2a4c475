# Must do no harm: four thousand directories, each in the one before.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: it is not the layers that bound how deep is looked
# levels: 3 2 1
# result: result.files == [] and 0 < len(result.warnings) < 10
import os

for _ in range(4000):
    os.mkdir("d")
    os.chdir("d")
with open("deep", "w") as file:
    file.write("mine")
