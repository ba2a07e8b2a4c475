# Must be refused: making a POSIX queue as a file of /dev/mqueue, which needs none of the calls for queues.
# SPDX-License-Identifier: Apache-2.0
# stopped by: landlock
# stopped by in a container: container + landlock
# levels: container
import os

try:
    os.close(os.open("/dev/mqueue/attack", os.O_CREAT | os.O_RDWR))
    os.unlink("/dev/mqueue/attack")
    print("BREACH made")
except OSError:
    print("held")
