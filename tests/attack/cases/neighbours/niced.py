# Must be refused: lowering the priority of all processes of the user, who is the same outside.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid
# levels: 3 2
import os

try:
    os.setpriority(os.PRIO_USER, 0, 19)
except PermissionError:
    pass
print("held")  # the victim says whether it is so
