# Must be refused: changing the root directory by chroot.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import os

import attempt

attempt.all_refused({"chroot": lambda: attempt.call("chroot", os.getcwd().encode())})
