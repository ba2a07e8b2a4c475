# Must do no harm: opening the run's own streams again through /proc/self/fd, in every mode.
# SPDX-License-Identifier: Apache-2.0
# stopped by: descriptors
# cannot succeed: a pipe that is opened again is still the run's own
# result: result.outcome == "ok" and "printed afterwards" in result.stdout
import os

for number in range(4):
    for mode in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        try:
            os.close(os.open(f"/proc/self/fd/{number}", mode | os.O_NONBLOCK))
        except OSError:
            pass
print("printed afterwards")
