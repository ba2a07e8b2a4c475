# Must be refused: ending, stopping or waking the sandbox's init, by any signal.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid
# toothless: pid 1 takes from its own namespace only signals that it handles, and it handles none
# levels: 3 2
import os

for number in range(1, 65):
    try:
        os.kill(1, number)
    except OSError:
        pass
print("held")
