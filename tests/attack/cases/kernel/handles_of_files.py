# Must be refused: naming files by handles, which leads around the file tree.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import os

import attempt

# A size of 0 is answered with the size that is needed: EOVERFLOW says that the kernel took it up.
handle, mount = attempt.room(), attempt.room(8)
attempt.all_refused({"make": lambda: attempt.call("name_to_handle_at", -100, os.getcwd().encode(), handle, mount, 0)})
