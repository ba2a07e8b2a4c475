# Must be refused: changing the root directory by chroot.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities + seccomp
# files: attempt.py
import os

import attempt

attempt.all_refused({"chroot": lambda: attempt.call("chroot", os.getcwd().encode())})
