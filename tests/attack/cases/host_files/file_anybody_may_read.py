# Must be refused: reading a file of the host that every user may read.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# stopped by at 1: landlock
import os

try:
    print("BREACH", open(os.environ["BAIT_FILE"]).read())
except OSError:
    print("held")
