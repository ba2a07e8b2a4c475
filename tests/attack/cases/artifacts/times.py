# Must do no harm: files of the year 34,000 and of long before the epoch, with all bits of the mode set.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: times and modes are not carried over
# levels: 3 2 1
# result: len(result.files) == 2
import os

for name, time in (("future", 1 << 40), ("past", -(1 << 40))):
    with open(name, "w") as file:
        file.write("mine")
    os.chmod(name, 0o7777)
    os.utime(name, (time, time))
