# Must be refused: ending or stopping the sandbox's init by any signal.
# SPDX-License-Identifier: Apache-2.0
# stopped by: landlock + init
# stopped by in a container: container + landlock
# cannot succeed: the kernel keeps from a pid 1 all signals of its own namespace that it does not handle
# levels: 3 2
# whole: it would end who plays the others
import os

for number in range(1, 65):
    try:
        os.kill(1, number)
    except OSError:
        pass
print("held")  # with its init, this process would be dead
